// One edit of the draft: what would become of the resource, what is wrong with it at which line, and the ways on.
import { Alert, Box, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, Refused, takeWhole, type FieldError, type Finding, type PlannedResource, type Resource } from "../api/client";
import { usePlace } from "../app/place";
import { Diff } from "../code";
import { PatchOf } from "../history/patch-view";
import { yamlOf } from "../history/queries";
import { nameOf, ResourceLink } from "../history/resource-link";
import { ButtonLink, TextLink } from "../ui/link";
import { ProblemAlert } from "../ui/problem";
import { Ago } from "../ui/time";
import { DeletionChanged } from "./deletion-changed";
import type { Fault, Place } from "./document";
import { ActionBadge, FindingLines, ReachOfOne } from "./plan-view";
import type { Item } from "./prepare";
import { RevisionLink } from "./publish";
import { putEdit, type Edit } from "./store";

export interface CardProps {
  item: Item;
  planned: PlannedResource | undefined;
  /** What the API says is wrong with it. */
  faults: readonly (Fault & { error?: FieldError })[];
  findings: readonly Finding[];
  /** Of a deletion: what others have made of it since. */
  changed: Resource | undefined;
  onDrop: () => void;
}

export function EditCard({ item, planned, faults, findings, changed, onDrop }: CardProps) {
  const { fleet } = usePlace();
  const { edit } = item;
  const all = [...item.faults, ...faults.filter((f) => f.error?.last_change === undefined)];
  const stale = faults.find((f) => f.error?.last_change !== undefined);
  return (
    <Box component="section" className="section" aria-label={nameOf(edit)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Group gap="sm" miw={0}>
            <ActionBadge action={planned?.action ?? (edit.action === "delete" ? "delete" : edit.base === "" ? "create" : "update")} />
            <Title order={3} size="h5" className="words">
              <ResourceLink of={edit} />
            </Title>
          </Group>
          <Group gap="xs">
            {edit.action === "write" && (
              <ButtonLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: edit.type, name: edit.name }} search={{ variant: edit.variant }} variant="default" size="xs">
                Edit
              </ButtonLink>
            )}
            <Button variant="default" size="xs" onClick={onDrop} aria-label={`Drop the edit of ${nameOf(edit)}`}>
              Drop
            </Button>
          </Group>
        </Group>
        {all.map((f, i) => (
          <FaultLine key={i} fault={f} edit={edit} />
        ))}
        {stale?.error && <StaleEdit edit={edit} error={stale.error} />}
        {changed && <DeletionChanged edit={edit} now={changed} onKeep={onDrop} />}
        {planned?.action === "update" && edit.action === "write" && edit.base === "" && <NotNew planned={planned} />}
        {planned && <ReachOfOne planned={planned} />}
        {findings.length > 0 && <FindingLines findings={findings} about={(f) => <><AtLine place={placeOf(item, f)} edit={edit} />{f.detail}</>} />}
        <Difference edit={edit} planned={planned} />
      </Stack>
    </Box>
  );
}

/** It was begun as new, and one of its name is there. */
function NotNew({ planned }: { planned: PlannedResource }) {
  const { fleet } = usePlace();
  return (
    <Alert color="orange" variant="light" title="There is one of this name already">
      <Text size="sm" component="div">
        Publishing replaces it. {planned.revision !== undefined && <>It was last changed in <RevisionLink fleet={fleet} revision={planned.revision} />.</>} What it takes away stands below in red.
      </Text>
    </Alert>
  );
}

const placeOf = (item: Item, f: Finding) => (f.at !== undefined && item.pointer !== undefined ? item.placeOf(f.at.slice(item.pointer.length)) : undefined);

function Difference({ edit, planned }: { edit: Edit; planned: PlannedResource | undefined }) {
  if (planned?.action === "unchanged") return <Text size="sm">{edit.action === "delete" ? "It is not there: nothing would change." : "The fleet has it so already: nothing would change."}</Text>;
  if (planned) return <PatchOf label={`What changes in ${nameOf(edit)}`} of={planned} />;
  return edit.action === "write" && edit.type !== "secrets" ? <Typed edit={edit} /> : null;
}

/** Without a plan: what was typed beside what was read. */
function Typed({ edit }: { edit: Edit }) {
  const [open, setOpen] = useState(false);
  if (!open) {
    return (
      <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)} style={{ alignSelf: "flex-start" }}>
        Show what you changed
      </Button>
    );
  }
  return <Diff label={`What you changed in ${nameOf(edit)}`} before={edit.base} after={edit.text} language={edit.text.trimStart().startsWith("{") ? "json" : "yaml"} height={360} />;
}

function AtLine({ place, edit }: { place: Place | undefined; edit: Edit }) {
  const { fleet } = usePlace();
  if (!place) return null;
  return (
    <>
      <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: edit.type, name: edit.name }} search={{ variant: edit.variant, line: String(place.line) }} size="sm" underline="always">
        line {place.line}
      </TextLink>
      {": "}
    </>
  );
}

function FaultLine({ fault, edit }: { fault: Fault; edit: Edit }) {
  return (
    <Stack gap={4} role="alert">
      <Text size="sm" c="red" className="words" component="div">
        <AtLine place={fault.place} edit={edit} />
        {fault.detail}
      </Text>
      {fault.place && fault.place.source.trim() !== "" && edit.type !== "secrets" && <Code block>{fault.place.source}</Code>}
    </Stack>
  );
}

/** Somebody has changed it since it was read: merge, or take what is there now as read. */
function StaleEdit({ edit, error }: { edit: Edit; error: FieldError }) {
  const { tenant, author, fleet } = usePlace();
  const over = useMutation({ mutationFn: () => readAnew(tenant, fleet, edit), onSuccess: (anew) => putEdit(author, fleet, anew) });
  return (
    <Stack gap="xs">
      {error.last_change && (
        <Text size="sm" className="words" component="div" role="alert">
          Changed since you read it, in <RevisionLink fleet={fleet} revision={error.last_change.revision} /> by {error.last_change.actor}, <Ago at={error.last_change.at} />.
        </Text>
      )}
      <Group gap="xs">
        <ButtonLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: edit.type, name: edit.name }} search={{ variant: edit.variant }} size="xs">
          Merge in the editor
        </ButtonLink>
        <Button size="xs" variant="default" loading={over.isPending} onClick={() => over.mutate()}>
          Write over it
        </Button>
      </Group>
      {over.error && <ProblemAlert error={over.error} />}
    </Stack>
  );
}

async function readAnew(tenant: string, fleet: string, edit: Edit): Promise<Edit> {
  const rest: Edit = { ...edit };
  delete rest.etag;
  try {
    const { data, headers } = await takeWhole<unknown>(
      api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", {
        params: { path: { tenant, fleet, type: edit.type, name: edit.name }, query: edit.variant ? { variant: edit.variant } : {} },
        parseAs: "text",
      }),
    );
    const etag = headers.get("ETag");
    return { ...rest, base: await yamlOf(String(data)), ...(etag === null ? {} : { etag }) };
  } catch (e) {
    if (e instanceof Refused && e.problem.missing === "resource") return { ...rest, base: "" };
    throw e;
  }
}
