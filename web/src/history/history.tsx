// Every write of the fleet: who, when, why, how much, and who has taken it.
import { Button, Checkbox, Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Revision } from "../api/client";
import { usePlace } from "../app/place";
import { ButtonLink, TextLink } from "../ui/link";
import { FilterFold } from "../ui/filters";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import "./history.css";
import { ReceiptBadge } from "../ui/state";
import { DataTable, type Column } from "../ui/table";
import { Ago, exact } from "../ui/time";
import { ChoiceFilter, TextFilter } from "./filters";
import { firstOf, runOf } from "./run";
import { kindOf, resourceTypes, revisionKinds, revisionsQuery, typeOf, type RevisionFilter } from "./queries";

type Search = Readonly<Record<string, string | undefined>>;

export function History() {
  const { tenant, fleet } = usePlace();
  const [search, set] = useFilters();
  const filter = filterOf(search);
  const query = useQuery(revisionsQuery(tenant, fleet, filter));
  const picked = pickedOf(search["pick"]);
  const filtered = Object.keys(filter).some((k) => k !== "cursor");
  return (
    <Page title="History" about="Every write makes a revision. It can be looked at, compared, and brought back: tick two to compare them." actions={<CompareLink picked={picked} />}>
      <FilterFold set={Object.keys(filter).filter((k) => k !== "cursor").length}>
        <Filters type={filter.type} filtered={filtered} />
      </FilterFold>
      <Loaded query={query} height={480}>
        {({ items, next_cursor }) => (
          <div>
            {items.length > 0 ? (
              <DataTable label="Revisions" columns={columns(fleet, picked, (pick) => set({ pick }))} rows={items} keyOf={(r) => String(r.revision)} />
            ) : next_cursor !== undefined ? (
              <Empty title="None of this page">No revision that was looked at fits the filters. There are older ones.</Empty>
            ) : filtered ? (
              <Empty title="No revision fits">No revision that is kept fits the filters.</Empty>
            ) : (
              <Empty title="There are no revisions yet">
                The first write makes the first one. <TextLink to="/fleets/$fleet/new" params={{ fleet }}>Write a resource</TextLink>, or <TextLink to="/fleets/$fleet/import" params={{ fleet }}>import a configuration</TextLink>.
              </Empty>
            )}
            <Pager of="revisions" next={next_cursor} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

export function filterOf(search: Search): RevisionFilter {
  const filter: RevisionFilter = {};
  const kind = kindOf(search["kind"]);
  const type = typeOf(search["type"]);
  if (kind) filter.kind = kind;
  if (type) filter.type = type;
  for (const word of ["actor", "since", "until", "cursor"] as const) if (search[word]) filter[word] = search[word];
  if (type && search["name"]) {
    filter.name = search["name"];
    if (search["variant"]) filter.variant = search["variant"];
  }
  return filter;
}

/** The revisions that are picked for a comparison: two at most, the later ones. */
export function pickedOf(word: string | undefined): number[] {
  return (word ?? "").split(" ").filter((w) => /^[1-9]\d{0,14}$/.test(w)).map(Number).slice(-2);
}

function Filters({ type, filtered }: { type: string | undefined; filtered: boolean }) {
  const [, set] = useFilters();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm" role="search" aria-label="Filter the revisions">
      <ChoiceFilter label="Kind" word="kind" values={revisionKinds} />
      <TextFilter label="Who" word="actor" placeholder="name of a token" />
      <TextFilter label="Since" word="since" kind="time" />
      <TextFilter label="Until" word="until" kind="time" />
      <ChoiceFilter label="Changed type" word="type" values={resourceTypes} />
      <TextFilter label="Changed name" word="name" disabled={type === undefined} placeholder={type === undefined ? "choose a type first" : "whole name"} />
      {filtered && (
        <Button variant="default" size="sm" style={{ alignSelf: "end" }} onClick={() => set({ kind: undefined, actor: undefined, since: undefined, until: undefined, type: undefined, name: undefined, variant: undefined, cursor: undefined })}>
          Clear filters
        </Button>
      )}
    </SimpleGrid>
  );
}

function CompareLink({ picked }: { picked: readonly number[] }) {
  const { fleet } = usePlace();
  const [first, second] = picked.toSorted((a, b) => a - b);
  if (first === undefined) return null;
  return (
    <ButtonLink to="/fleets/$fleet/compare" params={{ fleet }} search={{ from: String(first), to: second === undefined ? "latest" : String(second) }}>
      {second === undefined ? `Compare ${first} with the newest` : `Compare ${first} with ${second}`}
    </ButtonLink>
  );
}

function columns(fleet: string, picked: readonly number[], onPick: (pick: string | undefined) => void): Column<Revision>[] {
  const toggle = (n: number) => {
    const next = picked.includes(n) ? picked.filter((p) => p !== n) : [...picked, n].slice(-2);
    onPick(next.length === 0 ? undefined : next.join(" "));
  };
  return [
    { title: "Pick", half: true, cell: (r) => <Checkbox aria-label={`Compare revision ${r.revision}`} checked={picked.includes(r.revision)} onChange={() => toggle(r.revision)} /> },
    {
      title: "Revision",
      half: true,
      cell: (r) => (
        <>
          <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(r.revision) }} fw={600}>
            {r.revision}
          </TextLink>
          {runOf(r) > 1 && (
            <Text size="xs" c="dimmed">
              {runOf(r)} revisions, from {firstOf(r)}
            </Text>
          )}
        </>
      ),
    },
    { title: "Receipt", kind: "short", cell: (r) => <div className="receipt-cell">{r.receipt ? <ReceiptBadge state={r.receipt} /> : "–"}</div> },
    { title: "When", kind: "short", cell: (r) => <Ago at={r.committed_at} /> },
    { title: "Who", half: true, cell: (r) => <div className="who-cell words">{`${r.actor ?? "somebody"} · ${r.kind}`}</div> },
    { title: "Changed", half: true, cell: (r) => <>{runOf(r) > 1 && "the newest: "}<Changed of={r} /></> },
    { title: "Message", cell: (r) => <Text size="sm" className="words" lineClamp={3} title={exact(r.committed_at)}>{r.message ?? ""}</Text> },
  ];
}

/** How many resources a revision changed, and how. */
export function Changed({ of: r }: { of: Pick<Revision, "created" | "updated" | "deleted"> }) {
  const parts = [r.created > 0 && `${r.created} created`, r.updated > 0 && `${r.updated} updated`, r.deleted > 0 && `${r.deleted} deleted`].filter((p) => p !== false);
  return (
    <Group gap={4} component="span" display="inline">
      {parts.length === 0 ? "nothing" : parts.join(", ")}
    </Group>
  );
}
