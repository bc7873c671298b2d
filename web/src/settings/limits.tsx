// Limits with what is used of them.
import { Badge, Group, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import type { Limit } from "../api/client";
import { amount, fullness, limitWords } from "./words";

export function LimitBars({ items, fleets = false }: { items: readonly Limit[]; fleets?: boolean }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" verticalSpacing="md">
      {items.map((l) => (
        <LimitBar key={l.what} limit={l} note={fleets && l.of === "fleet" && l.used !== undefined ? "of the fleet that uses the most" : undefined} />
      ))}
    </SimpleGrid>
  );
}

function LimitBar({ limit: l, note }: { limit: Limit; note: string | undefined }) {
  const { title, kind } = limitWords[l.what];
  const full = fullness(l);
  const color = full === undefined || full < 75 ? undefined : full < 95 ? "orange" : "red";
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" align="baseline">
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {l.used === undefined ? amount(l.what, l.limit) : `${amount(l.what, l.used)} of ${amount(l.what, l.limit)}`}
        </Text>
      </Group>
      {full !== undefined && <Progress value={full} {...(color === undefined ? {} : { color })} size="sm" aria-label={`${title}: ${Math.round(full)} % used`} />}
      <Group gap="xs">
        {full !== undefined && full >= 100 && (
          <Badge size="sm" color="red" variant="light">
            {kind === "rate" ? "requests have to wait" : "at the limit"}
          </Badge>
        )}
        {note !== undefined && (
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        )}
        {l.overridden && (
          <Text size="xs" c="dimmed">
            set by the operator; {amount(l.what, l.default)} elsewhere
          </Text>
        )}
      </Group>
    </Stack>
  );
}
