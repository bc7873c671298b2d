import { Box, Group, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconCheck, IconClock, IconMinus, IconX, type Icon } from "@tabler/icons-react";
import type { ReceiptState, Revision } from "../api/client";
import { isOfEndpoints, kindWords, revisionsWords } from "../history/run";
import { receiptColor } from "../receipt/words";
import { TextLink } from "../ui/link";
import { Section } from "../ui/page";
import { ReceiptBadge } from "../ui/state";
import { Ago } from "../ui/time";

const signs: Record<ReceiptState, Icon> = { delivered: IconCheck, pending: IconClock, rejected: IconX, stored: IconMinus };

const inWords = 6;

/** The last revisions, the newest first: each as a mark, the newest in words too. */
export function Timeline({ fleet, revisions }: { fleet: string; revisions: readonly Revision[] }) {
  return (
    <Section title="Revisions" aside={<TextLink to="/fleets/$fleet/history" params={{ fleet }} size="sm">All history</TextLink>}>
      <Stack gap="md">
        <Group component="ol" aria-label="Receipts, newest first" gap={6} p={0} m={0}>
          {revisions.map((r) => (
            <Box component="li" key={r.revision} display="flex">
              <Mark fleet={fleet} revision={r} />
            </Box>
          ))}
        </Group>
        <Text size="xs" c="dimmed" mt="-sm">
          Receipts, the newest first
        </Text>
        <Stack component="ul" gap="xs" p={0} m={0}>
          {revisions.slice(0, inWords).map((r) => (
            <Line key={r.revision} fleet={fleet} revision={r} />
          ))}
        </Stack>
      </Stack>
    </Section>
  );
}

function Mark({ fleet, revision: r }: { fleet: string; revision: Revision }) {
  const state = r.receipt ?? "stored";
  const Sign = signs[state];
  const words = `${revisionsWords(r)}: ${r.receipt ?? "receipt not told"}${r.message ? `, ${r.message}` : ""}`;
  return (
    <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(r.revision) }} title={words} aria-label={words} display="flex">
      <ThemeIcon component="span" size={26} variant="light" color={receiptColor[state]} aria-hidden>
        <Sign size={16} />
      </ThemeIcon>
    </TextLink>
  );
}

function Line({ fleet, revision: r }: { fleet: string; revision: Revision }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start" justify="space-between">
      <Box miw={0}>
        <Text size="sm" className="words" lineClamp={2}>
          <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(r.revision) }} size="sm" fw={600}>
            {r.revision}
          </TextLink>{" "}
          {r.message ?? changes(r)}
        </Text>
        <Text size="xs" c="dimmed" className="words">
          {isOfEndpoints(r) ? `${kindWords(r)}, ` : r.message === undefined ? "" : `${changes(r)}, `}
          {r.actor === undefined ? "" : `${r.actor}, `}
          <Ago at={r.committed_at} />
        </Text>
      </Box>
      {r.receipt !== undefined && (
        <Box flex="none">
          <ReceiptBadge state={r.receipt} />
        </Box>
      )}
    </Group>
  );
}

/** "2 created, 1 deleted". */
export function changes(r: Pick<Revision, "created" | "updated" | "deleted">): string {
  const parts: string[] = [];
  if (r.created > 0) parts.push(`${r.created} created`);
  if (r.updated > 0) parts.push(`${r.updated} updated`);
  if (r.deleted > 0) parts.push(`${r.deleted} deleted`);
  return parts.length === 0 ? "nothing changed" : parts.join(", ");
}
