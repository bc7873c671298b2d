// What differs between two revisions, resource by resource.
import { Box, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Comparison, Difference } from "../api/client";
import { usePlace } from "../app/place";
import { Diff } from "../code";
import { ActionBadge } from "../draft/plan-view";
import { Loaded } from "../ui/loaded";
import { Ago } from "../ui/time";
import { PatchOf } from "./patch-view";
import { documentQuery } from "./queries";
import { nameOf, ResourceLink } from "./resource-link";

interface Props {
  comparison: Comparison;
  /** Show both sides whole from the beginning. */
  sides?: boolean;
  /** What can be done with one. */
  actions?: (d: Difference) => ReactNode;
}

export function Changes({ comparison, sides = false, actions }: Props) {
  return (
    <Stack gap="md">
      {comparison.items.map((d) => (
        <Change key={`${d.type}/${d.name}/${d.variant ?? ""}`} d={d} from={comparison.from} to={comparison.to} sides={sides} actions={actions?.(d)} />
      ))}
    </Stack>
  );
}

interface OneProps {
  d: Difference;
  from: number;
  to: number;
  sides: boolean;
  actions: ReactNode;
}

function Change({ d, from, to, sides, actions }: OneProps) {
  const [both, setBoth] = useState(sides);
  return (
    <Box component="section" className="section" aria-label={nameOf(d)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Group gap="sm" miw={0}>
            <ActionBadge action={d.action} />
            <Title order={3} size="h5" className="words">
              <ResourceLink of={d} />
            </Title>
          </Group>
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={() => setBoth(!both)}>
              {both ? "Only what changed" : "Side by side"}
            </Button>
            {actions}
          </Group>
        </Group>
        <Who d={d} sides={sides} />
        {both ? <Sides d={d} from={from} to={to} /> : <PatchOf label={`What changed in ${nameOf(d)}`} of={d} />}
        {both && d.hidden && (
          <Text size="sm" c="dimmed">
            Some of what differs is not shown: a secret, or a key.
          </Text>
        )}
      </Stack>
    </Box>
  );
}

// Of a revision's own changes the page says who made them.
function Who({ d, sides }: { d: Difference; sides: boolean }) {
  const { before } = d;
  const after = sides ? d.after : undefined;
  if (!before && !after) return null;
  const side = (s: NonNullable<typeof before>) => (
    <>
      revision {s.revision}
      {s.updated_by !== undefined && ` by ${s.updated_by}`}, <Ago at={s.updated_at} />
    </>
  );
  return (
    <Text size="sm" c="dimmed" className="words" component="div">
      {before && <>before: {side(before)}</>}
      {before && after && " · "}
      {after && <>after: {side(after)}</>}
    </Text>
  );
}

/** The whole documents, asked for when they are looked at. */
function Sides({ d, from, to }: { d: Difference; from: number; to: number }) {
  const { tenant, fleet } = usePlace();
  const before = useQuery({ ...documentQuery(tenant, fleet, d, from), enabled: d.before !== undefined });
  const after = useQuery({ ...documentQuery(tenant, fleet, d, to), enabled: d.after !== undefined });
  const label = `${nameOf(d)} at revisions ${from} and ${to}`;
  if (d.before === undefined) return <Loaded query={after} height={320}>{(text) => <Diff label={label} before="" after={text} language="yaml" />}</Loaded>;
  if (d.after === undefined) return <Loaded query={before} height={320}>{(text) => <Diff label={label} before={text} after="" language="yaml" />}</Loaded>;
  return (
    <Loaded query={before} height={320}>
      {(a) => (
        <Loaded query={after} height={320}>
          {(b) => <Diff label={label} before={a} after={b} language="yaml" />}
        </Loaded>
      )}
    </Loaded>
  );
}
