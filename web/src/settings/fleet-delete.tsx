import { Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, take } from "../api/client";
import { usePlace } from "../app/place";
import { ConfirmButton } from "./confirm";

export function DeleteFleet() {
  const path = usePlace();
  const client = useQueryClient();
  const navigate = useNavigate();
  return (
    <Group justify="space-between" gap="md">
      <Text size="sm" flex="1 1 16rem">
        The streams of its nodes end, and its name is free again. The proxies go on with what they have. For 30 days it can be restored, then all of it is removed.
      </Text>
      <ConfirmButton
        label="Delete the fleet"
        title={`Delete the fleet ${path.fleet}?`}
        doIt="Delete it"
        type={path.fleet}
        action={async (confirm) => {
          await take(api.DELETE("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path, query: confirm === undefined ? {} : { confirm } } }));
          await navigate({ to: "/" });
          await client.invalidateQueries({ queryKey: ["fleets", path.tenant] });
        }}
      >
        All of {path.fleet} goes: its resources, its history, and the credentials of its nodes. For 30 days it can be restored.
      </ConfirmButton>
    </Group>
  );
}
