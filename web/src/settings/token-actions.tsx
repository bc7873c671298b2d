import { Group, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api, take, type Token } from "../api/client";
import { useMe } from "../app/session";
import { ConfirmButton } from "./confirm";
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
      <ConfirmButton
        label="Revoke"
        name={`Revoke ${token.name}`}
        title="Revoke this token?"
        doIt="Revoke it"
        action={async () => {
          await take(api.DELETE("/v1/tenants/{tenant}/tokens/{id}", { params: { path } }));
          await again();
        }}
      >
        <RevokeWords token={token} among={among} />
      </ConfirmButton>
    </Group>
  );
}

function RevokeWords({ token, among }: Omit<Props, "tenant">) {
  const me = useMe();
  const names = endWith(token, among);
  return (
    <>
      The next request with “{token.name}” is refused, its sessions end, and so do all tokens that were made with it and not handed over
      {names.length > 0 ? `, such as ${names.join(", ")}` : ""}. This cannot be undone.
      {token.id === me.id && (
        <Text size="sm" fw={600} mt="xs">
          It is the token that you are signed in with: you will be signed out.
        </Text>
      )}
    </>
  );
}

/** The names of the first few that end with a token, also through others, of those on screen. */
export function endWith(token: Token, among: readonly Token[]): string[] {
  const ends = new Set([token.id]);
  const found: string[] = [];
  for (let before = -1; before !== ends.size; ) {
    before = ends.size;
    for (const t of among) {
      if (t.ends_with === undefined || !ends.has(t.ends_with) || ends.has(t.id) || t.revoked_at !== undefined) continue;
      ends.add(t.id);
      found.push(t.name);
    }
  }
  return found.slice(0, 5);
}
