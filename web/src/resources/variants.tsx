// The contents that one name has for different nodes, and a way to make another one.
import { Badge, Button, Group, NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { usePlace } from "../app/place";
import { editOf, putEdit, readDraft, useDraft } from "../draft/store";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { asVariant, fieldOf, type Identity } from "./document";
import { NodesMatched } from "./nodes-matched";
import { variantsQuery } from "./queries";

interface Props {
  id: Identity;
  /** The document to begin another variant with. */
  text: string;
  /** Whether one may make another. */
  editable: boolean;
}

export function Variants({ id, text, editable }: Props) {
  const { tenant, author, fleet } = usePlace();
  const [making, setMaking] = useState(false);
  const query = useQuery(variantsQuery(tenant, fleet, id.type, id.name));
  const draft = useDraft(author, fleet);
  const drafted = draft.edits.filter((e) => e.type === id.type && e.name === id.name && e.action === "write" && e.etag === undefined);
  return (
    <Section title="Variants" aside={editable && !making && <Button size="compact-sm" variant="default" onClick={() => setMaking(true)}>New variant</Button>}>
      <Loaded query={query} height={60}>
        {(stored) => (
          <Stack gap="xs">
            {stored.map((r) => (
              <One key={r.variant ?? ""} id={id} variant={r.variant} selector={r.selector} priority={r.priority} />
            ))}
            {drafted.map((e) => !stored.some((r) => r.variant === e.variant) && <One key={`draft ${e.variant ?? ""}`} id={id} variant={e.variant} selector={fieldOf(e.text, "selector")} drafted />)}
            {stored.length + drafted.length < 2 && <Text size="sm" c="dimmed">A variant is another content under the same name, for the nodes that its selector matches.</Text>}
          </Stack>
        )}
      </Loaded>
      {making && <NewVariant id={id} text={text} taken={[...(query.data ?? []).map((r) => r.variant ?? ""), ...drafted.map((e) => e.variant ?? "")]} done={() => setMaking(false)} />}
    </Section>
  );
}

interface OneProps {
  id: Identity;
  variant: string | undefined;
  selector?: string | undefined;
  priority?: number | undefined;
  drafted?: boolean;
}

function One({ id, variant, selector, priority, drafted = false }: OneProps) {
  const { fleet } = usePlace();
  const here = (id.variant ?? "") === (variant ?? "");
  return (
    <Group gap="xs">
      {here ? (
        <Text fw={600} size="sm" aria-current="page">{variant ?? "default"}</Text>
      ) : (
        <TextLink size="sm" to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: id.type, name: id.name }} search={variant ? { variant } : {}}>
          {variant ?? "default"}
        </TextLink>
      )}
      <Text size="sm" c="dimmed">{variant ? <span className="mono">{selector}</span> : "for the nodes that no other one matches"}</Text>
      {priority !== undefined && priority !== 0 && <Badge variant="default" tt="none">priority {priority}</Badge>}
      {drafted && <Badge variant="light" color="yellow" tt="none">new in the draft</Badge>}
    </Group>
  );
}

function NewVariant({ id, text, taken, done }: { id: Identity; text: string; taken: string[]; done: () => void }) {
  const { author, fleet } = usePlace();
  const navigate = useNavigate();
  const [variant, setVariant] = useState("");
  const [selector, setSelector] = useState("");
  const [priority, setPriority] = useState(0);
  const name = variant.trim();
  const isTaken = name !== "" && (taken.includes(name) || editOf(readDraft(author, fleet), { ...id, variant: name }) !== undefined);
  const add = () => {
    putEdit(author, fleet, { action: "write", type: id.type, name: id.name, variant: name, text: asVariant(text, name, selector.trim(), priority), base: "", at: new Date().toISOString() });
    done();
    void navigate({ to: "/fleets/$fleet/resources/$type/$name", params: { fleet, type: id.type, name: id.name }, search: { variant: name } });
  };
  return (
    <Stack
      gap="sm"
      mt="md"
      component="form"
      aria-label="New variant"
      onSubmit={(e) => {
        e.preventDefault();
        add();
      }}
    >
      <TextInput label="Name of the variant" placeholder="eu" value={variant} onChange={(e) => setVariant(e.currentTarget.value)} error={isTaken ? "There is a variant of this name." : undefined} required maw="24rem" />
      <TextInput label="Selector" description="Requirements joined by commas; all must hold." placeholder="locality.region=eu,metadata.canary=true" value={selector} onChange={(e) => setSelector(e.currentTarget.value)} required classNames={{ input: "mono" }} />
      <NodesMatched selector={selector} />
      <NumberInput label="Priority" description="Of the variants that match, the highest wins." value={priority} onChange={(v) => setPriority(typeof v === "number" ? v : 0)} allowDecimal={false} maw="24rem" />
      <Group gap="sm">
        <Button type="submit" disabled={name === "" || selector.trim() === "" || isTaken}>Add to the draft</Button>
        <Button variant="default" onClick={done}>Cancel</Button>
      </Group>
    </Stack>
  );
}
