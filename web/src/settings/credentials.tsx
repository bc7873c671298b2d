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
  const [making, setMaking] = useState<{ renews?: Credential }>();
  const close = () => setMaking(undefined);
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
          <Button onClick={() => setMaking({})}>Make a credential</Button>
        </Group>
      </Group>
      <Loaded query={asked} height={180}>
        {(list) => (
          <>
            {list.items.length === 0 ? (
              <Empty title="No credentials here">{state === "active" ? "No proxy can come in. Make a credential and give its token to the proxies." : "None is in this state."}</Empty>
            ) : (
              <CredentialTable items={list.items} mixed={state === "all"} renew={(renews) => setMaking({ renews })} />
            )}
            <Pager of="credentials" next={list.next_cursor} />
          </>
        )}
      </Loaded>
      <Modal opened={making !== undefined} onClose={close} title={making?.renews === undefined ? "Make a node credential" : "Renew this node credential"} closeButtonProps={{ "aria-label": "Close" }} closeOnClickOutside={false}>
        <NewCredential renews={making?.renews} close={close} />
      </Modal>
    </Stack>
  );
}

function Made({ credential: c }: { credential: Credential }) {
  return (
    <>
      <Ago at={c.created_at} />
      <Text size="xs" c="dimmed" className="words">
        {c.made_by === undefined ? "by whom is not known" : `by ${c.made_by.name}`}
      </Text>
    </>
  );
}

function Used({ credential: c }: { credential: Credential }) {
  if (c.last_used_at === undefined) return <>–</>;
  return (
    <>
      <Ago at={c.last_used_at} />
      <Text size="xs" c="dimmed" className="mono">
        {c.last_used_from ?? ""}
      </Text>
    </>
  );
}

function CredentialTable({ items, mixed, renew }: { items: readonly Credential[]; mixed: boolean; renew: (c: Credential) => void }) {
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
        { title: "Made", half: true, cell: (c) => <Made credential={c} /> },
        { title: "Last used", half: true, cell: (c) => <Used credential={c} /> },
        { title: "Ends", kind: "short", cell: (c) => <Ago at={c.revoked_at ?? c.expires_at} /> },
        {
          title: "",
          cell: (c) =>
            stateOf(c, now) === "active" && (
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <Button size="xs" variant="default" aria-label={`Renew the credential of ${c.nodes}, ${c.id}`} onClick={() => renew(c)}>
                  Renew
                </Button>
                <Revoke credential={c} />
              </Group>
            ),
        },
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
