import { Button, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Credential } from "../api/client";
import { usePlace } from "../app/place";
import { ProblemAlert } from "../ui/problem";
import { Expiry, expiresAt } from "./expiry";
import { ShownOnce } from "./once";

/** Makes a credential, or the next one in the place of another. */
export function NewCredential({ renews, close }: { renews?: Credential | undefined; close: () => void }) {
  const path = usePlace();
  const client = useQueryClient();
  const [nodes, setNodes] = useState("*");
  const [description, setDescription] = useState("");
  const [days, setDays] = useState("");
  const make = useMutation({
    gcTime: 0, // what is shown once is not kept
    mutationFn: () => {
      if (renews !== undefined) {
        return take(
          api.POST("/v1/tenants/{tenant}/fleets/{fleet}/credentials/{id}/renew", { params: { path: { ...path, id: renews.id } }, body: expiresAt(days, Date.now()) }),
        );
      }
      return take(
        api.POST("/v1/tenants/{tenant}/fleets/{fleet}/credentials", {
          params: { path },
          body: { nodes: nodes.trim(), ...(description === "" ? {} : { description }), ...expiresAt(days, Date.now()) },
        }),
      );
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["credentials", path.tenant, path.fleet] }),
  });
  if (make.data) {
    return <ShownOnce what="node token" secret={make.data.token} about={`For the nodes ${make.data.credential.nodes}. “Connect a node” writes a bootstrap that uses it.`} close={close} />;
  }
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="md">
        {renews !== undefined ? (
          <Text size="sm" className="words">
            The new credential is for the same nodes, {renews.nodes}. The old one works until it expires: give the proxies the new token before that.
          </Text>
        ) : (
          <>
            <TextInput label="Node ids" description="One id, a prefix with *, or * for all of the fleet." value={nodes} data-autofocus onChange={(e) => setNodes(e.currentTarget.value)} />
            <Textarea label="Description" description="For people." value={description} rows={2} resize="vertical" onChange={(e) => setDescription(e.currentTarget.value)} />
          </>
        )}
        <Expiry value={days} most={366} usual="90 days" set={setDays} />
        {make.error !== null && <ProblemAlert error={make.error} title="No credential was made" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Leave it
          </Button>
          <Button type="submit" loading={make.isPending} disabled={nodes.trim() === ""}>
            {renews === undefined ? "Make it" : "Renew it"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
