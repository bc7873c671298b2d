// A new tenant, and then its first token: without one nobody enters it.
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take } from "../api/client";
import { useMe } from "../app/session";
import { NewToken } from "../settings/token-new";
import { rolesOf } from "../settings/words";
import { ProblemAlert } from "../ui/problem";

export function NewTenant({ close }: { close: () => void }) {
  const me = useMe();
  const client = useQueryClient();
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const make = useMutation({
    mutationFn: () => take(api.POST("/v1/tenants", { body: { slug, ...(name.trim() === "" ? {} : { name: name.trim() }) } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tenants"] }),
  });
  if (make.data) {
    return (
      <Stack gap="md">
        <Text size="sm" role="status" className="words">
          The tenant {make.data.slug} is there. Nobody can enter it yet: make its first token, for whoever owns it.
        </Text>
        <NewToken tenant={make.data.slug} roles={rolesOf(me)} mayHandOver={false} operator name="first owner" role="owner" close={close} />
      </Stack>
    );
  }
  const good = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(slug) && slug.length <= 63;
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Slug"
          description="By which it is known: lower-case letters, digits and inner hyphens. It never changes."
          value={slug}
          error={slug !== "" && !good ? "This cannot be a slug" : undefined}
          autoComplete="off"
          data-autofocus
          onChange={(e) => setSlug(e.currentTarget.value)}
        />
        <TextInput label="Name" description="For people; the slug, if left empty." value={name} autoComplete="off" onChange={(e) => setName(e.currentTarget.value)} />
        {make.error !== null && <ProblemAlert error={make.error} title="No tenant was created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Leave it
          </Button>
          <Button type="submit" loading={make.isPending} disabled={!good}>
            Create it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
