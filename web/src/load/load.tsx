// What proxies report of the requests to a cluster: the last hour, by minute, by locality, and why requests were dropped.
import { Anchor, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import type { Load } from "../api/client";
import { usePlace } from "../app/place";
import { ChartKey } from "../ui/chart-key";
import { later } from "../ui/later";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { DataTable, type Column } from "../ui/table";
import { exact, useNow } from "../ui/time";
import { LeftOut } from "./left-out";
import { minutesQuery } from "./queries";
import { byCategory, byLocality, byMetric, hourOf, totalOf, type OfCategory, type OfLocality, type OfMetric } from "./sums";
import { loadSentence, number } from "./words";

const Chart = later(() => import("./load-chart").then((m) => m.default));

export function ClusterLoad({ cluster }: { cluster: string }) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(minutesQuery(tenant, fleet, cluster));
  return (
    <Section title="Load">
      <Loaded query={query} height={120}>
        {({ items, leftOut }) => (
          <Stack gap="sm">
            {items.length === 0 ? <Unreported /> : <Reported minutes={items} />}
            <LeftOut parts={leftOut} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Unreported() {
  return (
    <Text size="sm">
      No proxy has reported requests to this cluster in the last hour. An Envoy{" "}
      <Anchor href="/docs#op-listLoad" size="sm" underline="always">
        reports its load
      </Anchor>{" "}
      where its bootstrap was made with <span className="mono">--load-reports</span>, a gRPC client where the cluster has <span className="mono">lrs_server</span>.
    </Text>
  );
}

function Reported({ minutes }: { minutes: readonly Load[] }) {
  const present = Math.floor(useNow() / 60_000) * 60_000; // so that it is drawn again once in a minute
  const hour = useMemo(() => hourOf(minutes, present), [minutes, present]);
  const words = loadSentence(totalOf(minutes));
  return (
    <Stack gap="sm">
      <Text size="sm">{words}</Text>
      <Suspense fallback={<Skeleton h={190} role="progressbar" aria-label="Loading" />}>
        <Chart hour={hour} label={`Chart of the requests of the last hour, by minute: issued, errors, dropped. ${words}`} />
      </Suspense>
      <Group gap="md">
        <ChartKey color="blue" words="issued" />
        <ChartKey color="red" words="errors" />
        <ChartKey color="orange" words="dropped" />
        <Text size="xs" c="dimmed">
          by minute; a minute is complete some ten seconds after its end
        </Text>
      </Group>
      <details>
        <summary>
          <Text span size="sm">
            The numbers
          </Text>
        </summary>
        <DataTable label="Load by minute" columns={ofMinutes} rows={minutes.toReversed()} keyOf={(m) => m.minute} />
      </details>
      <Sums title="By locality" columns={ofLocalities} rows={byLocality(minutes)} keyOf={(l) => l.name} />
      <Sums title="Drops by category" columns={ofCategories} rows={byCategory(minutes)} keyOf={(d) => d.category} />
      <Sums title="Metrics of the backends" columns={ofMetrics} rows={byMetric(minutes)} keyOf={(m) => m.name} />
    </Stack>
  );
}

interface SumsProps<T> {
  title: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
}

/** A table with a heading; nothing where there is nothing in it. */
function Sums<T>({ title, columns, rows, keyOf }: SumsProps<T>) {
  if (rows.length === 0) return null;
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        {title}
      </Title>
      <DataTable label={title} columns={columns} rows={rows} keyOf={keyOf} />
    </Stack>
  );
}

const timeOfDay = (time: string) => new Date(time).toLocaleTimeString(undefined, { timeStyle: "short" });
const decimals = (n: number) => n.toLocaleString("en", { maximumSignificantDigits: 3 });

const ofMinutes: Column<Load>[] = [
  { title: "Minute", kind: "short", cell: (m) => <time dateTime={m.minute} title={exact(m.minute)}>{timeOfDay(m.minute)}</time> },
  { title: "Issued", kind: "number", cell: (m) => number(m.issued) },
  { title: "Successful", kind: "number", cell: (m) => number(m.successful) },
  { title: "Errors", kind: "number", cell: (m) => number(m.errors) },
  { title: "Dropped", kind: "number", cell: (m) => number(m.dropped) },
  { title: "In progress", kind: "number", cell: (m) => decimals(m.in_progress ?? 0) },
];

const ofLocalities: Column<OfLocality>[] = [
  { title: "Locality", cell: (l) => (l.name === "" ? "none" : <span className="mono">{l.name}</span>) },
  { title: "Issued", kind: "number", cell: (l) => number(l.issued) },
  { title: "Successful", kind: "number", cell: (l) => number(l.successful) },
  { title: "Errors", kind: "number", cell: (l) => number(l.errors) },
];

const ofCategories: Column<OfCategory>[] = [
  { title: "Category", cell: (d) => (d.category === "" ? "none" : <span className="mono">{d.category}</span>) },
  { title: "Dropped", kind: "number", cell: (d) => number(d.count) },
];

const ofMetrics: Column<OfMetric>[] = [
  { title: "Metric", cell: (m) => <span className="mono">{m.name}</span> },
  { title: "Requests", kind: "number", cell: (m) => number(m.count) },
  { title: "Average", kind: "number", cell: (m) => decimals(m.average) },
];
