import { Group, Text } from "@mantine/core";

export function Brand() {
  return (
    <Group gap="xs" wrap="nowrap">
      <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" fill="none" stroke="var(--mantine-color-sea-6)" strokeWidth="2" strokeLinecap="round">
        <circle cx="12" cy="12" r="9" />
        <path d="M3 12h6m6 0h6" />
        <circle cx="12" cy="12" r="3" />
      </svg>
      <Text fw={700} component="span">
        Fairlead
      </Text>
    </Group>
  );
}
