// A document in the editor: YAML or JSON, with help at every key, faults and findings at their lines.
import { Button, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ResourceType } from "../api/client";
import { usePlace } from "../app/place";
import { Code, type Mark } from "../code";
import { hasComments, Unreadable } from "../code/convert";
import { languageOf } from "../code/document";
import { completer, marksOf, teller } from "../code/schema-help";
import { documentSchema, schemas } from "../code/schema-load";
import { useServerCheck, type Checked } from "./check";
import { identityMarks, inLanguage, type Identity } from "./document";
import { MarkList } from "./marks";
import { conflictsIn } from "./merge";

interface Props {
  label: string;
  id: Identity;
  text: string;
  /** Left out where nothing may be changed. */
  onChange?: ((text: string) => void) | undefined;
  onLanguage: (language: "yaml" | "json") => void;
  onSave?: (() => void) | undefined;
  /** Ask the server about it. */
  asked: boolean;
  /** What is to be seen beside what is found here. */
  more?: readonly Mark[];
  /** It is not filled in yet: nothing is said of what is missing. */
  quiet?: boolean;
  /** The place to go to. */
  at?: number | undefined;
}

const none: readonly Mark[] = [];

export function DocumentEditor({ label, id, text, onChange, onLanguage, onSave, asked, more = none, quiet = false, at }: Props) {
  const { tenant, fleet } = usePlace();
  const editable = onChange !== undefined;
  const [language, setLanguage] = useLanguage(text);
  const help = useMemo(() => {
    const schema = documentSchema(id.type);
    return { complete: completer(schema, schemas), hover: teller(schema, schemas) };
  }, [id.type]);
  const bySchema = useSchemaMarks(id.type, text, editable && !quiet);
  const checked = useServerCheck(tenant, fleet, text, asked);
  const { type, name, variant } = id;
  const marks = useMemo(() => {
    const own = editable ? [...conflictMarks(text), ...identityMarks(text, { type, name, ...(variant && { variant }) })] : [];
    return once([...own, ...checked.marks, ...bySchema, ...more]);
  }, [text, editable, type, name, variant, bySchema, checked.marks, more]);
  return (
    <Stack gap="xs">
      <LanguageChoice
        text={text}
        language={language}
        onLanguage={(to) => {
          setLanguage(to);
          onLanguage(to);
        }}
      />
      <Code label={label} text={text} language={language} readOnly={!editable} marks={marks} height={560} at={at} {...help} {...(onChange && { onChange })} {...(onSave && { onSave })} />
      <CheckedLine checked={checked} />
      <MarkList text={text} marks={marks} />
    </Stack>
  );
}

function useSchemaMarks(type: ResourceType, text: string, wanted: boolean): readonly Mark[] {
  const { data } = useQuery({
    queryKey: ["schema-marks", type, text],
    queryFn: () => marksOf(text, documentSchema(type), schemas),
    enabled: wanted && conflictsIn(text).length === 0,
    networkMode: "always",
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  return data ?? none;
}

function conflictMarks(text: string): Mark[] {
  return conflictsIn(text).map(({ from, to }) => ({ from, to: Math.min(to, from + 12), severity: "error", message: "Both of you changed this. Keep one side, and take the lines of the marker out." }));
}

/** The server says what the schema says too, in its own words: at one place an error of the one is enough. */
function once(marks: Mark[]): Mark[] {
  const seen = new Set<string>();
  return marks.filter((m) => {
    const key = m.severity === "error" ? `${m.from}` : `${m.from}/${m.message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const colors: Record<Checked["state"], string> = { off: "dimmed", asking: "dimmed", taken: "var(--code-string)", refused: "var(--code-error)", unknown: "dimmed" };

function CheckedLine({ checked }: { checked: Checked }) {
  if (checked.state === "off") return null;
  return (
    <Text size="sm" c={colors[checked.state]} role="status" className="words" mih={22}>
      {checked.words}
    </Text>
  );
}

/** The language of the text, and of an empty one what it was before. */
function useLanguage(text: string): ["yaml" | "json", (to: "yaml" | "json") => void] {
  const [was, setWas] = useState(() => languageOf(text));
  const now = languageOf(text, was);
  if (now !== was) setWas(now);
  return [now, setWas];
}

function LanguageChoice({ text, language, onLanguage }: { text: string; language: "yaml" | "json"; onLanguage: (language: "yaml" | "json") => void }) {
  const [said, setSaid] = useState<{ words: string; of: string }>();
  const change = (wanted: string, sure: boolean) => {
    const to = wanted === "json" ? "json" : "yaml";
    try {
      inLanguage(text, to);
    } catch (e) {
      if (!(e instanceof Unreadable)) throw e;
      setSaid({ words: `It cannot be converted before it can be read. ${e.message}`, of: text });
      return;
    }
    if (to === "json" && hasComments(text) && !sure) {
      setSaid({ words: "JSON has no comments: those in this document would be lost.", of: text });
      return;
    }
    setSaid(undefined);
    onLanguage(to);
  };
  const shown = said?.of === text ? said.words : undefined;
  return (
    <Group gap="sm">
      <SegmentedControl size="xs" aria-label="Language" value={language} onChange={(v) => change(v, false)} data={[{ value: "yaml", label: "YAML" }, { value: "json", label: "JSON" }]} />
      {shown !== undefined && <Text size="sm" role="alert" className="words">{shown}</Text>}
      {shown?.startsWith("JSON has") && <Button size="compact-sm" variant="default" onClick={() => change("json", true)}>Convert all the same</Button>}
    </Group>
  );
}
