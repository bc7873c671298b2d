// What the fleet's proxies come in with.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Credential } from "../api/client";
import { usePlace } from "../app/place";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago, useNow } from "../ui/time";
import { ConfirmButton } from "./confirm";
import { NewCredential } from "./credential-new";
import { StateFilter } from "./filter";
import { credentialsQuery } from "./queries";
import { StateBadge } from "./state-badge";
import { stateOf, stateWord } from "./words";

export function Credentials() {
  const { tenant, fleet } = usePlace();
  const [filters, set] = useFilters();
  const [making, setMaking] = useState(false);
  const state = stateWord(filters.credentials);
  const asked = useQuery(credentialsQuery(tenant, fleet, state, filters.cursor));
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end" gap="sm">
        <StateFilter label="State" value={state} set={(credentials) => set({ credentials, cursor: undefined })} />
        <Group gap="sm">
          <ButtonLink to="/fleets/$fleet/connect" params={{ fleet }} variant="default">
            Connect a node
          </ButtonLink>
          <Button onClick={() => setMaking(true)}>Make a credential</Button>
        </Group>
      </Group>
      <Loaded query={asked} height={180}>
        {(list) => (
          <>
            {list.items.length === 0 ? (
              <Empty title="No credentials here">{state === "active" ? "No proxy can come in. Make a credential and give its token to the proxies." : "None is in this state."}</Empty>
            ) : (
              <CredentialTable items={list.items} mixed={state === "all"} />
            )}
            <Pager of="credentials" next={list.next_cursor} />
          </>
        )}
      </Loaded>
      <Modal opened={making} onClose={() => setMaking(false)} title="Make a node credential" closeButtonProps={{ "aria-label": "Close" }} closeOnClickOutside={false}>
        <NewCredential close={() => setMaking(false)} />
      </Modal>
    </Stack>
  );
}

function CredentialTable({ items, mixed }: { items: readonly Credential[]; mixed: boolean }) {
  const now = useNow();
  return (
    <DataTable
      label="Node credentials"
      rows={items}
      keyOf={(c) => c.id}
      columns={[
        { title: "Nodes", cell: (c) => <span className="mono">{c.nodes}</span> },
        {
          title: "For",
          cell: (c) => (
            <>
              <Text size="sm" className="words">
                {c.description || "–"}
              </Text>
              <Text size="xs" c="dimmed" className="mono">
                {c.id}
              </Text>
            </>
          ),
        },
        ...(mixed ? [{ title: "State", cell: (c: Credential) => <StateBadge state={stateOf(c, now)} /> }] : []),
        { title: "Made", kind: "short", cell: (c) => <Ago at={c.created_at} /> },
        { title: "Ends", kind: "short", cell: (c) => <Ago at={c.revoked_at ?? c.expires_at} /> },
        { title: "", cell: (c) => stateOf(c, now) === "active" && <Revoke credential={c} /> },
      ]}
    />
  );
}

function Revoke({ credential: c }: { credential: Credential }) {
  const { tenant, fleet } = usePlace();
  const client = useQueryClient();
  return (
    <Group justify="flex-end">
      <ConfirmButton
        label="Revoke"
        name={`Revoke the credential of ${c.nodes}, ${c.id}`}
        title="Revoke this credential?"
        doIt="Revoke it"
        action={async () => {
          await take(api.DELETE("/v1/tenants/{tenant}/fleets/{fleet}/credentials/{id}", { params: { path: { tenant, fleet, id: c.id } } }));
          await client.invalidateQueries({ queryKey: ["credentials", tenant, fleet] });
        }}
      >
        The streams of the nodes that came in with it ({c.nodes}) end, and none comes in with it again. The proxies go on with what they have, and with the keys that they were sent: change the secrets that they could
        read. This cannot be undone.
      </ConfirmButton>
    </Group>
  );
}
