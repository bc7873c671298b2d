// What an import has found: documents to choose from, what is left out and what else is to be known.
import { Alert, Badge, Button, Checkbox, Group, List, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Imported, ImportedResource, ImportNote } from "../api/client";
import { usePlace } from "../app/place";
import { Code } from "../code";
import { editOf, putEdit, useDraft } from "../draft/store";
import { Empty, Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { DataTable } from "../ui/table";
import { size } from "./documents";
import { editsOf } from "./import-edits";
import { yamlOf } from "./yaml";

const keyOf = (r: ImportedResource) => `${r.type}/${r.name}`;

export function Found({ found }: { found: Imported }) {
  return (
    <Stack gap="md">
      {found.left_out.length > 0 && <Notes title="Left out" about="This is lost unless you do something about it." notes={found.left_out} color="yellow" />}
      {found.resources.length > 0 ? <Documents resources={found.resources} /> : <Empty title="Nothing can be taken over">{found.left_out.length > 0 ? "What was left out is told above, with the reasons." : "It has no listeners, clusters or other resources that a control plane serves."}</Empty>}
      {found.notes.length > 0 && <Notes title="Notes" about="Nothing of this is lost." notes={found.notes} color="gray" />}
    </Stack>
  );
}

function Notes({ title, about, notes, color }: { title: string; about: string; notes: readonly ImportNote[]; color: string }) {
  return (
    <Alert color={color} title={`${title}: ${notes.length}`}>
      <Text size="sm" mb="xs">{about}</Text>
      <List size="sm">
        {notes.map((n, i) => (
          <List.Item key={i} className="words">
            <span className="mono">{n.what}</span>: {n.reason}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Documents({ resources }: { resources: readonly ImportedResource[] }) {
  const { tenant, author, fleet } = usePlace();
  const draft = useDraft(author, fleet);
  const navigate = useNavigate();
  const drafted = (r: ImportedResource) => editOf(draft, r) !== undefined;
  // What is in the draft already somebody has typed: it is replaced only by who says so.
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(resources.filter((r) => !drafted(r)).map(keyOf)));
  const [shown, setShown] = useState<ImportedResource>();
  const put = useMutation({
    mutationFn: () => editsOf(tenant, fleet, resources.filter((r) => chosen.has(keyOf(r)))),
    onSuccess: (edits) => {
      for (const edit of edits) putEdit(author, fleet, edit);
      void navigate({ to: "/fleets/$fleet/draft", params: { fleet } });
    },
  });
  const choose = (keys: readonly string[], on: boolean) =>
    setChosen((old) => {
      const next = new Set(old);
      for (const key of keys) if (on) next.add(key);
      else next.delete(key);
      return next;
    });
  const all = chosen.size === resources.length;
  const secrets = resources.some((r) => r.type === "secrets" && chosen.has(keyOf(r)));
  return (
    <Section
      title="What would be taken over"
      aside={<Checkbox label={`All ${resources.length}`} checked={all} indeterminate={!all && chosen.size > 0} onChange={() => choose(resources.map(keyOf), !all)} />}
    >
      <Stack gap="md">
        <DataTable
          label="Documents"
          rows={resources}
          keyOf={keyOf}
          columns={[
            {
              title: "Take",
              cell: (r) => (
                <Group gap="xs">
                  <Checkbox checked={chosen.has(keyOf(r))} onChange={(e) => choose([keyOf(r)], e.currentTarget.checked)} label={<span className="mono">{keyOf(r)}</span>} />
                  {drafted(r) && <Badge color="yellow" variant="light" tt="none">replaces what is in the draft</Badge>}
                </Group>
              ),
            },
            { title: "Size", kind: "number", cell: (r) => size(JSON.stringify(r.body).length) },
            {
              title: "",
              kind: "short",
              cell: (r) => (
                <Button size="xs" variant="default" aria-expanded={shown === r} aria-label={`${shown === r ? "Hide" : "Show"} ${keyOf(r)}`} onClick={() => setShown(shown === r ? undefined : r)}>
                  {shown === r ? "Hide" : "Show"}
                </Button>
              ),
            },
          ]}
        />
        {shown && <Code key={keyOf(shown)} label={keyOf(shown)} text={yamlOf(shown)} language="yaml" readOnly height={420} />}
        {secrets && (
          <Alert color="yellow" title="Private keys are among them">
            A secret stays in this tab until it is published: a reload forgets it, and it has to be imported again.
          </Alert>
        )}
        {put.error && <ProblemAlert error={put.error} title="They are not in the draft" retry={() => put.mutate()} />}
        <Group>
          <Button loading={put.isPending} disabled={chosen.size === 0} onClick={() => put.mutate()}>
            Put {chosen.size} into the draft
          </Button>
          <Text size="sm" c="dimmed">The draft shows what would change before anything is written.</Text>
        </Group>
      </Stack>
    </Section>
  );
}
