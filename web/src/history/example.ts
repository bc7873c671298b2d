// A fleet for tests: what every page of it asks.
import type { Fleet, Plan, Receipt, Revision } from "../api/client";
import { get } from "../test/server";

export const at = "2026-01-01T00:00:00Z";
export const path = "/v1/tenants/acme/fleets/edge";

export const fleet = (revision: number): Fleet => ({
  id: "f", name: "edge", description: "", created_at: at, changed_at: at, resources: 1, revision,
  references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d",
  etag: '"s-1"', static_clusters: [], private_clusters: [], local_ports: [], values: {},
});

export const revision = (n: number, more: Partial<Revision> = {}): Revision => ({ revision: n, kind: "apply", actor: "ann", committed_at: at, changed: 1, created: 0, updated: 1, deleted: 0, ...more });

export const receipt = (n: number, state: Receipt["state"], counts: Partial<Receipt["counts"]>, nodes: Receipt["nodes"] = []): Receipt => ({
  revision: n, state, committed_at: at, nodes,
  counts: { acked: 0, nacked: 0, pending: 0, offline: 0, left: 0, withheld: 0, unaffected: 0, late: 0, ...counts },
});

export const plan = (more: Partial<Plan>): Plan => ({
  revision: 7, token: "plan-1", confirm: [], limits: [], counts: { create: 0, update: 1, delete: 0, unchanged: 0 },
  resources: [{ type: "clusters", name: "a", action: "update", nodes: 3, diff: "--- clusters/a (revision 1)\n+++ clusters/a (planned)\n@@ -9 +9 @@\n-  connect_timeout: 1s\n+  connect_timeout: 5s\n" }],
  reach: { nodes: 10, reached: 3, views: [{ nodes: 3, example: "n-1" }], ids: ["n-1", "n-2", "n-3"] },
  ...more,
});

const noFindings = { revision: 1, errors: 0, warnings: 0, infos: 0, items: [] };

/** What the page of a revision asks, of one that changed clusters/a. */
export const revisionPage = (n: number) => [
  get(path, fleet(n)),
  get(`${path}/findings`, noFindings),
  get(`${path}/revisions/${n}`, revision(n, { message: "why" })),
  get(`${path}/revisions/${n}/receipt`, receipt(n, "delivered", { acked: 1 }, [{ id: "n-1", state: "acked", at }])),
  get(`${path}/revisions/${n}/changes`, { from: n - 1, to: n, items: [{ type: "clusters" as const, name: "a", action: "update" as const, diff: "@@ -1 +1 @@\n-a\n+b\n" }] }),
];
