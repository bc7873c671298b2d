// What the tenant is entered with, what it uses, and who is signed in.
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { may, useMe, useSession } from "../app/session";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { LimitBars } from "./limits";
import { usageQuery } from "./queries";
import { EndOthers, Sessions } from "./sessions";
import { Tokens } from "./tokens";
import { bytes } from "./words";

export function TenantSettings() {
  const { me, signOut } = useSession();
  const tenant = me.tenant;
  const actions = (
    <Button variant="default" onClick={() => void signOut()}>
      Sign out
    </Button>
  );
  if (tenant === undefined) {
    return (
      <Page title="Settings" actions={actions}>
        <Empty title="An operator has no tenant">
          Tenants, operator tokens and sessions stand on the <TextLink to="/operator" inherit underline="always">operator's page</TextLink>.
        </Empty>
      </Page>
    );
  }
  return (
    <Page title="Settings" tab={`Settings of ${tenant}`} about={`Tokens, sessions and limits of the tenant ${tenant}.`} actions={actions}>
      <Section title="API tokens">
        {may(me, "admin") ? <Tokens tenant={tenant} /> : <Text size="sm">Admins and owners see, make and revoke tokens. You are signed in with “{me.name}”, of the role {me.role}.</Text>}
      </Section>
      <Section title="Sessions" aside={me.session && <EndOthers />}>
        <Sessions tenant={tenant} />
      </Section>
      <Usage tenant={tenant} />
    </Page>
  );
}

function Usage({ tenant }: { tenant: string }) {
  const me = useMe();
  const [filters] = useFilters();
  const asked = useQuery(usageQuery(tenant, filters.fleets));
  return (
    <Section title="Limits">
      <Loaded query={asked} height={400}>
        {(usage) => (
          <>
            <LimitBars items={usage.items} fleets={me.fleet === undefined} />
            <Text size="xs" c="dimmed" my="sm">
              Rates and what waits are counted in each API server. The operator of the installation sets other limits.
            </Text>
            {usage.fleets.length > 0 && (
              <DataTable
                label="What the fleets use"
                rows={usage.fleets}
                keyOf={(f) => f.fleet}
                columns={[
                  {
                    title: "Fleet",
                    cell: (f) => (
                      <TextLink to="/fleets/$fleet/settings" params={{ fleet: f.fleet }} size="sm" className="words">
                        {f.fleet}
                      </TextLink>
                    ),
                  },
                  { title: "Resources", kind: "number", cell: (f) => f.resources.toLocaleString("en") },
                  { title: "Their bytes", kind: "number", cell: (f) => bytes(f.fleet_bytes) },
                  { title: "History", kind: "number", cell: (f) => bytes(f.history_bytes) },
                  { title: "Credentials", kind: "number", cell: (f) => f.credentials.toLocaleString("en") },
                ]}
              />
            )}
            <Pager of="fleets" word="fleets" next={usage.next_cursor} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
