// What happened to the node: each refusal with what was done about it and how it ended, as one line.
import { Badge, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Event } from "../api/client";
import { usePlace } from "../app/place";
import { asked } from "../events/words";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable, type Column } from "../ui/table";
import { Ago } from "../ui/time";
import { nodeEventsQuery } from "./queries";
import { EndedBy, RefLinks, RevisionLink } from "./refs";
import { partOf, stories, type Story } from "./words";

export function Events({ node }: { node: string }) {
  const { tenant, fleet } = usePlace();
  const [{ events }] = useFilters();
  const list = useQuery({ ...nodeEventsQuery(tenant, fleet, node, events), placeholderData: keepPreviousData });
  return (
    <Section
      title="Events"
      aside={
        <TextLink to="/fleets/$fleet/events" params={{ fleet }} search={{ node }} size="sm">
          All events of this node
        </TextLink>
      }
    >
      <Loaded query={list} height={200}>
        {(page) =>
          page.items.length === 0 ? (
            <Empty title="Nothing happened to this node">What it refuses is told here, what was done about it and how it ended. Events are kept for 30 days.</Empty>
          ) : (
            <DataTable label="Events of this node" columns={columns} rows={storiesWithParts(page.items)} keyOf={(s) => s.key} />
          )
        }
      </Loaded>
      <Pager of="events" word="events" next={list.data?.next_cursor} />
    </Section>
  );
}

/** The words of one answer can be about several resources: each line has its own part of them. */
function storiesWithParts(events: readonly Event[]): Story[] {
  const told = stories(events);
  return told.map((s) => {
    const [only, ...more] = s.refs;
    if (s.words === undefined || only === undefined || more.length > 0) return s;
    const others = told.filter((o) => o.words === s.words).flatMap((o) => o.refs.map((r) => r.name));
    return { ...s, words: partOf(s.words, only.name, others) };
  });
}

const colors: Record<Event["kind"], string> = { refused: "red", kept_back: "orange", recovered: "teal", offered: "yellow", duplicates: "yellow", dropped: "yellow", denied: "red", withheld: "yellow" };

const columns: readonly Column<Story>[] = [
  { title: "At", kind: "short", cell: (s) => <Ago at={s.at} /> },
  { title: "Event", kind: "short", cell: (s) => <Badge variant="light" color={s.endedAt === undefined ? colors[s.kind] : "gray"}>{s.kind.replaceAll("_", " ")}</Badge> },
  { title: "What happened", cell: (s) => <What of={s} /> },
  { title: "Ended", kind: "short", cell: (s) => <Ended of={s} /> },
];

function What({ of: s }: { of: Story }) {
  return (
    <>
      <Text size="sm" component="div">
        <RefLinks of={s.refs} />
        {s.revision !== undefined && s.revision > 0 && <>{s.refs.length > 0 && ", "}<RevisionLink of={s.revision} /></>}
      </Text>
      {s.words !== undefined && <Text size="sm" className="words">{s.words}</Text>}
      {s.action !== undefined && <Text size="sm" c="dimmed" className="words">{s.action}</Text>}
      <Denied of={s.event} />
    </>
  );
}

function Denied({ of: e }: { of: Event }) {
  if (e.kind !== "denied" && e.kind !== "withheld") return null;
  const from = e.address === undefined ? "" : ` from ${e.address}`;
  const times = e.attempts !== undefined && e.attempts > 1 ? `, ${e.attempts} times` : "";
  const refused = e.reason !== undefined && asked.has(e.reason) ? "A client does not get what it asks for" : "A client was not let in";
  const what = e.kind === "withheld" ? "A resource is withheld from a client" : refused;
  return <Text size="sm" className="words">{`${what}${from}${times}: ${deniedWords[e.reason ?? "token_wrong"]}`}</Text>;
}

const deniedWords: Record<NonNullable<Event["reason"]>, string> = {
  token_wrong: "its node token is not the one of its credential",
  token_revoked: "its node credential is revoked",
  token_expired: "its node credential has expired",
  node_id_forbidden: "its node credential is not for nodes of this id",
  node_id_taken: "another client has this id, and the fleet lets each id in once",
  routed: "its call came through a proxy, which has lent it the credential",
  type_not_served: "it asks for a type of resource that is not served, and gets no answer",
  names_over_limit: "it asks for more than it may, and is told that the rest does not exist",
  request_refused: "its stream is refused for what it asks",
  withheld_missing: "a resource is kept from it, as what that names does not exist",
  withheld_refused: "a resource is kept from it, as it refuses what that names",
  withheld_sealed: "a secret is kept from it, as its xDS server has no key for that",
  withheld_too_large: "a resource is kept from it, as the set with that is larger than it takes at once",
};

function Ended({ of: s }: { of: Story }) {
  if (s.endedAt === undefined) return s.kind === "refused" ? "it stands" : "";
  return <EndedBy how={s.endedAs} by={s.endedBy} at={s.endedAt} />;
}
