// A secret: what is stored never comes back. It is kept, or written anew.
import { Alert, Badge, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import type { Resource, SecretSummary } from "../api/client";
import { Code } from "../code";
import { languageOf } from "../code/document";
import { Section } from "../ui/page";
import { Ago, exact } from "../ui/time";
import { veiled, type Identity } from "./document";
import { DocumentEditor } from "./document-editor";
import type { Editing } from "./edit";
import { TlsFields } from "./tls-fields";
import { tlsSecret } from "./templates";
import { yamlOf } from "../code/convert";

interface Props {
  id: Identity;
  resource: Resource | null;
  editing: Editing;
  editable: boolean;
}

export function SecretContent({ id, resource, editing, editable }: Props) {
  const [writing, setWriting] = useState<"no" | "tls" | "document">("no");
  const { edit } = editing;
  return (
    <>
      {resource?.secret && (
        <Section title="Stored">
          <Summary secret={resource.secret} />
        </Section>
      )}
      {edit && writing !== "document" && (
        <Section title="New content" aside={<Badge variant="light" color="yellow" tt="none">not published</Badge>}>
          <Stack gap="sm">
            <Text size="sm">It stays in this tab until you publish it: a reload forgets it.</Text>
            <Code label="New content, without the key" text={veiled(edit.text)} language={languageOf(edit.text)} readOnly height={320} />
          </Stack>
        </Section>
      )}
      {editable && writing === "no" && (
        <Group gap="sm">
          <Button variant="default" onClick={() => setWriting("tls")}>Replace the certificate and key</Button>
          <Button variant="default" onClick={() => setWriting("document")}>Write it as a document</Button>
        </Group>
      )}
      {writing === "tls" && (
        <Section title="Certificate and key">
          <TlsFields
            action="Add to the draft"
            onCancel={() => setWriting("no")}
            onDone={(certificate, key) => {
              const head = { ...(id.variant && { variant: id.variant }), ...(resource?.selector && { selector: resource.selector }), ...(resource?.labels && { labels: resource.labels }), ...(resource?.description && { description: resource.description }) };
              editing.change(yamlOf({ ...tlsSecret(id.name, certificate, key), ...head }));
              setWriting("no");
            }}
          />
        </Section>
      )}
      {writing === "document" && <AsDocument id={id} editing={editing} done={() => setWriting("no")} />}
    </>
  );
}

function AsDocument({ id, editing, done }: { id: Identity; editing: Editing; done: () => void }) {
  return (
    <Section title="Document" aside={<Button size="compact-sm" variant="default" onClick={done}>Hide it</Button>}>
      <Stack gap="sm">
        <Alert color="gray">Put a body in the place of “keep: true”, which stands for what is stored. What you type stays in this tab until you publish it: a reload forgets it.</Alert>
        <DocumentEditor label={`Document of secret ${id.name}`} id={id} text={editing.text} onChange={editing.change} onLanguage={editing.language} asked={editing.edit !== undefined} />
      </Stack>
    </Section>
  );
}

function Summary({ secret }: { secret: SecretSummary }) {
  const rows: [string, React.ReactNode][] = [["Kind", secret.kind]];
  if (secret.subject) rows.push(["Subject", secret.subject]);
  if (secret.sans?.length) rows.push(["Names", secret.sans.join(", ")]);
  if (secret.not_after) rows.push(["Good until", <>{exact(secret.not_after)} (<Ago at={secret.not_after} />)</>]);
  if (secret.fingerprint) rows.push(["Fingerprint", <span className="mono">{secret.fingerprint}</span>]);
  return (
    <>
      <Table variant="vertical" layout="auto" withRowBorders={false} aria-label="What is known of the secret">
        <Table.Tbody>
          {rows.map(([title, value]) => (
            <Table.Tr key={title}>
              <Table.Th w={120} scope="row">{title}</Table.Th>
              <Table.Td className="words">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed" mt="xs">The content itself is sealed, and no answer shows it.</Text>
    </>
  );
}
