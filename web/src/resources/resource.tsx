import { Alert, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Finding, Resource as Stored } from "../api/client";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { Diff } from "../code";
import { languageOf } from "../code/document";
import { mayWrite } from "../draft/rights";
import { Unkept } from "../draft/unkept";
import { ClusterLoad } from "../load/load";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { useFilters } from "../ui/search";
import { Ago } from "../ui/time";
import { findingMarks } from "./check";
import { fieldOf, type Identity } from "./document";
import { DocumentEditor } from "./document-editor";
import { useEditing, type Editing } from "./edit";
import { NodesMatched } from "./nodes-matched";
import { useNamedPlace } from "./place";
import { resourceFindingsQuery, resourceQuery } from "./queries";
import { ResourceHistory } from "./resource-history";
import { SecretContent } from "./secret";
import { Conflicts, StaleEdit } from "./stale";
import { isType, oneOf } from "./types";
import { Variants } from "./variants";

export function Resource() {
  const { type, name } = useParams({ from: "/fleets/$fleet/resources/$type/$name" });
  const [{ variant }] = useFilters();
  const { tenant, fleet } = usePlace();
  if (!isType(type)) return <Empty title={`There are no resources of type ${type}`}><TextLink to="/fleets/$fleet/resources" params={{ fleet }}>To the resources</TextLink></Empty>;
  const id: Identity = { type, name, ...(variant && { variant }) };
  return <Asked key={`${tenant}/${fleet}/${type}/${name}/${variant ?? ""}`} id={id} />;
}

function Asked({ id }: { id: Identity }) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(resourceQuery(tenant, fleet, id.type, id.name, id.variant));
  if (query.data === undefined) return <Page title={id.name}><Loaded query={query} height={560}>{() => null}</Loaded></Page>;
  return <Found id={id} resource={query.data} failed={query.error} />;
}

function Found({ id, resource, failed }: { id: Identity; resource: Stored | null; failed: Error | null }) {
  const { author, fleet } = usePlace();
  const me = useMe();
  const [filters, setFilters] = useFilters();
  const editing = useEditing(author, fleet, id, resource, filters.format === "json" ? "json" : "yaml", (to) => setFilters({ format: to === "json" ? "json" : undefined }));
  const editable = mayWrite(me);
  const { edit } = editing;
  return (
    <Page title={id.name} about={<About id={id} resource={resource} />} actions={editable && (resource ?? edit) && <Actions editing={editing} resource={resource} />}>
      {failed && <Alert color="red" role="alert">It could not be read again: {failed.message}</Alert>}
      {!editable && <Alert color="gray">You may look at this and not change it: your role is {me.role ?? "none"}. An editor can.</Alert>}
      {edit && <Unkept author={author} fleet={fleet} />}
      {!resource && !edit ? <NotThere id={id} editable={editable} /> : <Content id={id} resource={resource} editing={editing} editable={editable} />}
      {id.variant !== undefined && (resource ?? edit) && (
        <Section title="Nodes of this variant">
          <NodesMatched selector={fieldOf(editing.text, "selector") ?? resource?.selector ?? ""} />
        </Section>
      )}
      {(resource ?? edit) && <Variants id={id} text={editing.text} editable={editable && id.type !== "secrets" && edit?.action !== "delete"} />}
      {id.type === "clusters" && resource && <ClusterLoad cluster={id.name} />}
      <ResourceHistory id={id} />
    </Page>
  );
}

function About({ id, resource }: { id: Identity; resource: Stored | null }) {
  const { fleet } = usePlace();
  const labels = Object.entries(resource?.labels ?? {});
  return (
    <Group gap="xs" className="words">
      <span>{oneOf(id.type)}</span>
      {id.variant !== undefined && <Badge variant="light" color="grape" tt="none">variant {id.variant}</Badge>}
      {resource && (
        <span>
          <TextLink size="sm" underline="always" to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(resource.revision) }}>revision {resource.revision}</TextLink>
          {resource.updated_by ? ` by ${resource.updated_by}` : ""}, <Ago at={resource.updated_at} />, version <span className="mono" title={resource.version}>{resource.version.slice(0, 10)}</span>
        </span>
      )}
      {labels.map(([k, v]) => <Badge key={k} variant="default" tt="none" fw={400}>{k}={v}</Badge>)}
    </Group>
  );
}

function Actions({ editing, resource }: { editing: Editing; resource: Stored | null }) {
  const { fleet } = usePlace();
  const { edit } = editing;
  const [asking, setAsking] = useState(false);
  const remove = () => {
    if (edit && !asking) setAsking(true);
    else {
      editing.remove();
      setAsking(false);
    }
  };
  return (
    <>
      {resource && edit?.action !== "delete" && <Button variant="default" c="red" onClick={remove} onBlur={() => setAsking(false)}>{asking ? "Drop the edit and delete?" : "Delete"}</Button>}
      {edit && <Button variant="default" onClick={editing.discard}>{edit.action === "delete" ? "Do not delete" : "Discard the edit"}</Button>}
      {edit && <ButtonLink to="/fleets/$fleet/draft" params={{ fleet }}>Review and publish</ButtonLink>}
    </>
  );
}

function NotThere({ id, editable }: { id: Identity; editable: boolean }) {
  const { fleet } = usePlace();
  return (
    <Empty title={`There is no ${oneOf(id.type)} ${id.name}${id.variant ? `, variant ${id.variant}` : ""}`}>
      It was deleted, or it never was. {editable && <TextLink to="/fleets/$fleet/new" params={{ fleet }} search={{ type: id.type, name: id.name }}>Make it</TextLink>}
    </Empty>
  );
}

interface ContentProps {
  id: Identity;
  resource: Stored | null;
  editing: Editing;
  editable: boolean;
}

function Content({ id, resource, editing, editable }: ContentProps) {
  const { edit } = editing;
  return (
    <Stack gap="md">
      <StaleEdit editing={editing} resource={resource} />
      {edit?.action === "delete" ? (
        <Alert color="red" role="status" title="To be deleted">It goes when the draft is published. Until then nodes keep it.</Alert>
      ) : id.type === "secrets" ? (
        <SecretContent id={id} resource={resource} editing={editing} editable={editable} />
      ) : (
        <Document id={id} resource={resource} editing={editing} editable={editable} />
      )}
    </Stack>
  );
}

const nothing: readonly Finding[] = [];

function Document({ id, resource, editing, editable }: ContentProps) {
  const { tenant, fleet } = usePlace();
  const navigate = useNavigate();
  const [compared, setCompared] = useState(false);
  const { edit, text } = editing;
  const at = useNamedPlace(text);
  const found = useQuery({ ...resourceFindingsQuery(tenant, fleet, id.type, id.name), enabled: resource !== null });
  const items = found.data?.items ?? nothing;
  // Of an edit the server's answer tells them.
  const stored = useMemo(() => (edit ? [] : findingMarks(text, items.filter((f) => (f.variant ?? "") === (id.variant ?? "")))), [edit, text, items, id.variant]);
  return (
    <Section
      title="Document"
      aside={
        edit && (
          <Group gap="sm">
            <Badge variant="light" color="yellow" tt="none">{resource ? "edited, not published" : "new, not published"}</Badge>
            {resource && <Button size="compact-sm" variant="default" aria-expanded={compared} onClick={() => setCompared(!compared)}>{compared ? "Hide the difference" : "Show the difference"}</Button>}
          </Group>
        )
      }
    >
      <Stack gap="md">
        <Conflicts editing={editing} />
        {edit && compared && <Diff label="Stored and edited" before={editing.stored} after={text} language={languageOf(text)} />}
        <DocumentEditor
          label={`Document of ${oneOf(id.type)} ${id.name}`}
          id={id}
          text={text}
          onLanguage={editing.language}
          asked={editable && edit !== undefined}
          more={stored}
          at={at}
          {...(editable && { onChange: editing.change, onSave: () => void navigate({ to: "/fleets/$fleet/draft", params: { fleet } }) })}
        />
        {editable && !edit && <Text size="sm" c="dimmed">What you change here goes into the draft, and to no node before you publish it.</Text>}
      </Stack>
    </Section>
  );
}
