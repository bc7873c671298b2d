import { Alert, Button, Group, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Refused, type Node as NodeOf, type Retry } from "../api/client";
import { changed } from "../api/follow";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { may, useMe } from "../app/session";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { NodeBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { Config } from "./config";
import { Events } from "./events";
import { Connection, Labels, Subscriptions } from "./facts";
import { nodeQuery, retry } from "./queries";
import { Refusals } from "./refusals";
import { WaitsFor } from "./waits";
import { refText, settledWords, standing } from "./words";
import "./nodes.css";

export function Node() {
  const { tenant, fleet } = usePlace();
  const { node } = useParams({ from: "/fleets/$fleet/nodes/$node" });
  const asked = useQuery(nodeQuery(tenant, fleet, node));
  if (asked.error instanceof Refused && asked.error.status === 404) return <NotThere node={node} />;
  return (
    <Page title={node} tab={`${node} in ${fleet}`} about={asked.data && <About node={asked.data} />} actions={asked.data && <RetryButton node={asked.data} />}>
      <Loaded query={asked} height={640}>
        {(n) => (
          <>
            <Frozen node={n} />
            <OldBootstrap node={n} />
            <Refusals node={n} />
            <WaitsFor node={n} />
            <Config node={n} />
            <Subscriptions node={n} />
            <Connection node={n} />
            <Labels node={n} />
            <Events node={n.id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NotThere({ node }: { node: string }) {
  const { fleet } = usePlace();
  return (
    <Page title={node} tab={`${node} in ${fleet}`}>
      <Empty title="There is no such node in this fleet">
        <Text size="sm" mb="sm">
          It has never connected here, or was away for so long that it is forgotten. It comes back by itself when it connects.
        </Text>
        <ButtonLink to="/fleets/$fleet/nodes" params={{ fleet }} variant="default">
          To the nodes
        </ButtonLink>
      </Empty>
    </Page>
  );
}

function About({ node }: { node: NodeOf }) {
  const { tenant, fleet } = usePlace();
  const newest = useQuery(fleetQuery(tenant, fleet)).data?.revision;
  return (
    <Group gap="xs" mt={4}>
      <NodeBadge state={node.state} />
      <span>
        {`${settledWords(node.settled, newest)}${standing(node.refusals).length > 0 ? ", but for what it refuses" : ""}; ${node.state === "offline" ? "went offline" : "connected"} `}
        <Ago at={node.since ?? node.last_seen} />
      </span>
    </Group>
  );
}

/** What it refuses for a reason of its own, which is gone by now, can be offered again. */
function RetryButton({ node }: { node: NodeOf }) {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const again = useMutation({ mutationFn: () => retry(tenant, fleet, node.id), onSettled: () => changed(["nodes", "events"], fleet) });
  const refuses = standing(node.refusals).length > 0;
  if (!refuses && again.isIdle) return null;
  return (
    <Group gap="sm" justify="flex-end" maw="32rem">
      {refuses && (
        <Button variant="default" loading={again.isPending} disabled={!may(me, "ci")} onClick={() => again.mutate()} title="For what it refused for a reason of its own, such as a port that was taken. A fixed resource needs none.">
          Retry what it refuses
        </Button>
      )}
      {refuses && !may(me, "ci") && (
        <Text size="xs" c="dimmed">
          A viewer cannot offer it again.
        </Text>
      )}
      {again.data && (
        <Text size="sm" role="status" className="words">
          {retriedWords(again.data, node.state)}
        </Text>
      )}
      {again.error && <ProblemAlert error={again.error} title="It was not offered again" />}
    </Group>
  );
}

function retriedWords(r: Retry, state: NodeOf["state"]): string {
  if (r.retried === 0) return "There was nothing to offer again.";
  const first = r.resources.slice(0, 5).map(refText).join(", ");
  const more = r.retried > 5 ? ` and ${r.retried - 5} more` : "";
  return `${r.retried === 1 ? "1 resource is" : `${r.retried} resources are`} offered again${state === "offline" ? " when it comes back" : ""}: ${first}${more}`;
}

function OldBootstrap({ node }: { node: NodeOf }) {
  if (node.old_bootstrap !== true) return null;
  return (
    <Alert color="yellow" title="Its bootstrap is an old one, or was written by hand">
      It does not say that it keeps the node&rsquo;s credential from what is routed. If its cluster adds the credential to all that goes through it, a route to that cluster speaks as this node. Create the bootstrap again; of one that does not do so,
      set fairlead.bootstrap in its node.metadata.
    </Alert>
  );
}

function Frozen({ node }: { node: NodeOf }) {
  if (!node.frozen?.length) return null;
  return (
    <Alert color="red" title={`It refuses more than a thousand ${node.frozen.join(", ")}`}>
      What is over is kept back from its present stream alone, and offered again on the next one. Fix what it refuses.
    </Alert>
  );
}

