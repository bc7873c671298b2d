// What happened to the nodes of a fleet.
import "./events.css";
import { Group, NativeSelect, SegmentedControl, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../app/place";
import { FilterText } from "../settings/filter";
import { TextLink } from "../ui/link";
import { FilterFold } from "../ui/filters";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { EventCard } from "./event";
import { eventsQuery } from "./queries";
import { kindWord, kindWords } from "./words";

const spans = [
  { value: "", label: "the last 30 days" },
  { value: "168h", label: "the last 7 days" },
  { value: "24h", label: "the last 24 hours" },
  { value: "1h", label: "the last hour" },
  { value: "10m", label: "the last 10 minutes" },
];

export function Events() {
  const { tenant, fleet } = usePlace();
  const [filters, set] = useFilters();
  const { node, since, cursor } = filters;
  const kind = kindWord(filters.kind);
  const grouped = filters.each !== "yes";
  const asked = useQuery(eventsQuery(tenant, fleet, { kind, node, since, grouped, cursor }));
  const known = since === undefined || spans.some((s) => s.value === since);
  return (
    <Page title="Events" tab={`Events of ${fleet}`} about="Refusals, what was done about them and how they ended, and clients that were not let in. The newest 10,000 are kept, for 30 days.">
      <FilterFold set={[node, kind, since].filter((f) => f !== undefined).length}>
        <Group gap="sm" align="flex-end" role="search" aria-label="Which events">
          <FilterText label="Node" placeholder="the node's whole id" value={node} set={(v) => set({ node: v, cursor: undefined })} />
          <NativeSelect
            label="What"
            value={kind ?? ""}
            data={[{ value: "", label: "everything" }, ...Object.entries(kindWords).map(([value, label]) => ({ value, label }))]}
            onChange={(e) => set({ kind: e.currentTarget.value || undefined, cursor: undefined })}
          />
          <NativeSelect
            label="When"
            value={since ?? ""}
            data={known ? spans : [...spans, { value: since, label: `since ${since}` }]}
            onChange={(e) => set({ since: e.currentTarget.value || undefined, cursor: undefined })}
          />
          <SegmentedControl
            aria-label="The same of several nodes"
            value={grouped ? "grouped" : "each"}
            data={[
              { value: "grouped", label: "Grouped" },
              { value: "each", label: "Each one" },
            ]}
            onChange={(v) => set({ each: v === "each" ? "yes" : undefined, cursor: undefined })}
          />
        </Group>
      </FilterFold>
      <Loaded query={asked} height={360}>
        {(list) => (
          <div>
            {list.items.length === 0 ? (
              <Nothing filtered={kind !== undefined || node !== undefined || since !== undefined} fleet={fleet} />
            ) : (
              <Stack component="ol" gap="sm" className="ev-list" aria-label="Events">
                {list.items.map((e, i) => (
                  <EventCard key={e.id ?? `${e.at} ${i}`} fleet={fleet} event={e} />
                ))}
              </Stack>
            )}
            <Pager of="events" next={list.next_cursor} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Nothing({ filtered, fleet }: { filtered: boolean; fleet: string }) {
  if (filtered) return <Empty title="No such events">Nothing of the kind happened, or it is older than what is kept.</Empty>;
  return (
    <Empty title="Nothing has happened yet">
      No node has refused anything. What <TextLink to="/fleets/$fleet/nodes" params={{ fleet }} inherit underline="always">the nodes</TextLink> refuse stands here as soon as they say it.
    </Empty>
  );
}
