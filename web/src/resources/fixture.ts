// What the API answers in the tests of these views.
import type { Fleet, Resource } from "../api/client";

export const base = "/v1/tenants/acme/fleets/edge";

export const backend: Resource = {
  type: "clusters",
  name: "backend",
  labels: { team: "shop" },
  body: { name: "backend", type: "EDS", connect_timeout: "1s" },
  version: "v-abcdefghijkl",
  revision: 7,
  etag: '"7-aaaa"',
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-02T00:00:00Z",
  updated_by: "ana",
};

export const cert: Resource = {
  type: "secrets",
  name: "cert",
  secret: { kind: "tls_certificate", subject: "CN=shop.example", sans: ["shop.example"], not_after: "2030-01-01T00:00:00Z", fingerprint: "ab12" },
  version: "v-s",
  revision: 3,
  etag: '"3-ssss"',
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-02T00:00:00Z",
};

export const fleet: Fleet = {
  id: "f-1",
  etag: '"1-f"',
  name: "edge",
  description: "",
  revision: 7,
  resources: 3,
  changed_at: "2026-01-02T00:00:00Z",
  created_at: "2026-01-01T00:00:00Z",
  forget_nodes_after: "7d",
  node_ids: "shared",
  receipt_window: "1d",
  references: "warn",
  static_clusters: [], private_clusters: [], local_ports: [],
  values: {},
  counts: { nodes: { live: 1, offline: 0, refusing: 0 }, open_refusals: 0, resources: [{ type: "clusters", count: 2 }, { type: "secrets", count: 1 }] },
};
