// The nodes that a selector matches, while it is typed.
import { Group, Skeleton, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { NodeList } from "../api/client";
import { Refused } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { matchQuery } from "./queries";

export function NodesMatched({ selector }: { selector: string }) {
  const { tenant, fleet } = usePlace();
  const [rested] = useDebouncedValue(selector.trim(), 400);
  const query = useQuery({ ...matchQuery(tenant, fleet, rested), enabled: rested !== "" });
  if (rested === "") return <Text size="sm" c="dimmed" mih={22}>A selector says which nodes get this variant, such as locality.region=eu.</Text>;
  if (query.error) return <Text size="sm" c="var(--code-error)" role="alert" className="words">{query.error instanceof Refused ? (query.error.faults[0]?.detail ?? query.error.message) : query.error.message}</Text>;
  if (!query.data) return <Skeleton h={22} role="progressbar" aria-label="Loading" aria-busy="true" />;
  return <Matches list={query.data} selector={rested} />;
}

export function matchWords({ matches = 0, matches_cut: cut = false, labels_unknown: unknown = 0 }: NodeList): string {
  const some = `${cut ? "At least " : ""}${matches} ${matches === 1 ? "node matches" : "nodes match"}`;
  const known = matches === 0 && !cut ? "No node matches" : some;
  return `${known}.${unknown > 0 ? ` Of ${unknown} the labels are not known.` : ""}`;
}

function Matches({ list, selector }: { list: NodeList; selector: string }) {
  const { fleet } = usePlace();
  const more = (list.matches ?? 0) - list.items.length;
  return (
    <Group gap="xs" mih={22} role="status">
      <Text size="sm" fw={600}>{matchWords(list)}</Text>
      {list.items.map((n) => (
        <TextLink key={n.id} size="sm" to="/fleets/$fleet/nodes/$node" params={{ fleet, node: n.id }} className="words">
          {n.id}
        </TextLink>
      ))}
      {more > 0 && (
        <TextLink size="sm" to="/fleets/$fleet/nodes" params={{ fleet }} search={{ selector }}>
          and {more} more
        </TextLink>
      )}
    </Group>
  );
}
