// The open sessions: where somebody is signed in to the page.
import { Badge, Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, take, type Session } from "../api/client";
import { useSession } from "../app/session";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { ConfirmButton } from "./confirm";
import { sessionsQuery } from "./queries";

export function Sessions({ tenant }: { tenant: string }) {
  const [filters] = useFilters();
  const client = useQueryClient();
  const asked = useQuery(sessionsQuery(tenant, filters.sessions));
  return (
    <Loaded query={asked} height={180}>
      {(list) => (
        <>
          <SessionTable
            items={list.items}
            end={async (id) => {
              await take(api.DELETE("/v1/tenants/{tenant}/sessions/{id}", { params: { path: { tenant, id } } }));
              await client.invalidateQueries({ queryKey: ["sessions", tenant] });
            }}
          />
          <Pager of="sessions" word="sessions" next={list.next_cursor} />
        </>
      )}
    </Loaded>
  );
}

export function SessionTable({ items, end }: { items: readonly Session[]; end: (id: string) => Promise<unknown> }) {
  const { signOut } = useSession();
  if (items.length === 0) return <Empty title="Nobody is signed in">A session begins when somebody signs in to this page with a token.</Empty>;
  return (
    <DataTable
      label="Sessions"
      rows={items}
      keyOf={(s) => s.id}
      columns={[
        {
          title: "Token",
          cell: (s) => (
            <Group gap="xs">
              <Text size="sm" className="words">
                {s.token.name}
                {s.token.role !== undefined && `, ${s.token.role}`}
              </Text>
              {s.current && (
                <Badge variant="light" tt="none">
                  this one
                </Badge>
              )}
            </Group>
          ),
        },
        {
          title: "From",
          cell: (s) => (
            <>
              <span className="mono">{s.address ?? "–"}</span>
              <Text size="xs" c="dimmed" className="words">
                {s.user_agent ?? "It did not say what it is"}
              </Text>
            </>
          ),
        },
        { title: "Begun", kind: "short", cell: (s) => <Ago at={s.created_at} /> },
        { title: "Used", kind: "short", cell: (s) => <Ago at={s.last_seen_at} /> },
        { title: "Ends", kind: "short", cell: (s) => <Ago at={s.idle_at < s.expires_at ? s.idle_at : s.expires_at} /> },
        {
          title: "",
          cell: (s) => (
            <Group justify="flex-end">
              <ConfirmButton
                label={s.current ? "Sign out" : "End"}
                name={s.current ? "Sign out of this session" : `End the session of ${s.token.name}, begun from ${s.address ?? "somewhere"}`}
                title={s.current ? "Sign out here?" : "End this session?"}
                doIt={s.current ? "Sign out" : "End it"}
                action={() => (s.current ? signOut() : end(s.id))}
              >
                {s.current ? "This is the session of this browser." : "That browser is signed out within 5 s. Its token stays valid: who has it signs in again. If it leaked, revoke it."}
              </ConfirmButton>
            </Group>
          ),
        },
      ]}
    />
  );
}

/** Ends all sessions of one's own token but this one. */
export function EndOthers() {
  const client = useQueryClient();
  const { me } = useSession();
  return (
    <ConfirmButton
      label="End my other sessions"
      title="End your other sessions?"
      doIt="End them"
      action={async () => {
        await take(api.POST("/v1/session/end-others"));
        await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === "sessions" || queryKey[0] === "operator-sessions" });
      }}
    >
      All sessions of the token “{me.name}” but this one end, on every server, within 5 s. The token stays valid: if it leaked, revoke it.
    </ConfirmButton>
  );
}
