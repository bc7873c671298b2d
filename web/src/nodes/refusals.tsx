// What a node refuses: the words beside the line that they name, what was done, and what would end it.
import { Button, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Node, Refusal } from "../api/client";
import { Section } from "../ui/page";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { RefusalCard } from "./refusal";
import { EndedBy, RefLink, RevisionLink } from "./refs";
import { partOf, standing } from "./words";

/** So many are open at first: each asks for the body that was refused. */
const openAtFirst = 3;

export function Refusals({ node }: { node: Node }) {
  const open = standing(node.refusals);
  const ended = node.refusals.filter((r) => r.resolved_at !== undefined);
  if (node.refusals.length === 0) return null;
  return (
    <Section title={open.length > 0 ? `It refuses ${open.length === 1 ? "1 resource" : `${open.length} resources`}` : "It refuses nothing"}>
      <Stack gap="md">
        {open.map((r, i) => (
          <RefusalCard key={keyOf(r)} refusal={r} others={sameAnswer(r, open)} node={node} openAtFirst={i < openAtFirst} />
        ))}
      </Stack>
      {ended.length > 0 && <Ended refusals={ended} all={node.refusals} />}
    </Section>
  );
}

const keyOf = (r: Refusal) => `${r.type}/${r.name} ${r.version} ${r.at}`;

/** The names that one answer of the node is about. */
const sameAnswer = (r: Refusal, all: readonly Refusal[]) => all.filter((o) => o.detail === r.detail && o.type === r.type).map((o) => o.name);

function Ended({ refusals, all }: { refusals: readonly Refusal[]; all: readonly Refusal[] }) {
  const [shown, { toggle }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="compact-sm" mt="md" mb="xs" aria-expanded={shown} onClick={toggle}>
        {refusals.length === 1 ? "1 refusal has ended" : `${refusals.length} refusals have ended`}
      </Button>
      {shown && (
        <DataTable
          label="Refusals that have ended"
          rows={refusals}
          keyOf={keyOf}
          columns={[
            { title: "Resource", cell: (r) => <EndedWords of={r} words={partOf(r.detail, r.name, sameAnswer(r, all))} /> },
            { title: "Refused", kind: "short", cell: (r) => <span><RevisionLink of={r.revision} />{", "}<Ago at={r.at} /></span> },
            { title: "Ended", kind: "short", cell: (r) => <EndedBy how={r.ended} by={r.resolved_by} at={r.resolved_at} /> },
          ]}
        />
      )}
    </>
  );
}

function EndedWords({ of: r, words }: { of: Refusal; words: string }) {
  return (
    <>
      <RefLink of={r} />
      <Text size="sm" className="words">
        {words}
      </Text>
    </>
  );
}
