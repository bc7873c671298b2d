// A fleet at a glance.
import { Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Fleet } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { may, useMe } from "../app/session";
import { findingCounts } from "../start/queries";
import { Steps } from "../start/steps";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Page, Section } from "../ui/page";
import { HealthBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { Certificates } from "./certificates";
import { fleetHealth } from "./fleet-health";
import { HealthBar, useHealth } from "./health-bar";
import { LatencySection } from "./latency-section";
import { Latest } from "./latest";
import { timeline } from "./queries";
import { Timeline } from "./timeline";
import { TopFindings } from "./top-findings";

export function Overview() {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const about = useQuery(fleetQuery(tenant, fleet));
  return (
    <Page
      title={fleet}
      about={about.data?.description || undefined}
      actions={
        may(me, "editor") && (
          <ButtonLink to="/fleets/$fleet/new" params={{ fleet }}>
            New resource
          </ButtonLink>
        )
      }
    >
      <Loaded query={about} height={420}>
        {(f) => (
          <>
            <States tenant={tenant} fleet={f} />
            {f.revision === 0 ? <Beginning fleet={f} /> : <Content tenant={tenant} fleet={fleet} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function States({ tenant, fleet }: { tenant: string; fleet: Fleet }) {
  const of = useHealth(tenant, fleet);
  const n = fleet.counts?.nodes;
  const nobody = n !== undefined && n.live + n.refusing + n.offline === 0;
  const refusals = fleet.counts?.open_refusals ?? 0;
  const { data: found } = useQuery({ ...findingCounts(tenant, fleet.name), enabled: !nobody });
  return (
    <Section
      title="Who is in sync"
      aside={
        <Text size="sm" c="dimmed">
          {fleet.resources === 1 ? "1 resource" : `${fleet.resources} resources`}, {fleet.revision === 0 ? "created" : "changed"} <Ago at={fleet.changed_at} />
        </Text>
      }
    >
      <Stack gap="sm">
        <div>
          <HealthBadge health={fleetHealth(fleet, found)} />
        </div>
        <HealthBar of={of} height={16} />
        {nobody && (
          <Text size="sm">
            No node has connected yet.{" "}
            <TextLink to="/fleets/$fleet/connect" params={{ fleet: fleet.name }} size="sm" underline="always">
              Connect the first one
            </TextLink>
          </Text>
        )}
        {refusals > 0 && (
          <Text size="sm">
            <TextLink to="/fleets/$fleet/nodes" params={{ fleet: fleet.name }} search={{ state: "refusing" }} size="sm" underline="always">
              {refusals === 1 ? "1 refusal stands" : `${refusals} refusals stand`}
            </TextLink>
            , of this revision or of those before it.
          </Text>
        )}
      </Stack>
    </Section>
  );
}

/** What to do in a fleet in which nothing was written yet. */
function Beginning({ fleet }: { fleet: Fleet }) {
  const me = useMe();
  const connected = (fleet.counts?.nodes.live ?? 0) > 0;
  const name = fleet.name;
  return (
    <Section title="Nothing is written yet">
      <Stack gap="md">
        <Steps now={connected ? 3 : 2} />
        <Group gap="sm">
          {!connected && (
            <ButtonLink to="/fleets/$fleet/connect" params={{ fleet: name }}>
              Connect a proxy
            </ButtonLink>
          )}
          {may(me, "editor") && (
            <>
              <ButtonLink to="/fleets/$fleet/new" params={{ fleet: name }} search={{ kind: "listener" }} variant={connected ? "filled" : "default"}>
                Make the first route
              </ButtonLink>
              <ButtonLink to="/fleets/$fleet/import" params={{ fleet: name }} variant="default">
                Bring in an Envoy file
              </ButtonLink>
            </>
          )}
        </Group>
      </Stack>
    </Section>
  );
}

function Content({ tenant, fleet }: { tenant: string; fleet: string }) {
  const last = useQuery(timeline(tenant, fleet));
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
      <Stack gap="lg" miw={0}>
        <Loaded query={last} height={180}>
          {({ items: [newest] }) => newest && <Latest tenant={tenant} fleet={fleet} revision={newest} />}
        </Loaded>
        <TopFindings tenant={tenant} fleet={fleet} />
        <Certificates tenant={tenant} fleet={fleet} />
      </Stack>
      <Stack gap="lg" miw={0}>
        {last.data === undefined ? (
          !last.error && <Loaded query={last} height={400}>{() => null}</Loaded>
        ) : (
          <>
            <Timeline fleet={fleet} revisions={last.data.items} />
            <LatencySection tenant={tenant} fleet={fleet} revisions={last.data.items} />
          </>
        )}
      </Stack>
    </SimpleGrid>
  );
}
