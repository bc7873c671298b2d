// The settings of a fleet. Who may not change them reads them.
import { useQuery } from "@tanstack/react-query";
import { Stack, Text } from "@mantine/core";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { may, useMe } from "../app/session";
import { Loaded } from "../ui/loaded";
import { Page, Section } from "../ui/page";
import { Credentials } from "./credentials";
import { DeleteFleet } from "./fleet-delete";
import { FleetFacts } from "./fleet-facts";
import { FleetForm } from "./fleet-form";
import { FleetValues } from "./fleet-values";
import { Guard } from "./guard";
import { LimitBars } from "./limits";
import { fleetUsageQuery } from "./queries";

export function FleetSettings() {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const mine = may(me, "admin");
  const asked = useQuery(fleetQuery(tenant, fleet));
  const usage = useQuery(fleetUsageQuery(tenant, fleet));
  return (
    <Page title="Settings" tab={`Settings of ${fleet}`} about={`What holds for all of the fleet ${fleet}. A change here makes no revision.`}>
      {!mine && (
        <Text size="sm" role="note">
          You see this and change nothing: with the role {me.role ?? "of an operator"} one reads the settings of a fleet; admins and owners change them.
        </Text>
      )}
      <Loaded query={asked} height={520}>
        {(data) => (
          <Stack gap="lg">
            <Section title="How it behaves">
              {mine ? <FleetForm key={data.id} fleet={data} /> : <FleetFacts fleet={data} />}
            </Section>
            <Section title="Values">
              <FleetValues fleet={data} mine={mine} />
            </Section>
          </Stack>
        )}
      </Loaded>
      <Section title="Node credentials">
        {mine ? <Credentials /> : <Text size="sm">Node credentials are what proxies come in with. Admins and owners see, make and revoke them.</Text>}
      </Section>
      <Section title="Guard rules">
        <Guard />
      </Section>
      <Section title="Limits">
        <Loaded query={usage} height={200}>
          {(u) => <LimitBars items={u.items} />}
        </Loaded>
      </Section>
      {mine && (
        <Section title="Delete the fleet">
          <DeleteFleet />
        </Section>
      )}
    </Page>
  );
}
