// Any two revisions, side by side.
import { SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { Changes } from "./changes";
import { ChoiceFilter, TextFilter } from "./filters";
import { compareQuery, resourceTypes, revisionOf, typeOf } from "./queries";

export function Compare() {
  const { tenant, fleet } = usePlace();
  const [search] = useFilters();
  const newest = useQuery(fleetQuery(tenant, fleet)).data?.revision;
  const from = revisionOf(search["from"]) ?? (newest === undefined ? undefined : Math.max(0, newest - 1));
  const to = revisionOf(search["to"] ?? "latest");
  return (
    <Page title="Compare" about="What differs between two revisions. 0 is the empty fleet." actions={from !== undefined && to !== undefined && <Swap from={from} to={to} />}>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" role="search" aria-label="What to compare">
        <TextFilter label="From revision" word="from" placeholder={from === undefined ? "" : String(from)} />
        <TextFilter label="To revision" word="to" placeholder="latest" />
        <ChoiceFilter label="Type" word="type" values={resourceTypes} />
        <TextFilter label="Name" word="name" placeholder="whole name" />
      </SimpleGrid>
      {from === undefined || to === undefined ? <Empty title="Which two?">A revision is a number, or latest for the newest.</Empty> : <Compared key={`${from}/${to}`} from={from} to={to} />}
    </Page>
  );
}

type Side = number | "latest";

function Swap({ from, to }: { from: Side; to: Side }) {
  const { fleet } = usePlace();
  const [search] = useFilters();
  return (
    <ButtonLink to="/fleets/$fleet/compare" params={{ fleet }} search={{ ...search, from: String(to), to: String(from), cursor: undefined }} variant="default">
      Swap
    </ButtonLink>
  );
}

function Compared({ from, to }: { from: Side; to: Side }) {
  const { tenant, fleet } = usePlace();
  const [search] = useFilters();
  const type = typeOf(search["type"]);
  const name = search["name"];
  const cursor = search["cursor"];
  const query = useQuery(compareQuery(tenant, fleet, from, to, { ...(type ? { type } : {}), ...(name ? { name } : {}), ...(cursor ? { cursor } : {}) }));
  return (
    <Loaded query={query} height={400}>
      {(c) => (
        <Section title="Differences">
          <Text size="sm" component="div" mb="md">
            Before: <Numbered revision={c.from} />. After: <Numbered revision={c.to} />.
          </Text>
          {c.items.length === 0 ? <Empty title="Nothing differs">{type !== undefined || name !== undefined ? "Of what fits the filters both have the same." : "Both have the same content."}</Empty> : <Changes comparison={c} sides />}
          <Pager of="differences" next={c.next_cursor} />
        </Section>
      )}
    </Loaded>
  );
}

function Numbered({ revision }: { revision: number }) {
  const { fleet } = usePlace();
  if (revision === 0) return <>Revision 0, the empty fleet</>;
  return (
    <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(revision) }} size="sm" underline="always">
      Revision {revision}
    </TextLink>
  );
}
