import { Box, Group, Skeleton, Stack, Table, Text } from "@mantine/core";
import { useInViewport } from "@mantine/hooks";
import { useQueries } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import type { Revision } from "../api/client";
import { duration } from "../receipt/words";
import { ChartKey } from "../ui/chart-key";
import { later } from "../ui/later";
import { Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { latencySentence, type AckTime } from "./latency";
import { ackTimes } from "./queries";

const Chart = later(() => import("./latency-chart").then((m) => m.default));

interface Props {
  tenant: string;
  fleet: string;
  /** Newest first. */
  revisions: readonly Revision[];
}

/** From the commit to the ACKs of the last revisions. Each of them is a question, so it is asked when somebody looks. */
export function LatencySection({ tenant, fleet, revisions }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const [seen, setSeen] = useState(false);
  if (inViewport && !seen) setSeen(true);
  const { times, whole, error } = useQueries({
    queries: revisions.toReversed().map((r, i) => ({ ...ackTimes(tenant, fleet, r.revision, i === revisions.length - 1), enabled: seen })),
    combine: (all) => ({ times: all.map((q) => q.data).filter((t) => t !== undefined), whole: all.every((q) => !q.isLoading), error: all.find((q) => q.error !== null)?.error }),
  });
  const nothing = seen && whole && error === undefined && times.every((t) => t.last === undefined); // words alone: no chart's height is kept
  return (
    <Section title="From the commit to the ACK">
      <Box ref={ref} mih={nothing ? undefined : 300}>
        {error && <ProblemAlert error={error} />}
        {!seen || !whole ? <Skeleton h={290} role="progressbar" aria-label="Loading" /> : times.length > 0 && <Times times={times} />}
      </Box>
    </Section>
  );
}

function Times({ times }: { times: readonly AckTime[] }) {
  const words = latencySentence(times);
  if (times.every((t) => t.last === undefined)) return <Text size="sm">{words}</Text>;
  return (
    <Stack gap="sm">
      <Text size="sm">{words}</Text>
      <Suspense fallback={<Skeleton h={190} role="progressbar" aria-label="Loading" />}>
        <Chart times={times} label={`Chart of the time from the commit to the first and the last ACK, by revision. ${words}`} />
      </Suspense>
      <Group gap="md">
        <ChartKey color="teal" words="first ACK" />
        <ChartKey color="blue" words="last ACK" />
        <Text size="xs" c="dimmed">
          by revision, logarithmic
        </Text>
      </Group>
      <details>
        <summary>
          <Text span size="sm">
            The numbers
          </Text>
        </summary>
        <Numbers times={times} />
      </details>
    </Stack>
  );
}

function Numbers({ times }: { times: readonly AckTime[] }) {
  return (
    <Table verticalSpacing={4} aria-label="Times to the ACK">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Revision</Table.Th>
          <Table.Th scope="col">First ACK</Table.Th>
          <Table.Th scope="col">Last ACK</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {times.toReversed().map((t) => (
          <Table.Tr key={t.revision}>
            <Table.Td>{t.revision}</Table.Td>
            <Table.Td>{t.first === undefined ? "none" : duration(t.first)}</Table.Td>
            <Table.Td>{t.last === undefined ? "none" : duration(t.last)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
