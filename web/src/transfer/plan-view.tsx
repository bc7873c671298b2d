// What a plan says: what would change, whom it reaches, and what it would leave behind.
import { Alert, Badge, Button, Group, List, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { FieldError, Plan, PlanAction, PlannedResource } from "../api/client";
import { TextLink } from "../ui/link";
import { DataTable } from "../ui/table";
import { DiffText } from "./diff-text";

const color: Record<PlanAction, string> = { create: "teal", update: "blue", delete: "red", unchanged: "gray" };

export function PlanView({ fleet, plan, placeOf }: { fleet: string; plan: Plan; placeOf: (f: FieldError) => FieldError }) {
  const { counts } = plan;
  const changes = plan.resources.filter((r) => r.action !== "unchanged");
  const parts = (["create", "update", "delete", "unchanged"] as const).filter((a) => counts[a] > 0).map((a) => (a === "unchanged" ? `${counts[a]} unchanged` : `${counts[a]} to ${a}`));
  return (
    <Stack gap="md">
      <div>
        <Text fw={600}>{parts.length === 0 ? "Nothing is named" : parts.join(", ")}, compared with revision {plan.revision}</Text>
        <Text size="sm" c="dimmed" className="words">{reachWords(plan)}</Text>
      </div>
      {changes.length > 0 && <Changes fleet={fleet} changes={changes} />}
      {(plan.warnings ?? []).length > 0 && (
        <Alert color="yellow" title="Warnings">
          <List size="sm">
            {(plan.warnings ?? []).map(placeOf).map((w, i) => (
              <List.Item key={i} className="words"><span className="mono">{w.pointer}</span> {w.detail}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Findings plan={plan} />
      {plan.limits.filter((l) => l.used >= 0.9 * l.limit).map((l) => (
        <Alert key={l.what} color="yellow">The fleet would use {l.used} of {l.limit} of its limit {l.what}.</Alert>
      ))}
    </Stack>
  );
}

function reachWords({ reach }: Plan): string {
  if (!reach) return "Which nodes it reaches cannot be told at the moment.";
  if (reach.nodes === 0) return "The fleet has no nodes yet.";
  if (reach.reached === 0) return `It reaches none of ${reach.nodes} nodes.`;
  const some = reach.ids.slice(0, 5);
  const rest = reach.reached - some.length;
  return `It reaches ${reach.incomplete ? "at least " : ""}${reach.reached} of ${reach.nodes} ${reach.nodes === 1 ? "node" : "nodes"}: ${some.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

const step = 50;

function Changes({ fleet, changes }: { fleet: string; changes: readonly PlannedResource[] }) {
  const [shown, setShown] = useState(step);
  const [open, setOpen] = useState<PlannedResource>();
  const key = (r: PlannedResource) => `${r.type}/${r.name}@${r.variant ?? ""}`;
  const name = (r: PlannedResource) => `${r.type}/${r.name}${r.variant === undefined ? "" : `, variant ${r.variant}`}`;
  return (
    <Stack gap="sm" align="flex-start">
      <DataTable
        label="What would change"
        rows={changes.slice(0, shown)}
        keyOf={key}
        columns={[
          {
            title: "Change",
            cell: (r) => (
              <Stack gap="xs">
                <Group gap="xs">
                  <Badge color={color[r.action]} variant="light">{r.action}</Badge>
                  {r.action === "create" ? (
                    <span className="mono">{name(r)}</span>
                  ) : (
                    <TextLink className="mono" to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: r.type, name: r.name }}>{name(r)}</TextLink>
                  )}
                </Group>
                {(r.withheld_by ?? []).length > 0 && (
                  <Text size="sm" c="var(--mantine-color-orange-text)" className="words">withheld from nodes: it needs {(r.withheld_by ?? []).map((b) => `${b.type}/${b.name}`).join(", ")}</Text>
                )}
                {r.hidden && <Text size="sm" c="dimmed">some of the difference is not shown: it is secret</Text>}
                {open === r && <DiffText text={r.diff ?? ""} label={`Difference of ${name(r)}`} />}
              </Stack>
            ),
          },
          { title: "Nodes", kind: "number", cell: (r) => r.nodes ?? "–" },
          {
            title: "",
            kind: "short",
            cell: (r) =>
              r.diff !== undefined && r.diff !== "" ? (
                <Button size="xs" variant="default" aria-expanded={open === r} onClick={() => setOpen(open === r ? undefined : r)} aria-label={`${open === r ? "Hide" : "Show"} the difference of ${name(r)}`}>
                  {open === r ? "Hide" : "Difference"}
                </Button>
              ) : (
                <Text size="sm" c="dimmed">{r.omitted ? "too large to show" : ""}</Text>
              ),
          },
        ]}
      />
      {changes.length > shown && (
        <Button variant="default" size="xs" onClick={() => setShown((n) => n + step)}>Show {Math.min(step, changes.length - shown)} more of {changes.length}</Button>
      )}
    </Stack>
  );
}

function Findings({ plan }: { plan: Plan }) {
  const found = plan.findings;
  if (!found || found.items.length === 0) return null;
  const total = found.errors + found.warnings + found.infos;
  const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;
  return (
    <Alert color={found.errors > 0 ? "red" : found.warnings > 0 ? "yellow" : "blue"} title={`It would leave behind ${total} ${total === 1 ? "finding" : "findings"}`}>
      <Group gap="xs" mb="xs">
        {found.errors > 0 && <Badge color="red" variant="light">{count(found.errors, "error")}</Badge>}
        {found.warnings > 0 && <Badge color="yellow" variant="light">{count(found.warnings, "warning")}</Badge>}
        {found.infos > 0 && <Badge color="blue" variant="light">{count(found.infos, "info")}</Badge>}
      </Group>
      <List size="sm">
        {found.items.map((f, i) => (
          <List.Item key={i} className="words">{f.detail}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
