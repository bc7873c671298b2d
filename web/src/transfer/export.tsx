// Export: the fleet as files that "fairlead apply" takes back without a difference.
import { Alert, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ResourceType } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { DataTable } from "../ui/table";
import { size, textOf } from "./documents";
import { saveAs } from "./save";
import { snapshot } from "./snapshot";

interface Made {
  revision: number;
  files: readonly File[];
}

interface File {
  name: string;
  what: string;
  blob: Blob;
}

export function Export() {
  const { tenant, fleet } = usePlace();
  const facts = useQuery(fleetQuery(tenant, fleet));
  return (
    <Page title="Export" about="The fleet's resources as YAML files, all of one revision.">
      <Loaded query={facts} height={200}>
        {({ resources, revision }) => (resources === 0 ? <Empty title="The fleet has no resources yet">There is nothing to export.</Empty> : <Make total={resources} newest={revision} />)}
      </Loaded>
    </Page>
  );
}

function Make({ total, newest }: { total: number; newest: number }) {
  const { tenant, fleet } = usePlace();
  const [read, setRead] = useState(0);
  const make = useMutation({ mutationFn: () => filesOf(tenant, fleet, setRead) });
  return (
    <Stack gap="md">
      <Section title="Make the files">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            <code>fairlead apply -f FILE</code> takes each of them back and finds no difference. A secret is never shown: it stands there as <code>keep: true</code>, which is the secret that the fleet has stored.
          </Text>
          <Button onClick={() => make.mutate()} loading={make.isPending}>
            {make.data ? "Refresh" : `Read ${total} ${total === 1 ? "resource" : "resources"}`}
          </Button>
          {make.isPending && (
            <Stack gap={4} w="100%">
              <Progress value={(100 * read) / Math.max(total, 1)} aria-label="Read so far" />
              <Text size="sm" c="dimmed" role="status">{read} of {total} read</Text>
            </Stack>
          )}
        </Stack>
      </Section>
      {make.error && <ProblemAlert error={make.error} retry={() => make.mutate()} />}
      {make.data && <Files made={make.data} newest={newest} />}
    </Stack>
  );
}

function Files({ made, newest }: { made: Made; newest: number }) {
  return (
    <Section title={`Files of revision ${made.revision}`}>
      <Stack gap="sm">
        {newest > made.revision && <Alert color="yellow" role="status">The fleet is at revision {newest} by now: refresh to export that.</Alert>}
        <DataTable
          label="Files"
          rows={made.files}
          keyOf={(f) => f.name}
          columns={[
            { title: "File", cell: (f) => <span className="mono">{f.name}</span> },
            { title: "Holds", cell: (f) => f.what },
            { title: "Size", cell: (f) => size(f.blob.size), kind: "number" },
            {
              title: "",
              kind: "short",
              cell: (f) => (
                <Group justify="flex-end">
                  <Button size="xs" variant="default" onClick={() => saveAs(f.blob, f.name)} aria-label={`Save ${f.name}`}>
                    Save
                  </Button>
                </Group>
              ),
            },
          ]}
        />
      </Stack>
    </Section>
  );
}

/** Of each type one file, and one of all. A page of resources is in memory at a time; what is made of it is the browser's to keep. */
async function filesOf(tenant: string, fleet: string, told: (read: number) => void): Promise<Made> {
  const types = new Map<ResourceType, { n: number; parts: Blob[] }>();
  let read = 0;
  const revision = await snapshot(tenant, fleet, {}, () => {
    types.clear();
    read = 0;
  }, (items) => {
    const texts = new Map<ResourceType, string[]>();
    for (const r of items) {
      const list = texts.get(r.type);
      if (list) list.push(textOf(r));
      else texts.set(r.type, [textOf(r)]);
    }
    for (const [type, made] of texts) {
      const t = types.get(type) ?? { n: 0, parts: [] };
      t.parts.push(new Blob([(t.n > 0 ? "---\n" : "") + made.join("---\n")]));
      t.n += made.length;
      types.set(type, t);
    }
    read += items.length;
    told(read);
  });
  const each = [...types].map(([type, { n, parts }]): File => ({ name: `${fleet}-${type}.yaml`, what: `${type}, ${n}`, blob: new Blob(parts, { type: "application/yaml" }) }));
  const all: File = {
    name: `${fleet}.yaml`,
    what: `all, ${read} ${read === 1 ? "resource" : "resources"}`,
    blob: new Blob(each.flatMap((f, i) => (i === 0 ? [f.blob] : ["---\n", f.blob])), { type: "application/yaml" }),
  };
  return { revision, files: [all, ...each] };
}
