// What stands at the lines, as a list below the editor: for those who do not see the waves.
import { Badge, Group, Stack, Text } from "@mantine/core";
import type { Mark } from "../code";
import { lineOf } from "../code/pointer";

const colors = { error: "red", warning: "yellow", info: "blue" } as const;

export function MarkList({ text, marks }: { text: string; marks: readonly Mark[] }) {
  if (marks.length === 0) return null;
  const shown = marks.slice(0, 20);
  return (
    <Stack gap={4} component="ul" p={0} m={0} aria-label="Faults and findings">
      {shown.map((m, i) => (
        <Group key={i} component="li" gap="xs" wrap="nowrap" align="flex-start">
          <Badge color={colors[m.severity]} variant="light" miw={72} flex="none">{m.severity}</Badge>
          <Text size="sm" className="words">
            Line {lineOf(text, m.from)}: {m.message}
          </Text>
        </Group>
      ))}
      {marks.length > shown.length && <Text size="sm" component="li" c="dimmed">and {marks.length - shown.length} more</Text>}
    </Stack>
  );
}
