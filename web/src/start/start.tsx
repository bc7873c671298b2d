// The first page: the tenant's fleets, each with its health.
import { Button, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useDebouncedCallback } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Whoami } from "../api/client";
import { may, useMe } from "../app/session";
import { useTyped } from "../nodes/typed";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { CreateFleet } from "./create";
import { DeletedFleets } from "./deleted";
import { FleetCard } from "./fleet-card";
import { fleetPage } from "./queries";
import { Steps } from "./steps";

export function Start() {
  const me = useMe();
  const [{ state }] = useFilters();
  if (me.kind === "operator") return <OperatorStart />;
  const tenant = me.tenant ?? "";
  if (state === "deleted") {
    return (
      <Page title="Deleted fleets" actions={<ButtonLink to="/" variant="default">To the fleets</ButtonLink>}>
        <DeletedFleets tenant={tenant} />
      </Page>
    );
  }
  return <Fleets me={me} tenant={tenant} />;
}

function OperatorStart() {
  return (
    <Page title="Fleets">
      <Empty title="You are signed in as an operator">
        Fleets are the tenants&apos;, and an operator sees none of them. Yours are{" "}
        <TextLink to="/operator" size="sm" underline="always">
          the tenants and the servers
        </TextLink>
        .
      </Empty>
    </Page>
  );
}

function Fleets({ me, tenant }: { me: Whoami; tenant: string }) {
  const [{ prefix, cursor }] = useFilters();
  const [creating, setCreating] = useState(false);
  const list = useQuery({ ...fleetPage(tenant, prefix, cursor), placeholderData: keepPreviousData });
  const bound = me.fleet !== undefined;
  const mayCreate = may(me, "admin") && !bound;
  const none = list.data?.items.length === 0 && !list.isPlaceholderData && prefix === undefined && cursor === undefined;
  const actions = (
    <>
      {!bound && (
        <ButtonLink to="/" search={{ state: "deleted" }} variant="default">
          Deleted fleets
        </ButtonLink>
      )}
      {mayCreate && !none && !creating && (
        <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
          New fleet
        </Button>
      )}
    </>
  );
  return (
    <Page title="Fleets" about={bound ? `Your token is bound to one fleet of ${tenant}: ${me.fleet ?? ""}` : `Of the tenant ${tenant}`} actions={actions}>
      {creating && !none && (
        <Section title="New fleet">
          <CreateFleet tenant={tenant} onCancel={() => setCreating(false)} />
        </Section>
      )}
      {!bound && !none && <PrefixFilter />}
      <Loaded query={list} height={320}>
        {(page) =>
          none ? (
            <FirstFleet tenant={tenant} mayCreate={mayCreate} bound={me.fleet} />
          ) : page.items.length === 0 ? (
            <Empty title={prefix === undefined ? "Nothing on this page" : `No fleet begins with “${prefix}”`}>
              <TextLink to="/" size="sm">
                All fleets
              </TextLink>
            </Empty>
          ) : (
            <SimpleGrid component="ul" p={0} m={0} cols={{ base: 1, md: 2, xl: 3 }} spacing="md" aria-label="Fleets">
              {page.items.map((f) => (
                <FleetCard key={f.id} tenant={tenant} fleet={f} />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
      <Pager of="fleets" next={list.data?.next_cursor} />
    </Page>
  );
}

function PrefixFilter() {
  const [{ prefix = "" }, set] = useFilters();
  const { typed, type, send } = useTyped(prefix, (word) => set({ prefix: word, cursor: undefined }));
  const ask = useDebouncedCallback(send, 250); // nothing is asked for each letter
  return (
    <Group gap="sm">
      <TextInput
        aria-label="Only fleets whose name begins with"
        placeholder="Name begins with …"
        leftSection={<IconSearch size={16} />}
        value={typed}
        onChange={(e) => {
          type(e.currentTarget.value);
          ask(e.currentTarget.value);
        }}
        maxLength={63}
        w="100%"
        maw={{ sm: "20rem" }}
      />
    </Group>
  );
}

/** A tenant without fleets: what the way is, and its first step. */
function FirstFleet({ tenant, mayCreate, bound }: { tenant: string; mayCreate: boolean; bound: string | undefined }) {
  if (bound !== undefined) {
    return <Empty title="There is nothing here for this token">The fleet that it is bound to is deleted. An admin of the tenant can restore it.</Empty>;
  }
  return (
    <Stack gap="lg">
      <Steps now={1} />
      {mayCreate ? (
        <Section title="Create the first fleet">
          <Stack gap="sm">
            <Text size="sm">
              A fleet is a set of nodes, Envoys or gRPC programs, that take one configuration. One for each environment, or each edge, is a good start. The next step connects its
              first node.
            </Text>
            <CreateFleet tenant={tenant} suggest="edge" />
          </Stack>
        </Section>
      ) : (
        <Empty title="There is no fleet yet">An admin or an owner of the tenant {tenant} creates the first one. Your role cannot.</Empty>
      )}
    </Stack>
  );
}
