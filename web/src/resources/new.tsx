import { Alert, Anchor, Button, Card, Group, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ResourceType } from "../api/client";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { languageOf } from "../code/document";
import { yamlOf } from "../code/convert";
import { Code } from "../code";
import { mayWrite } from "../draft/rights";
import { editOf, placeOf, putEdit, useDraft } from "../draft/store";
import { TextLink } from "../ui/link";
import { Empty, Page, Section } from "../ui/page";
import { useFilters } from "../ui/search";
import { fieldOf, inLanguage, veiled, type Identity } from "./document";
import { DocumentEditor } from "./document-editor";
import { forget, useKept } from "./kept";
import { KindForm } from "./kind-form";
import { variantsQuery } from "./queries";
import { blank, fieldFault, initialOf, kinds, textOf, tlsSecret, type Kind, type Values } from "./templates";
import { TlsFields } from "./tls-fields";
import { isType, oneOf, types } from "./types";

export function NewResource() {
  const me = useMe();
  const { fleet } = usePlace();
  const [filters] = useFilters();
  const kind = kinds.find((k) => k.kind === filters.kind) ?? (filters.kind === "blank" ? undefined : kinds.find((k) => k.type === filters.type));
  const type = isType(filters.type) ? filters.type : undefined;
  if (!mayWrite(me)) {
    return <Page title="New resource"><Empty title="You may look, and not write">Your role is {me.role ?? "none"}. An editor can make resources. <TextLink to="/fleets/$fleet/resources" params={{ fleet }}>To the resources</TextLink></Empty></Page>;
  }
  return (
    <Page title={kind ? `New: ${kind.title}` : "New resource"} about={kind?.about ?? "It goes into the draft first, and to the nodes when you publish it."}>
      <Choices active={kind ? kind.kind : filters.kind === "blank" || type ? "blank" : undefined} />
      {kind?.kind === "secret" ? <NewSecret key="secret" /> : kind ? <FromForm key={kind.kind} kind={kind} /> : (filters.kind === "blank" || type) && <Blank key={type ?? "none"} type={type} />}
    </Page>
  );
}

function Choices({ active }: { active: string | undefined }) {
  const { fleet } = usePlace();
  const choices = [...kinds.map((k) => ({ kind: k.kind, title: k.title, about: k.about })), { kind: "blank", title: "Any other", about: "A blank document of any type." }];
  if (active === undefined) {
    return (
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} component="nav" aria-label="What to make">
        {choices.map((c) => (
          <Card key={c.kind} withBorder>
            <TextLink to="/fleets/$fleet/new" params={{ fleet }} search={{ kind: c.kind }} fw={600}>{c.title}</TextLink>
            <Text size="sm" c="dimmed">{c.about}</Text>
          </Card>
        ))}
      </SimpleGrid>
    );
  }
  return (
    <Group gap="md" component="nav" aria-label="What to make">
      {choices.map((c) => (
        <TextLink key={c.kind} size="sm" to="/fleets/$fleet/new" params={{ fleet }} search={{ kind: c.kind }} fw={c.kind === active ? 700 : 400} aria-current={c.kind === active ? "page" : undefined}>
          {c.title}
        </TextLink>
      ))}
    </Group>
  );
}

const given = (filters: Readonly<Record<string, string | undefined>>): Values => Object.fromEntries(Object.entries(filters).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));

/** A form, and the document that it makes. Who changes the document by hand goes on there. */
function FromForm({ kind }: { kind: Kind }) {
  const { author, fleet } = usePlace();
  const [filters] = useFilters();
  const key = `${placeOf(author, fleet)}/${kind.kind}`;
  const [values, setValues] = useKept(key, initialOf(kind, given(filters)));
  const [hand, setHand] = useKept(`${key}/text`, {}); // its text is there when the document was changed by hand, an emptied one too
  const faulty = kind.fields.some((f) => (f.when?.(values) ?? true) && fieldFault(f, values[f.name] ?? "") !== undefined);
  const text = hand.text ?? textOf(kind, values);
  const done = () => {
    forget(key);
    forget(`${key}/text`);
  };
  return (
    <>
      <Section title="What it is">
        {hand.text !== undefined ? (
          <Text size="sm">
            You changed the document by hand. <Anchor component="button" type="button" size="sm" onClick={() => setHand({})}>Go back to the form</Anchor> and what you changed is dropped.
          </Text>
        ) : (
          <KindForm kind={kind} values={values} onChange={(name, value) => setValues({ ...values, [name]: value })} />
        )}
      </Section>
      <NewDocument type={kind.type} text={text} onChange={(next) => setHand({ text: next })} blocked={hand.text === undefined && faulty ? "Fill in the form first." : undefined} done={done} />
    </>
  );
}

function Blank({ type }: { type: ResourceType | undefined }) {
  const { author, fleet } = usePlace();
  const [filters, setFilters] = useFilters();
  const key = `${placeOf(author, fleet)}/blank/${type ?? ""}`;
  const [kept, setKept] = useKept(key, {});
  return (
    <>
      <Section title="What it is">
        <Select label="Type" placeholder="Choose one" data={types.map((t) => ({ value: t, label: t }))} value={type ?? null} onChange={(t) => setFilters({ kind: "blank", type: t ?? undefined })} maw="20rem" />
      </Section>
      {type && <NewDocument type={type} text={kept.text ?? blank(type, filters.name ?? "")} onChange={(text) => setKept({ text })} done={() => forget(key)} />}
    </>
  );
}

interface NewProps {
  type: ResourceType;
  text: string;
  onChange: (text: string) => void;
  blocked?: string | undefined;
  done: () => void;
}

/** The document before it goes into the draft. */
function NewDocument({ type, text, onChange, blocked, done }: NewProps) {
  const name = fieldOf(text, "name") ?? "";
  const variant = fieldOf(text, "variant");
  const id: Identity = { type, name, ...(variant && { variant }) };
  const add = useAdd(id, text, done);
  const why = blocked ?? (name === "" ? "Give it a name first." : undefined);
  return (
    <Section title="Document">
      <Stack gap="md">
        <DocumentEditor label="New document" id={id} text={text} onChange={onChange} onLanguage={(l) => onChange(inLanguage(text, l))} asked={why === undefined} quiet={why !== undefined} {...(why === undefined && { onSave: add })} />
        <AddButton id={id} why={why} add={add} />
      </Stack>
    </Section>
  );
}

function useAdd(id: Identity, text: string, done: () => void) {
  const { author, fleet } = usePlace();
  const navigate = useNavigate();
  return () => {
    putEdit(author, fleet, { action: "write", ...id, text, base: "", at: new Date().toISOString() });
    done();
    void navigate({ to: "/fleets/$fleet/resources/$type/$name", params: { fleet, type: id.type, name: id.name }, search: id.variant ? { variant: id.variant } : {} });
  };
}

function AddButton({ id, why, add }: { id: Identity; why: string | undefined; add: () => void }) {
  return (
    <Stack gap="sm" align="flex-start">
      {why === undefined && <Already id={id} />}
      <Group gap="sm">
        <Button onClick={add} disabled={why !== undefined}>Add to the draft</Button>
        {why !== undefined && <Text size="sm" c="dimmed">{why}</Text>}
      </Group>
    </Stack>
  );
}

/** Whether there is one of the name: it would be replaced, and that is probably a mistake. */
function Already({ id }: { id: Identity }) {
  const { tenant, author, fleet } = usePlace();
  const [name] = useDebouncedValue(id.name, 400);
  const { data } = useQuery(variantsQuery(tenant, fleet, id.type, name));
  const stored = name === id.name && data?.some((r) => (r.variant ?? "") === (id.variant ?? ""));
  const drafted = editOf(useDraft(author, fleet), id);
  if (!stored && !drafted) return null;
  return (
    <Alert color="yellow" role="status" title={`There is a ${oneOf(id.type)} ${id.name} ${drafted ? "in the draft" : "already"}`}>
      This one would take its place. <TextLink underline="always" to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: id.type, name: id.name }} search={id.variant ? { variant: id.variant } : {}}>See it</TextLink>
    </Alert>
  );
}

/** A secret: its key is typed into a field, and is on no screen afterwards. */
function NewSecret() {
  const [filters] = useFilters();
  const [name, setName] = useState(filters.name ?? "");
  const [text, setText] = useState<string>();
  const id: Identity = { type: "secrets", name: name.trim() };
  const add = useAdd(id, text ?? "", () => setText(undefined));
  if (text === undefined) {
    return (
      <Section title="What it is">
        <Stack gap="sm">
          <TextInput label="Name" description="The one that a listener names." value={name} onChange={(e) => setName(e.currentTarget.value)} required spellCheck={false} autoComplete="off" />
          <TlsFields action="Make the document" disabled={id.name === ""} onDone={(certificate, key) => setText(yamlOf(tlsSecret(id.name, certificate, key)))} />
        </Stack>
      </Section>
    );
  }
  return (
    <Section title="Document">
      <Stack gap="md">
        <Text size="sm">It stays in this tab until you publish it: a reload forgets it.</Text>
        <Code label="New secret, without the key" text={veiled(text)} language={languageOf(text)} readOnly height={400} />
        <AddButton id={id} why={undefined} add={add} />
      </Stack>
    </Section>
  );
}
