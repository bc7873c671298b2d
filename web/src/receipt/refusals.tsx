// Who refused what, in the proxies' own words, each words once; and the way back beside it.
import { Alert, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Difference } from "../api/client";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { mayWrite, whyNotWrite } from "../draft/rights";
import { NodeLinks, ResourceLink, type Named } from "../history/resource-link";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import type { Refusals } from "./groups";
import { refusalsQuery } from "./queries";

/** More are told by the nodes of the receipt. */
const most = 50;

interface Props {
  revision: number;
  /** It is of the kind `endpoints`, to which no rollback leads. */
  ofEndpoints: boolean;
  /** What the revision changed, as far as it is known. */
  changes: readonly Difference[];
}

export function RefusalGroups({ revision, ofEndpoints, changes }: Props) {
  const { tenant, fleet } = usePlace();
  const query = useQuery(refusalsQuery(tenant, fleet, revision));
  return (
    <Loaded query={query} height={140}>
      {({ groups, looked, more, unlisted }) => (
        <Stack gap="sm">
          {groups.slice(0, most).map((g, i) => (
            <Refused key={i} group={g} first={i === 0} revision={revision} ofEndpoints={ofEndpoints} changes={changes} />
          ))}
          {groups.length > most && (
            <Text size="sm" c="dimmed">
              And {groups.length - most} more of other words: see the nodes.
            </Text>
          )}
          {unlisted > 0 && (
            <Text size="sm" c="dimmed">
              {unlisted === 1 ? "1 more refusal" : `${unlisted} more refusals`} of these nodes: see the nodes' own pages.
            </Text>
          )}
          {more && (
            <Text size="sm" c="dimmed">
              These are the words of the first {looked} nodes that refused.
            </Text>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function Refused({ group, first, revision, ofEndpoints, changes }: Props & { group: Refusals; first: boolean }) {
  const refused = changedAs(group, changes);
  return (
    <Alert color="red" variant="light" title={<Title group={group} refused={refused} />}>
      <Stack gap="xs">
        <Text size="sm" className="words mono" component="blockquote" m={0}>
          {group.detail === "" ? "It said no words." : group.detail}
        </Text>
        <Text size="sm">
          <NodeLinks ids={group.ids} of={group.nodes} />
        </Text>
        {group.action !== undefined && (
          <Text size="sm" className="words">
            What was done: {group.action}. All else that the nodes have goes on as it is.
          </Text>
        )}
        {first && (ofEndpoints ? <Text size="sm">A rollback changes documents alone. Set other endpoints, or correct their document.</Text> : <WayBack revision={revision} refused={refused} />)}
      </Stack>
    </Alert>
  );
}

function Title({ group, refused }: { group: Refusals; refused: Named | undefined }) {
  return (
    <span>
      {group.nodes === 1 ? "1 node" : `${group.nodes} nodes`} refused {refused ? <ResourceLink of={refused} /> : "it"}
    </span>
  );
}

// A refusal names no variant; where the revision changed just one of the name, it is that.
function changedAs({ resource }: Refusals, changes: readonly Difference[]): Named | undefined {
  if (!resource) return undefined;
  const same = changes.filter((c) => c.type === resource.type && c.name === resource.name);
  const variant = same.length === 1 ? same[0]?.variant : undefined;
  return { type: resource.type, name: resource.name, ...(variant !== undefined ? { variant } : {}) };
}

/** To the plan of a rollback: of all, or of what was refused alone. */
function WayBack({ revision, refused }: { revision: number; refused: Named | undefined }) {
  const { fleet } = usePlace();
  const me = useMe();
  if (!mayWrite(me)) return <Text size="sm">{whyNotWrite(me)}</Text>;
  if (revision <= 1) return <Text size="sm">Nothing was before the first revision: fix the resource, or delete it.</Text>;
  const before = String(revision - 1);
  return (
    <Group gap="sm">
      <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: before }} color="red" size="sm">
        Roll back to revision {before}
      </ButtonLink>
      {refused && (
        <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: before }} search={{ type: refused.type, name: refused.name, variant: refused.variant }} variant="default" size="sm">
          Roll back this resource alone
        </ButtonLink>
      )}
    </Group>
  );
}
