// The topology as a table: the same for those who do not look at graphs, and on a phone.
import { Anchor, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { TextLink } from "../ui/link";
import { Empty } from "../ui/page";
import { DataTable } from "../ui/table";
import { isProblem } from "./focus";
import type { Graph, Name } from "./graph";
import { markColor, stateWords, typeWord } from "./words";

interface Props {
  fleet: string;
  graph: Graph;
  found: ReadonlySet<string> | undefined;
  /** How many rows are shown at first, and each time that more are asked for. */
  step: number;
  onFocus: (id: string) => void;
}

export function ListView({ fleet, graph, found, step, onFocus }: Props) {
  const [shown, setShown] = useState(step);
  const all = graph.names.map((_, i) => i).filter((i) => found === undefined || found.has(graph.names[i]?.id ?? ""));
  const rows = [...all.filter((i) => wrong(graph, i)), ...all.filter((i) => !wrong(graph, i))];
  if (rows.length === 0) return <Empty title="Nothing is found">Change the search, or show all again.</Empty>;
  const name = (i: number) => graph.names[i];
  const others = (places: readonly number[] | undefined, none: string) => <Others names={(places ?? []).flatMap((i) => name(i) ?? [])} none={none} onFocus={onFocus} />;
  return (
    <Stack gap="sm" align="flex-start">
      <DataTable
        label="What leads to what"
        rows={rows.slice(0, shown)}
        keyOf={(i) => name(i)?.id ?? String(i)}
        columns={[
          { title: "Resource", half: true, cell: (i) => <Resource name={name(i)} fleet={fleet} onFocus={onFocus} /> },
          { title: "State", half: true, cell: (i) => <State name={name(i)} /> },
          { title: "Leads to", half: true, cell: (i) => others(graph.down[i], name(i)?.anyCluster ? "decided by each request" : "–") },
          { title: "Comes from", half: true, cell: (i) => others(graph.up[i], "–") },
        ]}
      />
      {rows.length > shown && (
        <Button variant="default" onClick={() => setShown((n) => n + step)}>
          Show {Math.min(step, rows.length - shown)} more of {rows.length}
        </Button>
      )}
    </Stack>
  );
}

const wrong = (g: Graph, i: number) => isProblem(g.names[i]?.mark?.kind);

function Resource({ name, fleet, onFocus }: { name: Name | undefined; fleet: string; onFocus: (id: string) => void }) {
  if (!name) return null;
  return (
    <Stack gap={2} align="flex-start">
      <Text size="xs" c="dimmed">
        {typeWord(name.type)}
        {name.variants > 1 && `, ${name.variants} variants`}
      </Text>
      {name.state === "stored" ? (
        <TextLink className="mono" to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: name.type, name: name.name }}>
          {name.name}
        </TextLink>
      ) : (
        <span className="mono">{name.name}</span>
      )}
      <Group gap="sm">
        <Anchor component="button" type="button" size="xs" onClick={() => onFocus(name.id)} aria-label={`Show only what is around ${typeWord(name.type)} ${name.name}`}>
          Around it
        </Anchor>
        {name.state === "missing" && (
          <TextLink size="xs" to="/fleets/$fleet/new" params={{ fleet }} search={{ type: name.type, name: name.name }} aria-label={`Create the ${typeWord(name.type)} ${name.name}`}>
            Create it
          </TextLink>
        )}
      </Group>
    </Stack>
  );
}

function State({ name }: { name: Name | undefined }) {
  if (!name) return null;
  const words = stateWords(name);
  if (name.mark) {
    const color = markColor[name.mark.kind];
    return (
      <Stack gap={2} align="flex-start">
        <Badge color={color} variant="light">{name.mark.kind === "pending" ? "pending" : name.mark.kind}</Badge>
        <Text size="sm" className="words">{words}</Text>
      </Stack>
    );
  }
  return <Text size="sm" c="dimmed">{words === "" ? "there" : words}</Text>;
}

const most = 5;

function Others({ names, none, onFocus }: { names: readonly Name[]; none: string; onFocus: (id: string) => void }) {
  if (names.length === 0) return <Text size="sm" c="dimmed">{none}</Text>;
  const first = [...names.filter((n) => isProblem(n.mark?.kind)), ...names.filter((n) => !isProblem(n.mark?.kind))].slice(0, most);
  return (
    <Stack gap={2} align="flex-start">
      {first.map((n) => (
        <Text key={n.id} size="sm" component="div" {...(n.state === "missing" ? { c: "var(--mantine-color-red-text)" } : {})}>
          {typeWord(n.type)}{" "}
          <Anchor component="button" type="button" className="mono" ta="left" inherit onClick={() => onFocus(n.id)} aria-label={`Show only what is around ${typeWord(n.type)} ${n.name}`}>
            {n.name}
          </Anchor>
          {n.state === "missing" && " (not there)"}
        </Text>
      ))}
      {names.length > most && <Text size="sm" c="dimmed">and {names.length - most} more</Text>}
    </Stack>
  );
}
