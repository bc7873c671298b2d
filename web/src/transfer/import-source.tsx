// What is to be imported: pasted, dropped or chosen.
import { Alert, Button, Checkbox, FileButton, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState, type DragEvent } from "react";
import { Section } from "../ui/page";
import { size } from "./documents";

export interface Given {
  text: string;
  rds: boolean;
  eds: boolean;
}

/** The API takes no more. */
const most = 4 * 1024 * 1024;

/** A longer text is not shown: a field of it is slow, and nobody reads it there. */
const longest = 200 * 1024;

export function Source({ busy, onGiven }: { busy: boolean; onGiven: (given: Given) => void }) {
  const [text, setText] = useState("");
  const [file, setFile] = useState<string>();
  const [unread, setUnread] = useState<string>();
  const [rds, setRds] = useState(true);
  const [eds, setEds] = useState(true);
  const bytes = new Blob([text]).size;
  const tooLarge = bytes > most;

  const take = (given: File | null | undefined) => {
    if (!given) return;
    setUnread(undefined);
    if (given.size > most) {
      setUnread(tooLargeWords(given.name, given.size));
      return;
    }
    given.text().then(
      (words) => {
        setText(words);
        setFile(given.name);
      },
      () => setUnread(`The browser could not read ${given.name}.`),
    );
  };

  return (
    <Section title="Configuration">
      <Stack gap="sm">
        <Drop onDrop={take}>
          {file !== undefined && bytes > longest ? (
            <Text size="sm" p="md" className="words">
              {file}, {size(bytes)}. It is too long to be shown here.
            </Text>
          ) : (
            <Textarea
              label="Bootstrap or config dump, YAML or JSON"
              placeholder="static_resources: ..."
              rows={12}
              value={text}
              onChange={(e) => setText(e.currentTarget.value)}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.8125rem" } }}
            />
          )}
        </Drop>
        <Group gap="sm">
          <FileButton onChange={take} accept=".yaml,.yml,.json,application/json,application/yaml,text/plain" inputProps={{ "aria-label": "Choose a file" }}>
            {(props) => (
              <Button {...props} variant="default">
                Choose a file
              </Button>
            )}
          </FileButton>
          {text !== "" && (
            <Button
              variant="subtle"
              onClick={() => {
                setText("");
                setFile(undefined);
              }}
            >
              Clear
            </Button>
          )}
          <Text size="sm" c="dimmed" className="words">
            {text === "" ? "Or drop one on the field. 4 MiB at most." : `${file === undefined ? "" : `${file}, `}${size(bytes)}`}
          </Text>
        </Group>
        {(unread ?? (tooLarge ? tooLargeWords(file ?? "This", bytes) : undefined)) !== undefined && (
          <Alert color="red" role="alert">
            {unread ?? tooLargeWords(file ?? "This", bytes)}
          </Alert>
        )}
        <Checkbox checked={rds} onChange={(e) => setRds(e.currentTarget.checked)} label="Take routes out of their listeners" description="A change of routes then touches no listener, and drains no connection." />
        <Checkbox checked={eds} onChange={(e) => setEds(e.currentTarget.checked)} label="Take endpoints out of their clusters" description="Those that are addresses. Names that the proxy looks up stay." />
        <Group>
          <Button loading={busy} disabled={text.trim() === "" || tooLarge} onClick={() => onGiven({ text, rds, eds })}>
            Show what would be taken over
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}

const tooLargeWords = (what: string, bytes: number) =>
  `${what} is ${size(bytes)}, and the server takes 4 MiB at most. The command “fairlead import” reads larger ones: leave parts out, or use that.`;

function Drop({ onDrop, children }: { onDrop: (file: File | undefined) => void; children: React.ReactNode }) {
  const [over, setOver] = useState(false);
  const hold = (e: DragEvent) => {
    e.preventDefault();
    setOver(true);
  };
  return (
    <div
      onDragOver={hold}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        onDrop(e.dataTransfer.files[0]);
      }}
      style={{ outline: over ? "2px dashed var(--mantine-primary-color-filled)" : "none", outlineOffset: 4, borderRadius: 4 }}
    >
      {children}
    </div>
  );
}
