// The settings for those who read them alone.
import { SimpleGrid, Text } from "@mantine/core";
import type { Settings } from "./fleet-changes";

const references = {
  warn: "Warn: what names something that is missing is stored, and nodes keep what they have until it is there.",
  strict: "Strict: a write that leaves something without what it names is refused.",
};
const nodeIds = {
  shared: "Shared: several clients may have one node id at a time. They are told as duplicates.",
  exclusive: "Exclusive: a client is not let in while another one of its node id is connected.",
};

function loadReports(fleet: Settings): string {
  const clusters = fleet.load_report_clusters ?? [];
  const of = clusters.length === 0 ? "all clusters" : clusters.join(", ");
  const often = fleet.load_report_interval === undefined ? "as often as the xDS servers say" : `every ${fleet.load_report_interval}`;
  return `Proxies that report do so ${often}, of ${of}${fleet.load_report_endpoints ? ", and of each endpoint" : ""}.`;
}

export function FleetFacts({ fleet }: { fleet: Settings }) {
  const facts = [
    ["Description", fleet.description || "There is none."],
    ["References", references[fleet.references]],
    ["Node ids", nodeIds[fleet.node_ids]],
    ["Receipt window", `A node counts in a receipt if it was seen in the ${fleet.receipt_window} before the revision.`],
    ["Forget nodes after", `${fleet.forget_nodes_after} without a connection.`],
    ["Static clusters", fleet.static_clusters.length === 0 ? "None." : fleet.static_clusters.join(", ")],
    ["Private clusters", ["fairlead_*", ...fleet.private_clusters].join(", ")],
    ["Local ports", fleet.local_ports.length === 0 ? "None." : fleet.local_ports.join(", ")],
    ["Load reports", loadReports(fleet)],
  ] as const;
  return (
    <SimpleGrid component="dl" cols={{ base: 1, sm: 2 }} spacing="lg" verticalSpacing="md" m={0}>
      {facts.map(([label, words]) => (
        <div key={label}>
          <Text component="dt" size="sm" fw={600}>
            {label}
          </Text>
          <Text component="dd" size="sm" m={0} className="words">
            {words}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  );
}
