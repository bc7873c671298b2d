// The end of a token, and of what it made.
import { Checkbox, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Token, type TokenMade } from "../api/client";
import { useMe } from "../app/session";
import { ConfirmButton } from "./confirm";
import { tokenMadeQuery } from "./queries";

interface Props {
  tenant: string;
  token: Token;
  /** The tokens that are on screen beside it. */
  among: readonly Token[];
}

export function RevokeToken({ done, ...props }: Props & { done: () => Promise<unknown> }) {
  const [leaked, setLeaked] = useState(false);
  const { tenant, token } = props;
  return (
    <ConfirmButton
      label="Revoke"
      name={`Revoke ${token.name}`}
      title="Revoke this token?"
      doIt="Revoke it"
      action={async () => {
        await take(api.DELETE("/v1/tenants/{tenant}/tokens/{id}", { params: { path: { tenant, id: token.id }, ...(leaked ? { query: { leaked } } : {}) } }));
        await done();
      }}
    >
      <RevokeWords {...props} />
      <Checkbox
        mt="sm"
        checked={leaked}
        onChange={(e) => setLeaked(e.currentTarget.checked)}
        label="It has leaked"
        description="Others may have it: all that it made ends too, node credentials with their streams, and tokens that were handed over."
      />
    </ConfirmButton>
  );
}

function RevokeWords({ tenant, token, among }: Props) {
  const me = useMe();
  const made = useQuery(tokenMadeQuery(tenant, token.id));
  const names = endWith(token, among);
  return (
    <>
      The next request with “{token.name}” is refused, its sessions end, and so do all tokens that were made with it and not handed over
      {names.length > 0 ? `, such as ${names.join(", ")}` : ""}. This cannot be undone.
      {made.data !== undefined && (
        <Text size="sm" mt="xs" role="status">
          {madeWords(made.data)}
        </Text>
      )}
      {token.id === me.id && (
        <Text size="sm" fw={600} mt="xs">
          It is the token that you are signed in with: you will be signed out.
        </Text>
      )}
    </>
  );
}

/** What a token made that stays, unless it has leaked. */
export function madeWords(made: TokenMade): string {
  const tokens = made.staying_token_count;
  const credentials = made.credential_count;
  const parts = [...(tokens > 0 ? [`${tokens} ${tokens === 1 ? "token" : "tokens"}`] : []), ...(credentials > 0 ? [`${credentials} node ${credentials === 1 ? "credential" : "credentials"}`] : [])];
  if (parts.length === 0) return "It made nothing that stays.";
  const fleets = [...new Set(made.credentials.map((c) => c.fleet))].sort().slice(0, 5);
  return `It made ${parts.join(" and ")} that stay${tokens + credentials === 1 ? "s" : ""}${fleets.length > 0 ? `, for ${fleets.join(", ")}` : ""}.`;
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
