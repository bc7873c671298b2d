import { Badge, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type OperatorToken } from "../api/client";
import { useMe } from "../app/session";
import { ConfirmButton } from "../settings/confirm";
import { Expiry, expiresAt } from "../settings/expiry";
import { StateFilter } from "../settings/filter";
import { ShownOnce } from "../settings/once";
import { StateBadge } from "../settings/state-badge";
import { stateOf, stateWord } from "../settings/words";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { ProblemAlert } from "../ui/problem";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago, useNow } from "../ui/time";
import { operatorTokensQuery } from "./queries";

export function OperatorTokens() {
  const [filters, set] = useFilters();
  const [making, setMaking] = useState(false);
  const state = stateWord(filters.tokens);
  const asked = useQuery(operatorTokensQuery(state, filters["tokens-cursor"]));
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end" gap="sm">
        <StateFilter label="State" value={state} set={(tokens) => set({ tokens, "tokens-cursor": undefined })} />
        <Button onClick={() => setMaking(true)}>Make an operator token</Button>
      </Group>
      <Loaded query={asked} height={180}>
        {(list) => (
          <>
            {list.items.length === 0 ? <Empty title="No operator tokens here">None is in this state.</Empty> : <OperatorTokenTable items={list.items} mixed={state === "all"} />}
            <Pager of="operator tokens" word="tokens-cursor" next={list.next_cursor} />
          </>
        )}
      </Loaded>
      <Modal opened={making} onClose={() => setMaking(false)} title="Make an operator token" closeButtonProps={{ "aria-label": "Close" }} closeOnClickOutside={false}>
        <NewOperatorToken close={() => setMaking(false)} />
      </Modal>
    </Stack>
  );
}

function OperatorTokenTable({ items, mixed }: { items: readonly OperatorToken[]; mixed: boolean }) {
  const now = useNow();
  const me = useMe();
  return (
    <DataTable
      label="Operator tokens"
      rows={items}
      keyOf={(t) => t.id}
      columns={[
        {
          title: "Name",
          cell: (t) => (
            <>
              <Text size="sm" fw={500} className="words" component="div">
                {t.name} {t.id === me.id && <Badge variant="light" tt="none">yours</Badge>}
              </Text>
              <Text size="xs" c="dimmed" className="mono">
                {t.id}
              </Text>
            </>
          ),
        },
        ...(mixed ? [{ title: "State", cell: (t: OperatorToken) => <StateBadge state={stateOf(t, now)} /> }] : []),
        {
          title: "Made",
          cell: (t) => (
            <>
              <Ago at={t.created_at} />
              <Text size="xs" c="dimmed" className="words">
                by {t.made_by ?? "the command line"}
              </Text>
            </>
          ),
        },
        {
          title: "Ends",
          cell: (t) => (
            <>
              <Ago at={t.revoked_at ?? t.expires_at} />
              {t.revoked_by !== undefined && (
                <Text size="xs" c="dimmed" className="words">
                  revoked by {t.revoked_by}
                </Text>
              )}
            </>
          ),
        },
        { title: "", cell: (t) => stateOf(t, now) === "active" && <Revoke token={t} /> },
      ]}
    />
  );
}

function Revoke({ token }: { token: OperatorToken }) {
  const me = useMe();
  const client = useQueryClient();
  return (
    <Group justify="flex-end">
      <ConfirmButton
        label="Revoke"
        name={`Revoke ${token.name}, ${token.id}`}
        title="Revoke this operator token?"
        doIt="Revoke it"
        action={async () => {
          await take(api.DELETE("/v1/operator/tokens/{id}", { params: { path: { id: token.id } } }));
          await client.invalidateQueries({ queryKey: ["operator-tokens"] });
        }}
      >
        The next request with “{token.name}” is refused, and its sessions end{token.id === me.id && ", yours too"}. What it made stays: if it leaked, look at the tokens that were made by it, here and in the tenants. The last one that is good
        cannot be revoked.
      </ConfirmButton>
    </Group>
  );
}

function NewOperatorToken({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const make = useMutation({
    gcTime: 0, // what is shown once is not kept
    mutationFn: () => take(api.POST("/v1/operator/tokens", { body: { name: name.trim(), ...expiresAt(days, Date.now()) } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["operator-tokens"] }),
  });
  if (make.data) return <ShownOnce what="operator token" secret={make.data.token} about={`“${make.data.operator_token.name}”. It ends with no other.`} close={close} />;
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput label="Name" description="Tenants see it beside what the token does to them." value={name} autoComplete="off" data-autofocus onChange={(e) => setName(e.currentTarget.value)} />
        <Expiry value={days} most={366} usual="90 days" set={setDays} />
        {make.error !== null && <ProblemAlert error={make.error} title="No token was made" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Leave it
          </Button>
          <Button type="submit" loading={make.isPending} disabled={name.trim() === ""}>
            Make it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
