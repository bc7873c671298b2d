import { Badge, Box, Group, Stack, Text, Title } from "@mantine/core";
import { useInViewport } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { FindingList, Fleet } from "../api/client";
import { fleetHealth } from "../overview/fleet-health";
import { HealthBar, useHealth } from "../overview/health-bar";
import { TextLink } from "../ui/link";
import { HealthBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { findingCounts } from "./queries";

/** A fleet at one glance. */
export function FleetCard({ tenant, fleet }: { tenant: string; fleet: Fleet }) {
  const of = useHealth(tenant, fleet);
  const { ref, inViewport } = useInViewport<HTMLElement>();
  const nobody = Object.values(of).every((n) => n === 0);
  const { data: found } = useQuery({ ...findingCounts(tenant, fleet.name), enabled: inViewport && !nobody });
  return (
    <Stack component="li" gap="sm" className="section" ref={ref}>
      <Box>
        <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
          <Title order={2} size="h4" miw={0}>
            <TextLink to="/fleets/$fleet" params={{ fleet: fleet.name }} className="words" inherit>
              {fleet.name}
            </TextLink>
          </Title>
          <HealthBadge health={fleetHealth(fleet, found)} />
        </Group>
        {fleet.description !== "" && (
          <Text size="sm" c="dimmed" lineClamp={2} className="words">
            {fleet.description}
          </Text>
        )}
      </Box>
      <HealthBar of={of} short />
      <Group justify="space-between" gap="xs" mih={24} mt="auto">
        <Text size="sm" c="dimmed">
          {fleet.revision === 0 ? (
            <>
              nothing written yet, created <Ago at={fleet.created_at} />
            </>
          ) : (
            <>
              revision {fleet.revision}, changed <Ago at={fleet.changed_at} />
            </>
          )}
        </Text>
        {nobody ? (
          <TextLink to="/fleets/$fleet/connect" params={{ fleet: fleet.name }} size="sm">
            Connect a node
          </TextLink>
        ) : (
          <CardFindings fleet={fleet.name} found={found} />
        )}
      </Group>
    </Stack>
  );
}

/** They are looked for in all of a fleet, so only for a card that somebody sees. */
function CardFindings({ fleet, found: data }: { fleet: string; found: FindingList | undefined }) {
  if (data === undefined) return null;
  const words = [count(data.errors, "error"), count(data.warnings, "warning")].filter((w) => w !== "");
  if (words.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        no findings
      </Text>
    );
  }
  return (
    <TextLink to="/fleets/$fleet/findings" params={{ fleet }} underline="never">
      <Badge component="span" variant="light" tt="none" color={data.errors > 0 ? "red" : "yellow"}>
        {words.join(", ")} found
      </Badge>
    </TextLink>
  );
}

const count = (n: number, word: string) => (n === 0 ? "" : n === 1 ? `1 ${word}` : `${n} ${word}s`);
