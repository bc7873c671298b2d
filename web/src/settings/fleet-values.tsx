// The values of a fleet, which stand in the place of ${fleet.values.NAME} in what is written to it.
import { Button, Code, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Fleet } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { ProblemAlert } from "../ui/problem";
import { DataTable } from "../ui/table";
import { ConfirmButton } from "./confirm";

interface Value {
  name: string;
  text: string;
}

export function FleetValues({ fleet, mine }: { fleet: Fleet; mine: boolean }) {
  const place = usePlace();
  const [editing, setEditing] = useState<Value | undefined>();
  const send = useSend(fleet.etag);
  const rows = Object.entries(fleet.values)
    .map(([name, text]) => ({ name, text }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        <Code>{"${fleet.values.NAME}"}</Code> in a body is the value of that name, put in when the resource is written. What is written already keeps what it was written with; the{" "}
        <TextLink to="/fleets/$fleet/findings" params={place} inherit underline="always">
          findings
        </TextLink>{" "}
        name it. No place for secrets: whoever reads the fleet reads them.
      </Text>
      {rows.length === 0 ? (
        <Text size="sm">There are no values.</Text>
      ) : (
        <DataTable
          label="Values"
          rows={rows}
          keyOf={(v) => v.name}
          columns={[
            { title: "Name", cell: (v) => <span className="mono">{v.name}</span> },
            { title: "Value", cell: (v) => <span className="mono words">{v.text}</span> },
            ...(mine ? [{ title: "", cell: (v: Value) => <Actions value={v} edit={() => setEditing(v)} remove={() => send({ [v.name]: "" })} /> }] : []),
          ]}
        />
      )}
      {mine && (
        <div>
          <Button variant="default" onClick={() => setEditing({ name: "", text: "" })}>
            Add a value
          </Button>
        </div>
      )}
      <Modal opened={editing !== undefined} onClose={() => setEditing(undefined)} title={editing?.name ? `Value of ${editing.name}` : "Add a value"} closeButtonProps={{ "aria-label": "Close" }}>
        {editing && <ValueForm value={editing} etag={fleet.etag} close={() => setEditing(undefined)} />}
      </Modal>
    </Stack>
  );
}

/** Sends some of the values, if the settings are still those that stand here; the others stay. */
function useSend(etag: string) {
  const place = usePlace();
  const client = useQueryClient();
  return async (values: Record<string, string>) => {
    try {
      await take(api.PATCH("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: place, header: { "If-Match": etag } }, body: { values } }));
    } finally {
      await client.invalidateQueries({ queryKey: fleetQuery(place.tenant, place.fleet).queryKey });
    }
  };
}

function Actions({ value, edit, remove }: { value: Value; edit: () => void; remove: () => Promise<unknown> }) {
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button size="xs" variant="default" aria-label={`Edit ${value.name}`} onClick={edit}>
        Edit
      </Button>
      <ConfirmButton label="Remove" name={`Remove ${value.name}`} title={`Remove ${value.name}?`} doIt="Remove it" action={remove}>
        What is written with it stays as it is. The next write that names it is refused.
      </ConfirmButton>
    </Group>
  );
}

function ValueForm({ value, etag, close }: { value: Value; etag: string; close: () => void }) {
  const isNew = value.name === "";
  const [name, setName] = useState(value.name);
  const [text, setText] = useState(value.text);
  const send = useSend(etag);
  const save = useMutation({ mutationFn: () => send({ [name]: text }), onSuccess: close });
  const named = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      <Stack gap="md">
        {isNew && (
          <TextInput
            label="Name"
            description="Letters, digits and _, not a digit first."
            value={name}
            error={name !== "" && !named ? "This cannot be a name" : undefined}
            autoComplete="off"
            data-autofocus
            onChange={(e) => setName(e.currentTarget.value)}
          />
        )}
        <Textarea label="Value" value={text} rows={2} resize="vertical" data-autofocus={!isNew || undefined} onChange={(e) => setText(e.currentTarget.value)} />
        {save.error !== null && <ProblemAlert error={save.error} title="Nothing was changed" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Leave it
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!named || text === ""}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
