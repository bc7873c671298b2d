// The newest revision and who took it.
import { Alert, Badge, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Receipt, ReceiptState, Revision } from "../api/client";
import { fleetQuery, receiptQuery } from "../api/queries";
import { may, useMe } from "../app/session";
import { isOfEndpoints, kindWords } from "../history/run";
import { noEnvoyWords, refText, warmingWords, withheldBy } from "../nodes/words";
import { receiptSentence } from "../receipt/words";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { ReceiptBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { refusing as refusingQuery } from "./queries";
import { grouped, type Group as Refusals } from "./refusals";

interface Props {
  tenant: string;
  fleet: string;
  revision: Revision;
}

export function Latest({ tenant, fleet, revision }: Props) {
  const receipt = useQuery(receiptQuery(tenant, fleet, "latest"));
  const refusing = useQuery(fleetQuery(tenant, fleet)).data?.counts?.nodes.refusing ?? 0;
  return (
    <Section title="The newest revision" aside={receipt.data && <StateOf state={receipt.data.state} refusing={refusing} />}>
      <Stack gap="xs">
        <Text size="sm" className="words">
          <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(revision.revision) }} fw={600} size="sm">
            Revision {revision.revision}
          </TextLink>
          {revision.message ? `: ${revision.message}` : ""}
        </Text>
        <Text size="sm" c="dimmed">
          {kindWords(revision)}
          {revision.actor === undefined ? "" : ` by ${revision.actor}`}, <Ago at={revision.committed_at} />
        </Text>
        <Loaded query={receipt} height={48}>
          {(r) => (
            <Stack gap="sm">
              <Text role="status">{receiptSentence(r)}</Text>
              {r.counts.nacked > 0 && <RefusedBy tenant={tenant} fleet={fleet} receipt={r} back={isOfEndpoints(revision) ? 0 : r.revision - 1} />}
              <Waits receipt={r} />
            </Stack>
          )}
        </Loaded>
      </Stack>
    </Section>
  );
}

/** A revision that was delivered to nodes that refuse older ones is not told in the colour of what is well. */
function StateOf({ state, refusing }: { state: ReceiptState; refusing: number }) {
  if (state !== "delivered" || refusing === 0) return <ReceiptBadge state={state} />;
  return (
    <Badge color="orange" variant="light">
      delivered, {refusing === 1 ? "1 node refuses" : `${refusing} nodes refuse`} an older one
    </Badge>
  );
}

interface RefusedByProps {
  tenant: string;
  fleet: string;
  receipt: Receipt;
  /** The revision that a rollback leads to; 0 where none helps, as from one of endpoints. */
  back: number;
}

/** Who refuses it, in the proxies' words, and the way back. */
function RefusedBy({ tenant, fleet, receipt, back }: RefusedByProps) {
  const me = useMe();
  const nodes = useQuery(refusingQuery(tenant, fleet, receipt.revision));
  return (
    <Stack gap="xs" align="stretch">
      <Loaded query={nodes} height={90}>
        {(page) => (
          <>
            {grouped(page.nodes).map((g, i) => (
              <Words key={g.key} fleet={fleet} group={g} {...(i === 0 && back > 0 && may(me, "ci") ? { back } : {})} />
            ))}
            {page.next_cursor !== undefined && <Text size="sm">These are the words of the first {page.nodes.length} nodes.</Text>}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Who say the same, and beside the first of them the way back. */
function Words({ fleet, group, back }: { fleet: string; group: Refusals; back?: number }) {
  const [one] = group.nodes;
  return (
    <Alert color="red" p="sm">
      <Text size="sm" fw={600} className="words">
        {group.nodes.length === 1 && one !== undefined ? (
          <TextLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node: one }} c="inherit" underline="always" inherit>
            {one}
          </TextLink>
        ) : (
          `${group.nodes.length} nodes`
        )}
        {group.resource !== undefined && (
          <>
            {": "}
            <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, ...group.resource }} c="inherit" underline="always" inherit>
              {group.resource.type}/{group.resource.name}
            </TextLink>
          </>
        )}
      </Text>
      <Text size="sm" className="words mono">
        {group.detail}
      </Text>
      {group.action !== undefined && (
        <Text size="xs" mt={4} className="words">
          {group.action}
        </Text>
      )}
      {back !== undefined && (
        <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: String(back) }} variant="default" size="xs" mt="xs">
          Roll back to revision {back}
        </ButtonLink>
      )}
    </Alert>
  );
}

/** What the first of the nodes wait for. The revision's page tells all of it. */
function Waits({ receipt }: { receipt: Receipt }) {
  const lines = new Set<string>();
  for (const n of receipt.nodes) {
    for (const w of n.withheld ?? []) {
      lines.add(`${refText(w.resource)} ${withheldBy(w)}`);
    }
    if (n.no_envoy === true) lines.add(`${n.id}: ${noEnvoyWords}`);
    for (const r of n.warming ?? []) lines.add(`${refText(r)} ${warmingWords}`);
  }
  if (lines.size === 0) return null;
  return (
    <List size="sm">
      {[...lines].slice(0, 5).map((l) => (
        <List.Item key={l} className="words">
          {l}
        </List.Item>
      ))}
    </List>
  );
}
