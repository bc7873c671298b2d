// What the node should hold, resource by resource.
import { Badge, Box, Button, Group, Select, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Node, NodeResource, NodeResourceState } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable, type Column } from "../ui/table";
import { HeldDrawer } from "./held";
import { configQuery, type ConfigFilters } from "./queries";
import { RefLink, RevisionLink } from "./refs";
import { useTyped } from "./typed";
import { listedStates, resourceTypes, stateWord, stateWords } from "./types";
import { refText } from "./words";

export function Config({ node }: { node: Node }) {
  const { tenant, fleet } = usePlace();
  const [search] = useFilters();
  const { held } = search;
  const type = resourceTypes.find((t) => t === search.type);
  const state = listedStates.find((s) => s === search.holds);
  const filters: ConfigFilters = { ...(type ? { type } : {}), ...(state ? { state } : {}) };
  const words = search.name?.trim() ?? "";
  const list = useQuery({ ...configQuery(tenant, fleet, node.id, filters, words, held), placeholderData: keepPreviousData });
  const narrowed = type !== undefined || state !== undefined || words !== "" || held !== undefined;
  return (
    <Section title="What it holds">
      <ConfigFilter filters={filters} words={words} />
      <Box className="page-of-nodes held" mt="md" data-old={list.isPlaceholderData} aria-busy={list.isPlaceholderData}>
        <Loaded query={list} height={280}>
          {(page) => (
            <>
              {page.items.length === 0 ? <None narrowed={narrowed} more={page.next_cursor !== undefined} /> : <DataTable label="Resources of this node" columns={columns} rows={page.items} keyOf={refText} />}
              {words !== "" && page.next_cursor !== undefined && (
                <Text size="sm" c="dimmed" mt="sm">
                  The names are looked through 2,000 resources at a time. The next page looks on.
                </Text>
              )}
            </>
          )}
        </Loaded>
        <Pager of="resources" word="held" next={list.data?.next_cursor} />
      </Box>
      <HeldDrawer node={node} />
    </Section>
  );
}

const columns: readonly Column<NodeResource>[] = [
  { title: "Resource", cell: (r) => <Name of={r} /> },
  { title: "State", kind: "short", cell: (r) => <ResourceStateBadge state={r.state} /> },
  { title: "Version", kind: "short", cell: (r) => <InForce of={r} /> },
  { title: "More", kind: "short", cell: (r) => <Look of={r} /> },
];

function Name({ of: r }: { of: NodeResource }) {
  const name = <RefLink of={r} variant={r.variant} />;
  if (r.variant === undefined) return name;
  return (
    <>
      {name}
      <Text size="sm" c="dimmed" className="words">{`variant ${r.variant}`}</Text>
    </>
  );
}

export function ResourceStateBadge({ state }: { state: NodeResourceState }) {
  return (
    <Badge color={stateWords[state].color} variant="light" title={stateWords[state].means}>
      {stateWord(state)}
    </Badge>
  );
}

function InForce({ of: r }: { of: NodeResource }) {
  if (r.state === "absent") return "nothing";
  if (r.revision === undefined) return r.version === undefined ? "not known" : "a version that is not kept";
  return <RevisionLink of={r.revision} />;
}

function Look({ of: r }: { of: NodeResource }) {
  return (
    <TextLink to="." search={(old) => ({ ...old, open: refText(r) })} resetScroll={false} size="sm" aria-label={`Body of ${refText(r)}, and why`}>
      Body and why
    </TextLink>
  );
}

function ConfigFilter({ filters, words }: { filters: ConfigFilters; words: string }) {
  const [, set] = useFilters();
  const { typed, type, send } = useTyped(words, (name) => set({ name, held: undefined }));
  const ask = useDebouncedCallback(send, 300);
  return (
    <Group gap="sm" align="flex-end">
      <Select label="Type" placeholder="all" clearable w={{ base: "100%", xs: "11rem" }} data={[...resourceTypes]} value={filters.type ?? null} onChange={(t) => set({ type: t ?? undefined, held: undefined })} />
      <Select
        label="State for this node"
        placeholder="all"
        clearable
        w={{ base: "100%", xs: "11rem" }}
        data={listedStates.map((value) => ({ value, label: stateWord(value) }))}
        value={filters.state ?? null}
        onChange={(s) => set({ holds: s ?? undefined, held: undefined })}
      />
      <TextInput
        label="Name contains"
        flex="1 1 12rem"
        value={typed}
        onChange={(e) => {
          type(e.currentTarget.value);
          ask(e.currentTarget.value);
        }}
      />
    </Group>
  );
}

function None({ narrowed, more }: { narrowed: boolean; more: boolean }) {
  const [, set] = useFilters();
  if (!narrowed) return <Empty title="The fleet has nothing for this node yet">Resources come with the first revision.</Empty>;
  return (
    <Empty title={more ? "None among those that were looked at" : "No resource of this node is like that"}>
      <Button variant="default" mt="xs" onClick={() => set({ type: undefined, holds: undefined, name: undefined, held: undefined })}>
        Show all it holds
      </Button>
    </Empty>
  );
}
