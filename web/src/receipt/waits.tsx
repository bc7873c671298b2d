// What pending nodes wait for, and what would help.
import { Alert, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../app/place";
import { NodeLinks, ResourceLink } from "../history/resource-link";
import { noEnvoyWords, warmingHint, warmingWords } from "../nodes/words";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import type { WaitsFor } from "./groups";
import { waitsQuery } from "./queries";

export function Waits({ revision }: { revision: number }) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(waitsQuery(tenant, fleet, revision));
  return (
    <Loaded query={query} height={80}>
      {({ groups }) =>
        groups.length === 0 ? (
          <Text size="sm" c="dimmed">
            Nodes that do not answer for many seconds are slow or stuck: look at their pages, and at their own logs.
          </Text>
        ) : (
          <Stack gap="sm">
            {groups.map((g, i) => (
              <Wait key={i} group={g} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

function Wait({ group: g }: { group: WaitsFor }) {
  return (
    <Alert color={g.kind === "withheld" ? "orange" : "yellow"} variant="light" title={g.nodes === 1 ? "1 node waits" : `${g.nodes} nodes wait`}>
      <Stack gap={4}>
        <Text size="sm" component="div">
          <Why group={g} />
        </Text>
        <Text size="sm">
          <NodeLinks ids={g.ids} of={g.nodes} />
        </Text>
      </Stack>
    </Alert>
  );
}

function Why({ group: g }: { group: WaitsFor }) {
  const { fleet } = usePlace();
  if (!g.resource) return <>{noEnvoyWords}.</>;
  if (g.kind === "warming" || !g.by) {
    return (
      <>
        <ResourceLink of={g.resource} /> {warmingWords}. {warmingHint}
      </>
    );
  }
  if (g.reason === "sealed") {
    return (
      <>
        <ResourceLink of={g.resource} /> is withheld: <ResourceLink of={g.by} /> is sealed with a key that the node's xDS server does not have. Let the servers have keys of one pair, then write the secret
        again.
      </>
    );
  }
  if (g.reason === "too_large") {
    return (
      <>
        <ResourceLink of={g.resource} /> is withheld: with it the set would be larger than the node takes at once. Make one of the set smaller, or let the node ask for less.
      </>
    );
  }
  if (g.reason === "refused") {
    return (
      <>
        <ResourceLink of={g.resource} /> is withheld: it needs <ResourceLink of={g.by} />, which the node refuses. Fix that one.
      </>
    );
  }
  return (
    <>
      <ResourceLink of={g.resource} /> is withheld: it needs <span className="mono">{`${g.by.type}/${g.by.name}`}</span>, which does not exist.{" "}
      <TextLink to="/fleets/$fleet/new" params={{ fleet }} search={{ type: g.by.type, name: g.by.name }} underline="always">
        Write it
      </TextLink>
      . Waiting alone does not help.
    </>
  );
}
