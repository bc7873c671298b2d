// The API tokens of a tenant.
import { Badge, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Token } from "../api/client";
import { useMe } from "../app/session";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago, useNow } from "../ui/time";
import { FilterText, StateFilter } from "./filter";
import { tokensQuery } from "./queries";
import { StateBadge } from "./state-badge";
import { TokenActions } from "./token-actions";
import { NewToken } from "./token-new";
import { rolesOf, stateOf, stateWord } from "./words";

export function Tokens({ tenant }: { tenant: string }) {
  const me = useMe();
  const [filters, set] = useFilters();
  const [making, setMaking] = useState(false);
  const state = stateWord(filters.tokens);
  const asked = useQuery(tokensQuery(tenant, { state, prefix: filters.name, cursor: filters.cursor }));
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Group gap="sm" align="flex-end" flex="1 1 20rem">
          <StateFilter label="State" value={state} set={(tokens) => set({ tokens, cursor: undefined })} />
          <FilterText label="Name begins with" value={filters.name} set={(name) => set({ name, cursor: undefined })} />
        </Group>
        <Button onClick={() => setMaking(true)}>Make a token</Button>
      </Group>
      <Loaded query={asked} height={240}>
        {(list) => (
          <>
            {list.items.length === 0 ? <Empty title="No tokens here">None is in this state, or has such a name.</Empty> : <TokenTable tenant={tenant} items={list.items} mixed={state === "all"} />}
            <Pager of="tokens" next={list.next_cursor} />
          </>
        )}
      </Loaded>
      <Modal opened={making} onClose={() => setMaking(false)} title="Make an API token" closeButtonProps={{ "aria-label": "Close" }} closeOnClickOutside={false}>
        <NewToken tenant={tenant} roles={rolesOf(me)} mayHandOver={me.role === "owner"} close={() => setMaking(false)} />
      </Modal>
    </Stack>
  );
}

function TokenTable({ tenant, items, mixed }: { tenant: string; items: readonly Token[]; mixed: boolean }) {
  const now = useNow();
  const me = useMe();
  return (
    <DataTable
      label="API tokens"
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
        { title: "Role", half: true, cell: (t) => <May token={t} /> },
        ...(mixed ? [{ title: "State", half: true, cell: (t: Token) => <StateBadge state={stateOf(t, now)} /> }] : []),
        { title: "Made", half: true, cell: (t) => <Made token={t} /> },
        { title: "Ends", kind: "short", cell: (t) => <TokenEnd token={t} now={now} /> },
        { title: "", cell: (t) => stateOf(t, now) === "active" && <TokenActions tenant={tenant} token={t} among={items} /> },
      ]}
    />
  );
}

const soon = 14 * 86_400_000; // as the finding token_expires has it

/** When a token ends, and what to do about it before and after. */
function TokenEnd({ token: t, now }: { token: Token; now: number }) {
  const left = t.expires_at === undefined || t.revoked_at !== undefined ? Infinity : Date.parse(t.expires_at) - now;
  const near = left < soon && left > -soon;
  return (
    <Text span inherit {...(near ? { c: left < 0 ? "red" : "orange", fw: 600 } : {})}>
      <Ago at={t.revoked_at ?? t.expires_at} />
      {near && (left < 0 ? ": whoever uses it is refused" : ": make its next one before")}
    </Text>
  );
}

function May({ token: t }: { token: Token }) {
  return (
    <Text size="sm" component="span">
      {t.role}
      {t.fleet !== undefined && (
        <>
          {" of "}
          <TextLink to="/fleets/$fleet" params={{ fleet: t.fleet }} inherit className="words">
            {t.fleet}
          </TextLink>
        </>
      )}
      {t.writes_secrets === true && ", writes secrets"}
      {t.uses_secrets !== undefined && <span className="words">{`, uses the secrets ${t.uses_secrets.join(", ")}`}</span>}
    </Text>
  );
}

function Made({ token: t }: { token: Token }) {
  return (
    <>
      <Ago at={t.created_at} />
      <Text size="xs" c="dimmed" className="words">
        by {t.made_by.kind === "operator" ? `the operator ${t.made_by.name}` : t.made_by.name}
        {t.ends_with !== undefined && ", and ends with that token"}
      </Text>
    </>
  );
}
