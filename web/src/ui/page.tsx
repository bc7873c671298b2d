// The frame of every view: title, what it is about, what can be done.
import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { useEffect, type ReactNode } from "react";

interface Props {
  title: string;
  /** Of the browser's tab; the title, if left out. */
  tab?: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, tab, about, actions, children }: Props) {
  useEffect(() => {
    document.title = `${tab ?? title} · Fairlead`;
  }, [tab, title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0} flex="1 1 16rem">
          <Title order={1} size="h2" className="words">
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" size="sm" component="div">
              {about}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** A card with a heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <Box component="section" className="section" aria-label={title}>
      <Group justify="space-between" mb="sm" gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Box>
  );
}

/** Nothing is there, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" className="empty">
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" ta="center" component="div" maw="36rem">
          {children}
        </Text>
      )}
    </Stack>
  );
}
