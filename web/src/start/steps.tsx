// The way of a newcomer, as visible steps.
import { Box, Group, Text, ThemeIcon } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";

const steps = [
  { title: "Create a fleet", about: "nodes that get the same configuration" },
  { title: "Connect a node", about: "a token and a file to start it with" },
  { title: "Make the first route", about: "and see the node take it" },
] as const;

/** The steps, of which this one is next, counted from 1. */
export function Steps({ now }: { now: 1 | 2 | 3 }) {
  return (
    <Group component="ol" aria-label="The way to the first route" gap="md" p={0} m={0}>
      {steps.map((s, i) => {
        const n = i + 1;
        return (
          <Group key={s.title} component="li" gap="xs" wrap="nowrap" flex="1 1 13rem" miw={0} {...(n === now ? { "aria-current": "step" as const } : {})}>
            <ThemeIcon radius="xl" size={28} variant={n === now ? "filled" : n < now ? "light" : "default"} aria-hidden>
              {n < now ? <IconCheck size={16} /> : <span>{n}</span>}
            </ThemeIcon>
            <Box miw={0}>
              <Text size="sm" fw={n === now ? 700 : 500} {...(n > now ? { c: "dimmed" } : {})}>
                {s.title}
                {n < now && ": done"}
              </Text>
              <Text size="xs" c="dimmed">
                {s.about}
              </Text>
            </Box>
          </Group>
        );
      })}
    </Group>
  );
}
