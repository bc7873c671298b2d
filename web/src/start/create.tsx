import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, take } from "../api/client";
import { ProblemAlert } from "../ui/problem";

const slug = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Makes a fleet, and goes on to its first node. */
export function CreateFleet({ tenant, suggest = "", onCancel }: { tenant: string; suggest?: string; onCancel?: () => void }) {
  const [name, setName] = useState(suggest);
  const [description, setDescription] = useState("");
  const navigate = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      take(api.POST("/v1/tenants/{tenant}/fleets", { params: { path: { tenant } }, body: { name, ...(description === "" ? {} : { description }) } })),
    onSuccess: async (fleet) => {
      void client.invalidateQueries({ queryKey: ["fleets"] });
      await navigate({ to: "/fleets/$fleet/connect", params: { fleet: fleet.name } });
    },
  });
  const wrong = name !== "" && !slug.test(name) ? "Lower-case letters, digits and inner hyphens" : undefined;
  return (
    <form
      aria-label="Create a fleet"
      onSubmit={(e) => {
        e.preventDefault();
        create.mutate();
      }}
    >
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput label="Name" description="It cannot be changed later." value={name} onChange={(e) => setName(e.currentTarget.value)} error={wrong} maxLength={63} required withAsterisk={false} autoComplete="off" spellCheck={false} flex="1 1 14rem" />
          <TextInput label="What it is for" description="For people; may stay empty." value={description} onChange={(e) => setDescription(e.currentTarget.value)} flex="2 1 18rem" />
        </Group>
        {create.error && <ProblemAlert error={create.error} title="The fleet was not created" />}
        <Group gap="sm">
          <Button type="submit" loading={create.isPending} disabled={name === "" || wrong !== undefined}>
            Create fleet
          </Button>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
