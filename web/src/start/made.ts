// Answers of the API for the tests of these views.
import type { Fleet, FleetList, ReceiptState } from "../api/client";

export function aFleet(name: string, more: Partial<Fleet> = {}, receipt: ReceiptState = "delivered"): Fleet {
  return {
    id: `id-${name}`, name, description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d",
  etag: '"s-1"', static_clusters: [], private_clusters: [], local_ports: [], values: {},
    revision: 7, changed_at: "2026-01-02T00:00:00Z", resources: 3, created_at: "2026-01-01T00:00:00Z",
    counts: { nodes: { live: 3, refusing: 1, offline: 0 }, resources: [], open_refusals: 1, receipt },
    ...more,
  };
}

/** One in which nothing was written and nobody connected. */
export const newFleet = (name: string): Fleet =>
  aFleet(name, { revision: 0, resources: 0, counts: { nodes: { live: 0, refusing: 0, offline: 0 }, resources: [], open_refusals: 0 } });

export const fleetList = (...items: Fleet[]): FleetList => ({ items });
