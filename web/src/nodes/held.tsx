// One resource as the node has it: why, and its body. It opens over the list by the address.
import { Alert, Drawer, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Node, NodeReason, NodeResource, NodeResourceState, ResourceRef } from "../api/client";
import { usePlace } from "../app/place";
import { Code } from "../code";
import { Loaded } from "../ui/loaded";
import { useFilters } from "../ui/search";
import { Ago, exact } from "../ui/time";
import { Copy } from "../ui/copy";
import { ResourceStateBadge } from "./config";
import { heldQuery, whyQuery, type Text as Body } from "./queries";
import { RefLink, RefLinks, RevisionLink } from "./refs";
import { resourceTypes, stateWords } from "./types";
import { Why } from "./why";
import { refText } from "./words";

/** "clusters/a/b" is the resource "a/b" of the type clusters. */
export function refOf(text: string | undefined): ResourceRef | undefined {
  const at = text?.indexOf("/") ?? -1;
  if (text === undefined || at < 0) return undefined;
  const type = resourceTypes.find((t) => t === text.slice(0, at));
  const name = text.slice(at + 1);
  return type === undefined || name === "" ? undefined : { type, name };
}

export function HeldDrawer({ node }: { node: Node }) {
  const [search, set] = useFilters();
  const of = refOf(search.open);
  return (
    <Drawer
      opened={of !== undefined}
      onClose={() => set({ open: undefined })}
      position="right"
      size="min(52rem, 100%)"
      title={of && <span className="mono words">{refText(of)}</span>}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {of && <Held key={refText(of)} node={node} of={of} />}
    </Drawer>
  );
}

function Held({ node, of }: { node: Node; of: ResourceRef }) {
  const { tenant, fleet } = usePlace();
  const why = useQuery(whyQuery(tenant, fleet, node.id, of));
  return (
    <Loaded query={why} height={420}>
      {(reason) =>
        reason === null ? (
          <Text size="sm">The fleet has no such resource for this node.</Text>
        ) : (
          <Stack gap="lg">
            <State of={reason} />
            <Why of={reason} />
            <InForce node={node} of={reason.resource} />
          </Stack>
        )
      }
    </Loaded>
  );
}

function State({ of: { resource: r } }: { of: NodeReason }) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <ResourceStateBadge state={r.state} />
        <Text size="sm">{stateWords[r.state].means}</Text>
      </Group>
      <Text size="sm">
        {"In the fleet: "}
        <RefLink of={r} variant={r.variant} />
      </Text>
      {r.detail !== undefined && (
        <Alert color="red" variant="light" title={r.refused_revision === undefined ? "It refused it" : `It refused the version of revision ${r.refused_revision}`}>
          <Text size="sm" className="words">{r.detail}</Text>
          <Text size="sm" mt={4}>
            {r.action}
            {r.since !== undefined && <>{r.action === undefined ? "" : ", "}<Ago at={r.since} /></>}
          </Text>
        </Alert>
      )}
      {r.keeps && r.keeps.length > 0 && (
        <Text size="sm">
          {"It keeps what the fleet has deleted, as this version names it: "}
          <RefLinks of={r.keeps} />
        </Text>
      )}
      {r.ttl !== undefined && <Text size="sm">{`TTL ${r.ttl}${r.ttl_sent === undefined ? "" : r.ttl_sent ? ", sent" : ", not sent"}${r.ttl_detail === undefined ? "" : `: ${r.ttl_detail}`}`}</Text>}
    </Stack>
  );
}

const bodyTitle: Record<NodeResourceState, string> = {
  synced: "What it has",
  pending: "What it is to have",
  refused: "What stands in",
  absent: "What it has",
  unreferenced: "What the fleet has",
  not_subscribed: "What the fleet has",
  on_demand: "What the fleet has",
  unmatched: "What it has",
};

function InForce({ node, of }: { node: Node; of: NodeResource }) {
  const { tenant, fleet } = usePlace();
  const body = useQuery({ ...heldQuery(tenant, fleet, node.id, of), enabled: of.version !== undefined });
  return (
    <section aria-label={bodyTitle[of.state]}>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h5">
          {bodyTitle[of.state]}
        </Title>
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {of.revision !== undefined && <RevisionLink of={of.revision} />}
          </Text>
          {body.data?.text && <Copy text={body.data.text} label="Copy the body" />}
        </Group>
      </Group>
      {of.version === undefined ? (
        <Text size="sm" c="dimmed">
          {of.state === "refused" ? "What the node runs is not known." : "The node holds no version of it."}
        </Text>
      ) : (
        <Loaded query={body} height={320}>{(b) => <BodyOf body={b} of={of} />}</Loaded>
      )}
    </section>
  );
}

function BodyOf({ body, of }: { body: Body | null; of: NodeResource }) {
  if (body?.secret) {
    const s = body.secret;
    const parts = [s.kind, s.subject, s.sans?.join(", "), s.not_after && `valid until ${exact(s.not_after)}`, s.fingerprint].filter(Boolean);
    return (
      <Text size="sm" className="words">
        {`A secret, whose content is not shown: ${parts.join("; ")}`}
      </Text>
    );
  }
  if (!body?.text) return <Text size="sm" c="dimmed">Its body is not told.</Text>;
  return <Code label={`${refText(of)} as this node has it`} text={body.text} language="yaml" readOnly height={520} />;
}
