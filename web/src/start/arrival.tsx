// Waits until the node is there. The event stream says when to look again.
import { Alert, Group, List, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconCheck } from "@tabler/icons-react";
import type { DeniedReason, Event, Node } from "../api/client";
import { useMe } from "../app/session";
import { mayWrite } from "../draft/rights";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { NodeBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { arrival, turnedAway } from "./queries";

interface Props {
  tenant: string;
  fleet: string;
  node: string;
  /** Nothing is written in the fleet yet. */
  first: boolean;
}

export function Arrival({ tenant, fleet, node, first }: Props) {
  const there = useQuery({ ...arrival(tenant, fleet, node), enabled: node !== "" });
  const away = useQuery(turnedAway(tenant, fleet));
  const arrived = there.data !== null && there.data !== undefined && there.data.state !== "offline";
  return (
    <Section title="5. See it come">
      <Loaded query={there} height={90}>
        {(n) => <div role="status">{n !== null && n.state !== "offline" ? <There fleet={fleet} node={n} first={first} /> : <Waiting node={node} seen={n} />}</div>}
      </Loaded>
      {!arrived && away.data !== undefined && away.data.length > 0 && <TurnedAway events={away.data.slice(0, 5)} />}
    </Section>
  );
}

function Waiting({ node, seen }: { node: string; seen: Node | null }) {
  return (
    <Group gap="sm" wrap="nowrap" mih={64}>
      <Loader size="sm" type="dots" aria-hidden />
      <Text size="sm" className="words">
        Waiting for {node} to connect. {seen === null ? "It has not been here yet." : <>It was last seen <Ago at={seen.last_seen} />.</>} This page says so when it comes; there is nothing to press.
      </Text>
    </Group>
  );
}

function There({ fleet, node, first }: { fleet: string; node: Node; first: boolean }) {
  const me = useMe();
  return (
    <Stack gap="sm" mih={64}>
      <Group gap="sm">
        <IconCheck size={20} color="var(--mantine-color-teal-6)" aria-hidden />
        <Text fw={600} className="words">
          {node.id} is connected
        </Text>
        <NodeBadge state={node.state} />
        <Text size="sm" c="dimmed" className="words">
          {[node.user_agent, node.version, node.protocol].filter((w) => w !== undefined && w !== "").join(", ")}
        </Text>
      </Group>
      <Group gap="sm">
        {mayWrite(me) && (
          <ButtonLink to="/fleets/$fleet/new" params={{ fleet }} search={{ kind: "listener" }}>
            {first ? "Make the first route" : "Make a route"}
          </ButtonLink>
        )}
        <ButtonLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node: node.id }} variant="default">
          Look at it
        </ButtonLink>
      </Group>
    </Stack>
  );
}

const reasons: Record<DeniedReason, string> = {
  token_wrong: "its token is not the one that was made: the file or the variable is damaged",
  token_revoked: "its credential was revoked: make a new one",
  token_expired: "its credential has expired: make a new one",
  node_id_forbidden: "its credential is not for nodes of this id",
  node_id_taken: "another client has this node id, and ids of this fleet are exclusive",
  routed: "its call came through a proxy, which has lent it the credential",
  type_not_served: "it asks for a type of resource that is not served",
  names_over_limit: "it asks for more than it may",
  request_refused: "its stream is refused for what it asks",
  withheld_missing: "a resource is kept from it, as what that names does not exist",
  withheld_refused: "a resource is kept from it, as it refuses what that names",
  withheld_sealed: "a secret is kept from it, as its xDS server has no key for that",
  withheld_too_large: "a resource is kept from it, as the set with that is larger than it takes at once",
};

function TurnedAway({ events }: { events: readonly Event[] }) {
  return (
    <Alert color="yellow" title="Somebody was not let in" mt="sm">
      <List size="sm">
        {events.map((e, i) => (
          <List.Item key={e.id ?? i} className="words">
            {e.node === "" ? "A client" : e.node}
            {e.address !== undefined && ` from ${e.address}`}: {e.reason === undefined ? "it was refused" : reasons[e.reason]}, <Ago at={e.at} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
