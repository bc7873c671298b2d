// Who the node is and how it is connected.
import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Node, ResourceType } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { Section } from "../ui/page";
import { DataTable } from "../ui/table";
import { Ago, useNow } from "../ui/time";
import { resourceTypes } from "./types";
import { clientWords, labelsOf, subscriptionWords } from "./words";

export function Connection({ node }: { node: Node }) {
  const facts: [string, ReactNode][] = [
    ["Client", clientWords(node)],
    ["Protocol", node.protocol],
    [node.state === "offline" ? "Was last on the xDS server" : "xDS server", node.server],
    ["Address", node.remote_addr && <span className="mono">{node.remote_addr}</span>],
    ["Streams", node.streams],
    ["Node credential", node.credential && <span className="mono">{node.credential}</span>],
    ["Its credential expires", node.credential_expires_at && <CredentialEnd key="ends" at={node.credential_expires_at} />],
    ["First seen", <Ago key="first" at={node.first_seen} />],
    ["Last seen", <Ago key="last" at={node.last_seen} />],
  ];
  return (
    <Section title="Connection">
      <Duplicates node={node} />
      <dl className="facts">
        {facts.map(([title, fact]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{fact || "–"}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const soon = 14 * 86_400_000; // as the finding credential_expires has it

/** When the node's credential ends: from then on it is let in no more. */
function CredentialEnd({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return (
    <Text span inherit {...(left < soon ? { c: left < 0 ? "red" : "orange", fw: 600 } : {})}>
      <Ago at={at} />
      {left < 0 && ": with it the node is not let in any more"}
    </Text>
  );
}

function Duplicates({ node }: { node: Node }) {
  if (node.duplicates === undefined || node.duplicates < 2) return null;
  const servers = node.connections !== undefined && node.connections > 1 ? ` on ${node.connections} servers` : "";
  return (
    <Alert color="yellow" mb="md" title={`${node.duplicates} clients have this id${servers}`}>
      A revision is acked when all of them have it, and what one of them refuses counts for the id. Give each an id of its own.
    </Alert>
  );
}

export function Labels({ node }: { node: Node }) {
  const labels = node.labels ? labelsOf(node.labels) : [];
  return (
    <Section title="Labels">
      {node.labels_unknown && (
        <Alert color="yellow" mb="md" title="Not all of its labels are known">
          It has not connected since labels are kept, or its metadata takes more than 16 KiB.
        </Alert>
      )}
      {labels.length === 0 ? (
        <Text size="sm" c="dimmed">
          It says nothing of itself that a selector could ask for.
        </Text>
      ) : (
        <dl className="facts" aria-label="Labels as a selector asks for them">
          {labels.map(([key, value]) => (
            <div key={key}>
              <dt className="mono">{key}</dt>
              <dd className="mono">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}

/** What it asks for of each type that it subscribes to or that the fleet has. */
export function Subscriptions({ node }: { node: Node }) {
  const { tenant, fleet } = usePlace();
  const has = useQuery(fleetQuery(tenant, fleet)).data?.counts?.resources ?? [];
  const told = node.subscribes;
  const rows = resourceTypes
    .map((type) => ({ type, asks: told?.find((s) => s.type === type), has: has.find((c) => c.type === type)?.count ?? 0 }))
    .filter((r) => r.asks !== undefined || r.has > 0);
  return (
    <Section title="What it subscribes to">
      {told === undefined && (
        <Text size="sm" c="dimmed">
          {node.state === "offline" ? "Of a node that is not connected this is not known." : "It has just come: this is told within some seconds."}
        </Text>
      )}
      {told !== undefined && (
        <DataTable
          label="Subscriptions"
          rows={rows}
          keyOf={(r) => r.type}
          columns={[
            { title: "Type", cell: (r) => <TextLink to="." search={(old) => ({ ...old, type: r.type, holds: undefined, name: undefined, held: undefined })} resetScroll={false}>{r.type}</TextLink> },
            { title: "It asks for", cell: (r) => <span className="words">{r.asks ? subscriptionWords(r.asks) : followed.includes(r.type) ? "what it has names, by name" : "nothing of it"}</span> },
            { title: "In the fleet", kind: "number", cell: (r) => r.has },
          ]}
        />
      )}
    </Section>
  );
}

/** Of these a node's subscription is not kept: it follows from what it has. */
const followed: readonly ResourceType[] = ["routes", "scoped-routes", "virtual-hosts", "endpoints", "secrets", "extensions"];
