import { Alert, Box, Button, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import type { NodeList } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { ButtonLink } from "../ui/link";
import { FilterFold } from "../ui/filters";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { Filters, filtersOf } from "./filters";
import { RefusedAlike } from "./row";
import { countQuery, nodesQuery, type NodeFilters } from "./queries";
import { NodeTable } from "./table";
import { groupRefusals, nodesWord } from "./words";
import "./nodes.css";

export function Nodes() {
  const { tenant, fleet } = usePlace();
  const [search] = useFilters();
  const filters = filtersOf(search);
  const { after } = search;
  const list = useQuery({ ...nodesQuery(tenant, fleet, filters, after), placeholderData: keepPreviousData });
  const top = useRef<HTMLDivElement>(null);
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page
      title="Nodes"
      tab={`Nodes of ${fleet}`}
      about={<Count filters={filters} filtered={filtered} />}
      actions={
        <ButtonLink to="/fleets/$fleet/connect" params={{ fleet }} variant="default">
          Connect a node
        </ButtonLink>
      }
    >
      <FilterFold set={Object.keys(filters).length}>
        <Filters />
      </FilterFold>
      <Box ref={top} className="page-of-nodes" aria-busy={list.isPlaceholderData} data-old={list.isPlaceholderData}>
        <Loaded query={list} height={480}>
          {(data) => <Rows list={data} filtered={filtered || after !== undefined} />}
        </Loaded>
        <Pager of="nodes" word="after" next={list.data?.next_cursor} onMove={() => top.current?.scrollIntoView()} />
      </Box>
    </Page>
  );
}

function Count({ filters, filtered }: { filters: NodeFilters; filtered: boolean }) {
  const { tenant, fleet } = usePlace();
  const all = useQuery(fleetQuery(tenant, fleet)).data?.counts?.nodes;
  const found = useQuery({ ...countQuery(tenant, fleet, filters), enabled: filtered, placeholderData: keepPreviousData }).data;
  const total = all && all.live + all.refusing + all.offline;
  const order = "Sorted by id.";
  if (filtered && found?.matches !== undefined) {
    return (
      <span role="status">
        {`${found.matches_cut ? `at least ${nodesWord(found.matches)}` : nodesWord(found.matches)}${found.matches === 1 ? " matches" : " match"}${total === undefined ? "" : ` of ${total.toLocaleString("en")}`}. ${order}`}
      </span>
    );
  }
  if (!all || total === undefined) return <>{order}</>;
  return <span role="status">{`${nodesWord(total)}: ${all.live.toLocaleString("en")} live, ${all.refusing.toLocaleString("en")} refusing, ${all.offline.toLocaleString("en")} offline. ${order}`}</span>;
}

function Rows({ list, filtered }: { list: NodeList; filtered: boolean }) {
  const { tenant, fleet } = usePlace();
  const newest = useQuery(fleetQuery(tenant, fleet)).data?.revision;
  const alike = useMemo(() => groupRefusals(list.items).filter((g) => g.nodes.length > 1), [list.items]); // one list for all rows
  if (list.items.length === 0) return <NoRows list={list} filtered={filtered} />;
  return (
    <>
      <RefusedAlike groups={alike} />
      <NodeTable nodes={list.items} newest={newest} alike={alike} />
      <Unknown of={list.labels_unknown} />
    </>
  );
}

function Unknown({ of }: { of: number | undefined }) {
  if (of === undefined) return null;
  return (
    <Alert color="yellow" mt="md" title={`The labels of ${nodesWord(of)} are not known`}>
      Whether the selector matches them cannot be said, so they are not listed. They have not connected since labels are kept, or have more than 16 KiB of metadata.
    </Alert>
  );
}

function NoRows({ list, filtered }: { list: NodeList; filtered: boolean }) {
  const { fleet } = usePlace();
  const [, set] = useFilters();
  if (!filtered) {
    return (
      <Empty title="No node has come yet">
        <Text size="sm" mb="sm">
          A proxy becomes a node when it connects for the first time. It needs a bootstrap file and a node token.
        </Text>
        <ButtonLink to="/fleets/$fleet/connect" params={{ fleet }}>
          Connect a node
        </ButtonLink>
      </Empty>
    );
  }
  return (
    <>
      <Empty title={list.next_cursor === undefined ? "No node matches" : "No node of those that were looked at matches"}>
        <Text size="sm" mb="sm">
          {list.next_cursor === undefined ? "A prefix counts from the beginning of the id, and the case of letters counts." : "A page looks at 10,000 nodes. The next page looks at more."}
        </Text>
        <Button variant="default" onClick={() => set({ state: undefined, prefix: undefined, selector: undefined, after: undefined })}>
          Show all nodes
        </Button>
      </Empty>
      <Unknown of={list.labels_unknown} />
    </>
  );
}
