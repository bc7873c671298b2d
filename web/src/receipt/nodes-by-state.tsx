// The nodes of a receipt, those of one state at a time. The state and the page stand in the address.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Receipt, ReceiptCounts, ReceiptNode, ReceiptRefusal } from "../api/client";
import { usePlace } from "../app/place";
import { ResourceLink } from "../history/resource-link";
import { noEnvoyWords } from "../nodes/words";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable, type Column } from "../ui/table";
import { Ago } from "../ui/time";
import { nodeStates, receiptNodesQuery, stateOf, type ReceiptNodeState } from "./queries";
import { endWords } from "./words";

const words: Record<ReceiptNodeState, string> = { nacked: "refused", pending: "not answered", acked: "have it", offline: "offline", late: "ACKed it later" };

/** The state that is looked at first: what needs somebody comes before what is well. */
export function firstState(counts: ReceiptCounts): ReceiptNodeState {
  return nodeStates.find((s) => counts[s] > 0) ?? "acked";
}

export function NodesByState({ receipt }: { receipt: Receipt }) {
  const [search, set] = useFilters();
  const state = stateOf(search["state"]) ?? firstState(receipt.counts);
  return (
    <Stack gap="sm">
      <Group gap="xs" role="group" aria-label="State of the nodes">
        {nodeStates
          .filter((s) => receipt.counts[s] > 0 || s === state)
          .map((s) => (
            <Button key={s} size="xs" variant={s === state ? "filled" : "default"} aria-pressed={s === state} onClick={() => set({ state: s, nodes: undefined })}>
              {receipt.counts[s]} {words[s]}
            </Button>
          ))}
      </Group>
      <NodesOf key={state} revision={receipt.revision} state={state} cursor={search["nodes"]} />
    </Stack>
  );
}

function NodesOf({ revision, state, cursor }: { revision: number; state: ReceiptNodeState; cursor: string | undefined }) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(receiptNodesQuery(tenant, fleet, revision, state, cursor));
  const columns = (what: boolean): Column<ReceiptNode>[] => [
    {
      title: "Node",
      half: true,
      cell: (n) => (
        <TextLink display="inline-block" to="/fleets/$fleet/nodes/$node" params={{ fleet, node: n.id }} className="mono node-cell">
          {n.id}
        </TextLink>
      ),
    },
    { title: state === "offline" ? "Last seen" : "When", kind: "short", cell: (n) => <Ago at={n.at} /> },
    ...(!what ? [] : [{ title: "What", cell: (n: ReceiptNode) => <What node={n} /> }]),
  ];
  return (
    <Loaded query={query} height={160}>
      {(r) => (
        <>
          {r.nodes.length === 0 ? (
            <Text size="sm" c="dimmed">
              There is no node of this state.
            </Text>
          ) : (
            <DataTable label={`Nodes: ${words[state]}`} columns={columns(r.nodes.some(saysMore))} rows={r.nodes} keyOf={(n) => n.id} />
          )}
          <Pager of="nodes" word="nodes" next={r.next_cursor} />
        </>
      )}
    </Loaded>
  );
}

const saysMore = (n: ReceiptNode) => (n.resource ?? n.detail ?? n.ended ?? n.left ?? n.no_envoy) !== undefined || [n.withheld, n.warming, n.still_refusing].some((l) => l !== undefined && l.length > 0);

function What({ node: n }: { node: ReceiptNode }) {
  const waits = [...(n.withheld ?? []).map((w) => w.resource), ...(n.warming ?? [])];
  return (
    <Stack gap={2}>
      {n.left === true && "connected when the revision was made, and gone without it"}
      {n.no_envoy === true && noEnvoyWords}
      <Refusal of={n} />
      <AlsoRefused node={n} />
      {waits.length > 0 && (
        <Text size="sm" className="words">
          waits with {waits.slice(0, 3).map((w) => `${w.type}/${w.name}`).join(", ")}
          {waits.length + (n.more_waits ?? 0) > 3 && ` and ${waits.length + (n.more_waits ?? 0) - 3} more`}
        </Text>
      )}
      {n.state !== "nacked" && n.still_refusing && n.still_refusing.length > 0 && (
        <Text size="sm" className="words">
          still refuses {n.still_refusing.slice(0, 3).map((w) => `${w.type}/${w.name}`).join(", ")}, of an older revision
        </Text>
      )}
    </Stack>
  );
}

/** What was refused, in which words, and what was done about it. */
function Refusal({ of: r }: { of: ReceiptRefusal }) {
  return (
    <>
      {r.resource && (
        <span>
          <ResourceLink of={r.resource} />
          {r.action !== undefined && `: ${r.action}`}
        </span>
      )}
      {r.detail !== undefined && (
        <Text size="sm" className="words" lineClamp={2} title={r.detail}>
          {r.detail}
        </Text>
      )}
      {r.ended !== undefined && <Text size="sm">{endWords(r.ended, r.resolved_by)}</Text>}
    </>
  );
}

/** What else the node refused of the revision, where it refused several resources. */
function AlsoRefused({ node: n }: { node: ReceiptNode }) {
  const { fleet } = usePlace();
  const listed = n.also_refused ?? [];
  const more = n.more_refused ?? 0;
  if (listed.length + more === 0) return null;
  return (
    <details>
      <summary>
        <Text span size="sm">
          and refused {listed.length + more} more of this revision
        </Text>
      </summary>
      <Stack component="ul" gap="xs" m={0} mt={4} pl="md">
        {listed.map((r, i) => (
          <li key={i}>
            <Refusal of={r} />
          </li>
        ))}
        {more > 0 && (
          <li>
            {more} that are not listed here:{" "}
            <TextLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node: n.id }} size="sm">
              the node's page
            </TextLink>
          </li>
        )}
      </Stack>
    </details>
  );
}
