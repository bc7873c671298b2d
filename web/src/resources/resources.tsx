import { Badge, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Resource, ResourceType } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { mayWrite } from "../draft/rights";
import { editOf, useDraft, type Edit } from "../draft/store";
import { LeftOut } from "../load/left-out";
import { clusterLoadsQuery, type Loads } from "../load/queries";
import { loadWords } from "../load/words";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable, type Column } from "../ui/table";
import { Ago } from "../ui/time";
import { resourcesQuery } from "./queries";
import { isType, oneOf, types } from "./types";

export function Resources() {
  const { author, fleet } = usePlace();
  const me = useMe();
  const [filters] = useFilters();
  const type = isType(filters.type) ? filters.type : undefined;
  const draft = useDraft(author, fleet);
  const editor = mayWrite(me);
  return (
    <Page
      title="Resources"
      about={editor ? "What the fleet's nodes are sent. Edits gather in the draft until you publish them." : `What the fleet's nodes are sent. Your role, ${me.role ?? "none"}, may look at it and not change it.`}
      actions={
        editor && (
          <>
            {draft.edits.length > 0 && <ButtonLink to="/fleets/$fleet/draft" params={{ fleet }} variant="default">Review and publish ({draft.edits.length})</ButtonLink>}
            <ButtonLink to="/fleets/$fleet/new" params={{ fleet }} search={type ? { type } : {}}>New resource</ButtonLink>
          </>
        )
      }
    >
      <Types active={type} />
      <Filters key={`${filters.prefix ?? ""}/${filters.label ?? ""}`} />
      <NotStored edits={draft.edits.filter((e) => e.action === "write" && e.etag === undefined && (type === undefined || e.type === type))} />
      <List type={type} />
    </Page>
  );
}

/** The types that the fleet has, each with how many. */
function Types({ active }: { active: ResourceType | undefined }) {
  const { tenant, fleet } = usePlace();
  const { data } = useQuery(fleetQuery(tenant, fleet));
  const counts = new Map(data?.counts?.resources.map((c) => [c.type, c.count]));
  const shown = types.filter((t) => (counts.get(t) ?? 0) > 0 || t === active);
  const link = (t: ResourceType | undefined, count: number | undefined) => (
    <ButtonLink
      key={t ?? "all"}
      to="/fleets/$fleet/resources"
      params={{ fleet }}
      search={(old) => ({ ...old, type: t, cursor: undefined })}
      size="compact-sm"
      variant={t === active ? "filled" : "default"}
      aria-current={t === active ? "true" : undefined}
    >
      {t ?? "all types"} {count}
    </ButtonLink>
  );
  return (
    <Group gap="xs" component="nav" aria-label="Types" mih={26}>
      {link(undefined, data?.resources)}
      {shown.map((t) => link(t, counts.get(t)))}
    </Group>
  );
}

const isLabel = (text: string) => text === "" || /^[^=]+=/.test(text);

/** What is typed goes into the address when the typing pauses. */
function Filters() {
  const [filters, setFilters] = useFilters();
  const [prefix, setPrefix] = useState(filters.prefix ?? "");
  const [label, setLabel] = useState(filters.label ?? "");
  const later = useDebouncedCallback((next: { prefix?: string; label?: string }) => setFilters({ ...next, cursor: undefined }), 400);
  return (
    <Group gap="sm" align="flex-start">
      <TextInput
        label="Name begins with"
        value={prefix}
        onChange={(e) => {
          setPrefix(e.currentTarget.value);
          later({ prefix: e.currentTarget.value });
        }}
        flex="1 1 12rem"
        maw={{ sm: "22rem" }}
      />
      <TextInput
        label="Label"
        placeholder="team=shop"
        value={label}
        error={isLabel(label) ? undefined : "Write it as key=value."}
        onChange={(e) => {
          const text = e.currentTarget.value;
          setLabel(text);
          if (isLabel(text)) later({ label: text });
        }}
        flex="1 1 12rem"
        maw={{ sm: "22rem" }}
      />
    </Group>
  );
}

/** What is in the draft alone: no list of the server has it. */
function NotStored({ edits }: { edits: Edit[] }) {
  const { fleet } = usePlace();
  if (edits.length === 0) return null;
  return (
    <Section title="New in the draft">
      <Group gap="sm">
        {edits.map((e) => (
          <TextLink key={`${e.type}/${e.name}/${e.variant ?? ""}`} to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: e.type, name: e.name }} search={e.variant ? { variant: e.variant } : {}} className="words">
            {oneOf(e.type)} {e.name}
            {e.variant ? `, variant ${e.variant}` : ""}
          </TextLink>
        ))}
      </Group>
    </Section>
  );
}

function List({ type }: { type: ResourceType | undefined }) {
  const { tenant, fleet } = usePlace();
  const [{ prefix, label, cursor }] = useFilters();
  const query = useQuery(resourcesQuery(tenant, fleet, { type, prefix, label, cursor }));
  const loads = useLoads(type === "clusters" ? query.data?.items : undefined);
  const filtered = Boolean(prefix ?? label ?? type);
  return (
    <Loaded query={query} height={320}>
      {(page) => (
        <Stack gap="md">
          {page.items.length === 0 ? <Nothing filtered={filtered} later={cursor !== undefined} /> : <Rows rows={page.items} typed={type !== undefined} loads={loads} />}
          {loads && <LeftOut parts={loads.leftOut} />}
          <Pager of="resources" next={page.next_cursor} />
        </Stack>
      )}
    </Loaded>
  );
}

const none: readonly Resource[] = [];

/** What proxies report of the clusters of a page; undefined where they report nothing of them. */
function useLoads(rows: readonly Resource[] = none): Loads | undefined {
  const { tenant, fleet } = usePlace();
  const names = [...new Set(rows.map((r) => r.name))];
  const { data } = useQuery({ ...clusterLoadsQuery(tenant, fleet, names), enabled: names.length > 0 });
  return data && data.items.length > 0 ? data : undefined;
}

function Nothing({ filtered, later }: { filtered: boolean; later: boolean }) {
  const { fleet } = usePlace();
  const me = useMe();
  if (later) return <Empty title="This page has become empty">Resources were deleted meanwhile. Go back to the first page.</Empty>;
  if (filtered) return <Empty title="Nothing matches">No resource has this type, name and label.</Empty>;
  return (
    <Empty title="This fleet has no resources yet">
      {mayWrite(me) ? (
        <>
          Begin with a <TextLink to="/fleets/$fleet/new" params={{ fleet }} search={{ kind: "listener" }}>listener</TextLink>, or <TextLink to="/fleets/$fleet/import" params={{ fleet }}>import</TextLink> what an Envoy has now.
        </>
      ) : (
        "Whoever may write to it can make some."
      )}
    </Empty>
  );
}

interface RowsProps {
  rows: readonly Resource[];
  typed: boolean;
  loads: Loads | undefined;
}

function Rows({ rows, typed, loads }: RowsProps) {
  const { author, fleet } = usePlace();
  const draft = useDraft(author, fleet);
  const loadOf = new Map(loads?.items.map((l) => [l.cluster, l]));
  const first = new Set(new Map(rows.toReversed().map((r) => [r.name, r])).values()); // proxies report by name, whatever the variant
  const requests = (r: Resource) => {
    const load = first.has(r) ? loadOf.get(r.name) : undefined;
    return load && loadWords(load);
  };
  const columns: Column<Resource>[] = [
    { title: "Name", half: !typed, cell: (r) => <Name resource={r} edit={editOf(draft, r)} /> },
    ...(typed ? [] : [{ title: "Type", half: true, cell: (r: Resource) => r.type }]),
    { title: "Labels", cell: (r) => labelsOf(r) },
    ...(loads ? [{ title: "Requests, last hour", kind: "number" as const, cell: requests }] : []),
    { title: "Revision", kind: "number", cell: (r) => <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(r.revision) }} size="sm" aria-label={`Revision ${r.revision}`}>{r.revision}</TextLink> },
    { title: "Changed", half: true, cell: (r) => <><Ago at={r.updated_at} />{r.updated_by ? ` by ${r.updated_by}` : ""}</> },
    { title: "Version", wide: true, cell: (r) => <span className="mono" title={r.version}>{r.version.slice(0, 10)}</span> },
  ];
  return <DataTable label="Resources" columns={columns} rows={rows} keyOf={(r) => `${r.type}/${r.name}/${r.variant ?? ""}`} />;
}

function labelsOf(r: Resource) {
  const labels = Object.entries(r.labels ?? {});
  if (labels.length === 0) return null;
  return (
    <Group gap={4}>
      {labels.map(([k, v]) => (
        <Badge key={k} variant="default" tt="none" fw={400} maw="100%" title={`${k}=${v}`}>
          {k}={v}
        </Badge>
      ))}
    </Group>
  );
}

function Name({ resource, edit }: { resource: Resource; edit: Edit | undefined }) {
  const { fleet } = usePlace();
  const { type, name, variant, selector, description } = resource;
  return (
    <Stack gap={2} align="flex-start">
      <Group gap="xs">
        <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type, name }} search={variant ? { variant } : {}} size="sm" fw={600} className="words">
          {name}
        </TextLink>
        {variant !== undefined && <Badge variant="light" tt="none" color="grape">variant {variant}</Badge>}
        {edit && <Badge variant="light" color={edit.action === "delete" ? "red" : "yellow"} tt="none">{edit.action === "delete" ? "to be deleted" : "edited in the draft"}</Badge>}
      </Group>
      {selector !== undefined && <Text size="xs" c="dimmed"><span className="mono">{selector}</span></Text>}
      {description !== undefined && description !== "" && <Text size="xs" c="dimmed" className="words">{description}</Text>}
    </Stack>
  );
}
