// What a plan tells of the whole: how many resources, whom it reaches, what it would leave behind.
import { Alert, Badge, Group, List, Progress, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { FieldError, Finding, Plan, PlanAction, PlanLimit, PlannedResource, PlanReach, WriteFindings } from "../api/client";
import { FindingWords, NodeLinks } from "../history/resource-link";

const actionColor: Record<PlanAction, string> = { create: "teal", update: "blue", delete: "red", unchanged: "gray" };

export function ActionBadge({ action }: { action: PlanAction }) {
  return (
    <Badge color={actionColor[action]} variant="light" miw="5.5rem">
      {action}
    </Badge>
  );
}

/** "1 to update, 2 to delete". */
export function countsSentence({ counts: c }: Pick<Plan, "counts">): string {
  const parts = [c.create > 0 && `${c.create} to create`, c.update > 0 && `${c.update} to update`, c.delete > 0 && `${c.delete} to delete`, c.unchanged > 0 && `${c.unchanged} unchanged`].filter((p) => p !== false);
  return parts.length === 0 ? "nothing to change" : parts.join(", ");
}

export const changesNothing = ({ counts: c }: Pick<Plan, "counts">) => c.create + c.update + c.delete === 0;

export function PlanSummary({ plan }: { plan: Plan }) {
  return (
    <Stack gap="sm">
      <Text fw={600}>
        {countsSentence(plan)}, compared with revision {plan.revision}
      </Text>
      <Reach reach={plan.reach} />
      {plan.limits.filter((l) => l.used >= 0.9 * l.limit).map((l) => <NearLimit key={l.what} limit={l} />)}
      {plan.findings && <FindingCounts findings={plan.findings} />}
    </Stack>
  );
}

function Reach({ reach }: { reach: PlanReach | undefined }) {
  if (!reach) return <Text size="sm">Whom it reaches cannot be told at the moment.</Text>;
  if (reach.nodes === 0) return <Text size="sm">The fleet has no nodes yet: nobody is reached.</Text>;
  if (reach.reached === 0) return <Text size="sm">It reaches none of the {reach.nodes} nodes: each has it so, or is not meant.</Text>;
  return (
    <Stack gap={4}>
      <Text size="sm">
        It reaches {reach.reached} of {reach.nodes} {reach.nodes === 1 ? "node" : "nodes"}
        {reach.incomplete && " that were looked at, and perhaps more"}: <NodeLinks ids={reach.ids} of={reach.reached} />
      </Text>
      <Progress value={(100 * reach.reached) / Math.max(1, reach.nodes)} aria-label={`${reach.reached} of ${reach.nodes} nodes are reached`} />
      {reach.views.length > 1 && (
        <Text size="sm" c="dimmed">
          Alike to the selectors: {reach.views.slice(0, 8).map((v) => `${v.nodes} like ${v.example}`).join(", ")}
          {(reach.views.length > 8 || reach.more_views) && " and others"}
        </Text>
      )}
    </Stack>
  );
}

function NearLimit({ limit }: { limit: PlanLimit }) {
  return (
    <Text size="sm" c="orange">
      Of the limit {limit.what.replaceAll("_", " ")} {Math.round((100 * limit.used) / Math.max(1, limit.limit))} % would be used.
    </Text>
  );
}

function FindingCounts({ findings: f }: { findings: WriteFindings }) {
  if (f.errors + f.warnings === 0) return <Text size="sm">No errors and no warnings are found in it.</Text>;
  return (
    <Text size="sm">
      {[f.errors > 0 && (f.errors === 1 ? "1 error" : `${f.errors} errors`), f.warnings > 0 && (f.warnings === 1 ? "1 warning" : `${f.warnings} warnings`)].filter((w) => w !== false).join(" and ")} would be left behind, told below.
    </Text>
  );
}

export const severityColor = { error: "red", warning: "yellow", info: "blue" } as const;

/** Findings, each with the resource that it is about and, where it is known, the line. */
export function FindingLines({ findings, about }: { findings: readonly Finding[]; about?: (f: Finding) => ReactNode }) {
  return (
    <Stack gap={6}>
      {findings.map((f, i) => (
        <Group key={i} gap="xs" align="flex-start" wrap="nowrap">
          <Badge color={severityColor[f.severity]} variant="light" style={{ flexShrink: 0 }}>
            {f.severity}
          </Badge>
          <Text size="sm" className="words" component="div" miw={0}>
            {about?.(f) ?? <FindingWords finding={f} />}
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

export function WarningLines({ warnings }: { warnings: readonly Pick<FieldError, "detail">[] }) {
  return (
    <Alert color="yellow" variant="light" title="To be known">
      <List size="sm">
        {warnings.map((w, i) => (
          <List.Item key={i} className="words">
            {w.detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Of one resource: for how many nodes it is, and what would keep it from them. */
export function ReachOfOne({ planned: p }: { planned: PlannedResource }) {
  return (
    <>
      {p.nodes !== undefined && p.action !== "unchanged" && (
        <Text size="sm" c="dimmed">
          {p.nodes === 0 ? "for no node at present" : p.nodes === 1 ? "for 1 node" : `for ${p.nodes} nodes`}
        </Text>
      )}
      {p.withheld_by && p.withheld_by.length > 0 && (
        <Alert color="orange" variant="light" title="Nodes would wait for what it names">
          <Text size="sm" component="div" className="words">
            {p.withheld_by.map((r) => `${r.type}/${r.name}`).join(", ")} would not be there. Until it is, nodes keep what they have of this, or go without it.
          </Text>
        </Alert>
      )}
    </>
  );
}
