// The xDS servers: who lives, what they serve, and how far they are behind.
import { Badge, Button, Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Server, ServerState } from "../api/client";
import { Loaded } from "../ui/loaded";
import { Empty, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { serversQuery } from "./queries";
import { health, isLate, lagWords } from "./server-words";

function stateOf(word: string | undefined): ServerState | undefined {
  if (word === "all") return undefined;
  return word === "gone" ? "gone" : "live";
}

export function Servers() {
  const [filters, set] = useFilters();
  const state = stateOf(filters.servers);
  const asked = useQuery(serversQuery(state, filters["servers-cursor"]));
  return (
    <Section
      title="xDS servers"
      aside={
        <Button size="xs" variant="default" loading={asked.isFetching && !asked.isPending} onClick={() => void asked.refetch()}>
          Refresh
        </Button>
      }
    >
      <Group justify="space-between" align="flex-end" gap="sm" mb="sm">
        <NativeSelect
          label="State"
          value={state ?? "all"}
          data={[
            { value: "live", label: "Live" },
            { value: "gone", label: "Gone" },
            { value: "all", label: "All" },
          ]}
          onChange={(e) => set({ servers: e.currentTarget.value === "live" ? undefined : e.currentTarget.value, "servers-cursor": undefined })}
        />
        {asked.data && state !== "gone" && filters["servers-cursor"] === undefined && asked.data.next_cursor === undefined && (
          <Text size="sm" role="status">
            {health(asked.data.items)}
          </Text>
        )}
      </Group>
      <Loaded query={asked} height={160}>
        {(list) => (
          <>
            {list.items.length === 0 ? (
              <Empty title="No servers here">{state === "gone" ? "A server that has stopped stands here for a day." : "None tells that it lives. Proxies go on with what they have."}</Empty>
            ) : (
              <ServerTable items={list.items} />
            )}
            <Pager of="servers" word="servers-cursor" next={list.next_cursor} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function ServerTable({ items }: { items: readonly Server[] }) {
  return (
    <DataTable
      label="xDS servers"
      rows={items}
      keyOf={(s) => s.id}
      columns={[
        {
          title: "Server",
          cell: (s) => (
            <>
              <Text size="sm" fw={600} className="words">
                {s.name}
              </Text>
              <Text size="xs" c="dimmed" className="mono">
                {s.id}
              </Text>
            </>
          ),
        },
        {
          title: "State",
          cell: (s) => (
            <Badge variant="light" color={s.state === "live" ? "teal" : "gray"} tt="none">
              {s.state}
            </Badge>
          ),
        },
        { title: "Version", cell: (s) => <span className="mono">{s.version ?? "–"}</span> },
        { title: "Since", kind: "short", cell: (s) => <Ago at={s.started_at} /> },
        { title: "Heard of", kind: "short", cell: (s) => <Ago at={s.seen_at} /> },
        { title: "Streams", kind: "number", cell: (s) => s.streams?.toLocaleString("en") ?? "–" },
        { title: "Fleets", kind: "number", cell: (s) => s.fleets?.toLocaleString("en") ?? "–" },
        {
          title: "Behind by",
          kind: "number",
          cell: (s) => (
            <Text size="sm" span {...(isLate(s) ? { c: "red", fw: 700 } : {})}>
              {lagWords(s)}
              {isLate(s) && ", too much"}
            </Text>
          ),
        },
      ]}
    />
  );
}
