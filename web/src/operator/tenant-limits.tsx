import { Button, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Limit, type LimitsUpdate } from "../api/client";
import { amount, limitWords } from "../settings/words";
import { Loaded } from "../ui/loaded";
import { ProblemAlert } from "../ui/problem";
import { hasFault, limitChanges, wholeNumber, type Typed } from "./limit-changes";
import { limitsQuery } from "./queries";

export function TenantLimits({ tenant }: { tenant: string }) {
  const asked = useQuery(limitsQuery(tenant));
  return (
    <Loaded query={asked} height={420}>
      {(limits) => <LimitsForm tenant={tenant} items={limits.items} />}
    </Loaded>
  );
}

function LimitsForm({ tenant, items }: { tenant: string; items: readonly Limit[] }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState<Typed>({});
  const update = limitChanges(items, typed);
  const changed = Object.keys(update).length > 0;
  const save = useMutation({
    mutationFn: (body: LimitsUpdate) => take(api.PATCH("/v1/tenants/{tenant}/limits", { params: { path: { tenant } }, body })),
    onSuccess: (now) => {
      client.setQueryData(limitsQuery(tenant).queryKey, now);
      setTyped({});
    },
  });
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (changed) save.mutate(update);
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          An empty field is the default. What is stored already stays, also above a limit that is lowered: it can then only become less. The tenant finds the change in its audit.
        </Text>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          {items.map((l) => (
            <LimitField key={l.what} limit={l} value={typed[l.what] ?? (l.overridden ? String(l.limit) : "")} set={(text) => setTyped((old) => ({ ...old, [l.what]: text }))} />
          ))}
        </SimpleGrid>
        {save.error !== null && <ProblemAlert error={save.error} title="No limit was changed" />}
        <Group justify="flex-end" gap="sm">
          <Text size="sm" role="status">
            {save.isSuccess && !changed ? "Saved." : ""}
          </Text>
          <Button type="submit" loading={save.isPending} disabled={!changed || hasFault(typed)}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function LimitField({ limit: l, value, set }: { limit: Limit; value: string; set: (text: string) => void }) {
  const words = limitWords[l.what];
  const wrong = value.trim() !== "" && wholeNumber(value) === undefined;
  const n = wholeNumber(value);
  return (
    <TextInput
      label={words.title.replace("your token", "a token")}
      description={`Default ${amount(l.what, l.default)}${l.of === "fleet" ? ", for each fleet" : ""}${words.kind === "bytes" && n !== undefined ? `; now ${amount(l.what, n)}` : ""}`}
      value={value}
      placeholder={String(l.default)}
      inputMode="numeric"
      error={wrong ? "A whole number, or nothing" : undefined}
      onChange={(e) => set(e.currentTarget.value)}
    />
  );
}
