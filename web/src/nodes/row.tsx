// A node's name with what it refuses below it.
import { Alert, Stack, Text } from "@mantine/core";
import type { Node } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { RefLinks } from "./refs";
import { groupRefusals, nodesWord, partOf, refText, type Group } from "./words";

/** What several nodes of the page refuse in the same words, told once. */
export function RefusedAlike({ groups }: { groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <Stack gap="sm" mb="md">
      {groups.map((g) => (
        <Alert key={g.words} color="red" variant="light" title={`${nodesWord(g.nodes.length)} of this page refuse in the same words`}>
          <Text size="sm" className="words" lineClamp={6}>
            {g.words}
          </Text>
          <Text size="sm" mt={4}>
            <RefLinks of={g.refs} />
          </Text>
        </Alert>
      ))}
    </Stack>
  );
}

const shown = 2;

export function NodeName({ node, alike }: { node: Node; alike: readonly Group[] }) {
  const { fleet } = usePlace();
  const groups = groupRefusals([node]);
  return (
    <>
      <TextLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node: node.id }} className="mono" fw={500}>
        {node.id}
      </TextLink>
      {groups.slice(0, shown).map((g) => {
        const told = alike.some((a) => a.words === g.words);
        return (
          <Text key={g.words} size="sm" className="words refused-words" lineClamp={3} title={told ? g.words : undefined}>
            {told ? `refuses ${some(g)}, in the words above` : `${some(g)}: ${partOfGroup(g)}`}
          </Text>
        );
      })}
      {groups.length > shown && (
        <Text size="sm" className="refused-words">
          {`and ${groups.length - shown} more`}
        </Text>
      )}
    </>
  );
}

/** One answer that is about several has its words once; about one, its own part of them. */
function partOfGroup(g: Group): string {
  const [only, ...more] = g.refs;
  return only === undefined || more.length > 0 ? g.words : partOf(g.words, only.name, []);
}

function some(g: Group): string {
  const first = g.refs.slice(0, 3).map(refText).join(", ");
  return g.refs.length > 3 ? `${first} and ${g.refs.length - 3} more` : first;
}
