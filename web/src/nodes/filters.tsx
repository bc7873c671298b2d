// Which nodes are listed. All of it stands in the address.
import { Button, Group, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import type { NodeState } from "../api/client";
import { useFilters } from "../ui/search";
import type { NodeFilters } from "./queries";
import { useTyped } from "./typed";

const states: readonly NodeState[] = ["live", "refusing", "offline"];

export function filtersOf(search: Readonly<Record<string, string | undefined>>): NodeFilters {
  const state = states.find((s) => s === search.state);
  return { ...(state ? { state } : {}), ...(search.prefix ? { prefix: search.prefix } : {}), ...(search.selector ? { selector: search.selector } : {}) };
}

export function Filters() {
  const [search, set] = useFilters();
  const filters = filtersOf(search);
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label="State"
        placeholder="all"
        clearable
        w={{ base: "100%", xs: "9rem" }}
        data={[...states]}
        value={filters.state ?? null}
        onChange={(state) => set({ state: state ?? undefined, after: undefined })}
      />
      <Prefix now={filters.prefix ?? ""} />
      <Selector now={filters.selector ?? ""} />
    </Group>
  );
}

/** It is asked for while it is typed. */
function Prefix({ now }: { now: string }) {
  const [, set] = useFilters();
  const { typed, type, send } = useTyped(now, (prefix) => set({ prefix, after: undefined }));
  const ask = useDebouncedCallback(send, 300);
  return (
    <TextInput
      label="Id begins with"
      w={{ base: "100%", xs: "14rem" }}
      value={typed}
      onChange={(e) => {
        type(e.currentTarget.value);
        ask(e.currentTarget.value);
      }}
    />
  );
}

/** Half a selector is an error: it is asked for when it is whole. */
function Selector({ now }: { now: string }) {
  const [, set] = useFilters();
  const { typed, type, send } = useTyped(now, (selector) => set({ selector, after: undefined }));
  return (
    <Group
      component="form"
      align="flex-end"
      gap="xs"
      wrap="nowrap"
      flex="1 1 18rem"
      onSubmit={(e) => {
        e.preventDefault();
        send(typed);
      }}
    >
      <TextInput label="Selector" placeholder="locality.region=eu,metadata.canary" flex={1} miw={0} value={typed} onChange={(e) => type(e.currentTarget.value)} classNames={{ input: "mono" }} />
      <Button type="submit" variant="default">
        Apply
      </Button>
    </Group>
  );
}
