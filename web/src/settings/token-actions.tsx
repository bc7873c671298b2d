import { Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, take, type Token } from "../api/client";
import { useMe } from "../app/session";
import { ConfirmButton } from "./confirm";
import { RevokeToken } from "./token-revoke";
import { rolesOf } from "./words";

interface Props {
  tenant: string;
  token: Token;
  /** The tokens that are on screen beside it. */
  among: readonly Token[];
}

export function TokenActions({ tenant, token, among }: Props) {
  const me = useMe();
  const client = useQueryClient();
  const path = { tenant, id: token.id };
  const again = () => client.invalidateQueries({ queryKey: ["tokens", tenant] });
  if (!rolesOf(me).includes(token.role)) {
    return (
      <Text size="xs" c="dimmed">
        of a higher role than yours
      </Text>
    );
  }
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {me.role === "owner" && token.ends_with !== undefined && (
        <ConfirmButton
          label="Hand over"
          name={`Hand over ${token.name}`}
          title="Hand this token over?"
          doIt="Hand it over"
          harmless
          action={async () => {
            await take(api.POST("/v1/tenants/{tenant}/tokens/{id}/hand-over", { params: { path } }));
            await again();
          }}
        >
          “{token.name}” then no longer ends when the token that made it is revoked. When it expires stays as it is; what it made itself goes on ending with it.
        </ConfirmButton>
      )}
      <RevokeToken tenant={tenant} token={token} among={among} done={again} />
    </Group>
  );
}
