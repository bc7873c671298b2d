// The receipt of a revision as it comes in: the event stream says when there is more of it.
import { Alert, Badge, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Comparison, Finding, Receipt } from "../api/client";
import { usePlace } from "../app/place";
import { receiptQuery } from "../api/queries";
import { changesQuery } from "../history/queries";
import { FindingWords } from "../history/resource-link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { ReceiptBadge } from "../ui/state";
import { ReceiptBar } from "./bar";
import { NodesByState } from "./nodes-by-state";
import { errorsQuery } from "./queries";
import { RefusalGroups } from "./refusals";
import { Waits } from "./waits";
import { receiptSentence } from "./words";

interface Props {
  revision: number;
  /** It is of the kind `endpoints`. */
  ofEndpoints: boolean;
}

export function LiveReceipt({ revision, ofEndpoints }: Props) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(receiptQuery(tenant, fleet, revision));
  const { data: changes } = useQuery(changesQuery(tenant, fleet, revision, {}));
  const { data: found } = useQuery(errorsQuery(tenant, fleet));
  const errors = errorsOf(found?.items ?? [], changes);
  return (
    <Loaded query={query} height={220}>
      {(receipt) => (
        <>
          <Section title="Receipt" aside={<StateOf receipt={receipt} errors={errors.length} />}>
            <Stack gap="md">
              <Told receipt={receipt} />
              {receipt.counts.nacked > 0 && <RefusalGroups revision={receipt.revision} ofEndpoints={ofEndpoints} changes={changes?.items ?? []} />}
              {receipt.counts.pending > 0 && <Waits revision={receipt.revision} />}
              {errors.length > 0 && <CannotWork errors={errors} />}
            </Stack>
          </Section>
          {countsAny(receipt) && (
            <Section title="Nodes">
              <NodesByState receipt={receipt} />
            </Section>
          )}
        </>
      )}
    </Loaded>
  );
}

const countsAny = ({ counts: c }: Receipt) => c.acked + c.nacked + c.pending + c.offline + c.late > 0;

/** The fleet's errors that are about what the revision changed, or about what names that. */
export function errorsOf(found: readonly Finding[], changes: Comparison | undefined): Finding[] {
  if (!changes) return [];
  const changed = new Set(changes.items.map((c) => `${c.type}/${c.name}`));
  return found.filter((f) => changed.has(`${f.type}/${f.name}`) || (f.to !== undefined && changed.has(`${f.to.type}/${f.to.name}`)));
}

// What was taken and cannot work is never called delivered alone.
function StateOf({ receipt, errors }: { receipt: Receipt; errors: number }) {
  if (receipt.state !== "delivered" || errors === 0) return <ReceiptBadge state={receipt.state} />;
  return (
    <Badge color="orange" variant="light">
      delivered, with {errors === 1 ? "1 error" : `${errors} errors`}
    </Badge>
  );
}

function Told({ receipt }: { receipt: Receipt }) {
  const sentence = receiptSentence(receipt);
  return (
    <Stack gap="xs">
      <Text fw={600} role="status">
        {sentence.charAt(0).toUpperCase() + sentence.slice(1)}.
      </Text>
      {countsAny(receipt) ? (
        <ReceiptBar counts={receipt.counts} label={sentence} />
      ) : (
        <Text size="sm" c="dimmed">
          It is stored. The first node that connects gets it.
        </Text>
      )}
      {receipt.counts.offline > 0 && (
        <Text size="sm" c="dimmed">
          Offline nodes get the newest revision when they come back. Those that were offline before hold no receipt up.
        </Text>
      )}
    </Stack>
  );
}

function CannotWork({ errors }: { errors: readonly Finding[] }) {
  return (
    <Alert color="orange" variant="light" title="Not all of it can work as it stands">
      <List size="sm" spacing={4}>
        {errors.slice(0, 10).map((f, i) => (
          <List.Item key={i} className="words">
            <FindingWords finding={f} />
          </List.Item>
        ))}
      </List>
      {errors.length > 10 && <Text size="sm">And {errors.length - 10} more: see Findings.</Text>}
    </Alert>
  );
}
