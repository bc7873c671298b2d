// What is above the graph and the list: search, node, problems alone, which of both.
import { Checkbox, Group, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePlace } from "../app/place";
import { useFilters } from "../ui/search";
import { nodeChoiceQuery } from "./queries";

export type View = "graph" | "list";

export function Bar({ view }: { view: View }) {
  const [filters, set] = useFilters();
  return (
    <Group align="flex-end" gap="sm">
      <Search />
      <NodeChoice value={filters.node} onChange={(node) => set({ node })} />
      <Checkbox label="Only problems" mb={8} checked={filters.problems === "yes"} onChange={(e) => set({ problems: e.currentTarget.checked ? "yes" : undefined })} />
      <SegmentedControl
        aria-label="Show as"
        ml="auto"
        value={view}
        onChange={(next) => set({ view: next })}
        data={[{ value: "graph", label: "Graph" }, { value: "list", label: "List" }]}
      />
    </Group>
  );
}

function Search() {
  const [{ q }, set] = useFilters();
  const send = useDebouncedCallback((words: string) => set({ q: words === "" ? undefined : words }), 250);
  const [typed, setTyped] = useState(q ?? "");
  const [seen, setSeen] = useState(q);
  if (q !== seen) {
    setSeen(q);
    if (q === undefined) setTyped(""); // "Show all" was pressed
  }
  return (
    <TextInput
      label="Search"
      type="search"
      placeholder="cluster backend"
      value={typed}
      onChange={(e) => {
        setTyped(e.currentTarget.value);
        send(e.currentTarget.value);
      }}
      flex="1 1 12rem"
      maw={{ sm: "22rem" }}
    />
  );
}

function NodeChoice({ value, onChange }: { value: string | undefined; onChange: (node: string | undefined) => void }) {
  const { tenant, fleet } = usePlace();
  const [typed, setTyped] = useState("");
  const [prefix] = useDebouncedValue(typed === value ? "" : typed, 250);
  const { data } = useQuery({ ...nodeChoiceQuery(tenant, fleet, prefix), placeholderData: keepPreviousData });
  const ids = (data?.items ?? []).map((n) => n.id);
  return (
    <Select
      label="Node"
      placeholder="all of the fleet"
      searchable
      clearable
      clearButtonProps={{ "aria-label": "Show all of the fleet" }}
      data={value === undefined || ids.includes(value) ? ids : [value, ...ids]}
      filter={({ options }) => options /* the server has filtered */}
      value={value ?? null}
      onChange={(node) => onChange(node ?? undefined)}
      onSearchChange={setTyped}
      nothingFoundMessage="No node whose id begins so"
      flex="1 1 12rem"
      maw="18rem"
    />
  );
}
