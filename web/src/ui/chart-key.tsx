// Which line of a chart is which.
import { Box, Group, Text } from "@mantine/core";

export function ChartKey({ color, words }: { color: "teal" | "blue" | "red" | "orange"; words: string }) {
  return (
    <Group gap={6}>
      <Box w={14} h={3} bg={`var(--mantine-color-${color}-6)`} aria-hidden />
      <Text size="xs">{words}</Text>
    </Group>
  );
}
