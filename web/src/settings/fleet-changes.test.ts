import { expect, test } from "vitest";
import { changes, portsOf, type Settings } from "./fleet-changes";

const fleet: Settings = { description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d", static_clusters: ["local_agent"], private_clusters: ["vault"], local_ports: [8080] };

test("what is as it was is not sent", () => {
  expect(changes(fleet, {})).toEqual({});
  expect(changes(fleet, { ...fleet, receipt_window: " 1d ", static_clusters: ["local_agent"], local_ports: [8080] })).toEqual({});
});

test("what differs is sent, and nothing else", () => {
  expect(changes(fleet, { references: "strict", receipt_window: " 12h" })).toEqual({ references: "strict", receipt_window: "12h" });
  expect(changes(fleet, { node_ids: "exclusive", forget_nodes_after: "14d", description: "x" })).toEqual({ node_ids: "exclusive", forget_nodes_after: "14d", description: "x" });
  expect(changes(fleet, { static_clusters: [] })).toEqual({ static_clusters: [] });
  expect(changes(fleet, { static_clusters: ["other"] })).toEqual({ static_clusters: ["other"] });
  expect(changes(fleet, { private_clusters: ["vault", "other"] })).toEqual({ private_clusters: ["vault", "other"] });
  expect(changes(fleet, { private_clusters: ["vault"] })).toEqual({});
  expect(changes(fleet, { local_ports: [] })).toEqual({ local_ports: [] });
  expect(changes(fleet, { local_ports: [8080, 9000] })).toEqual({ local_ports: [8080, 9000] });
});

test("what a fleet says of load reports is sent where it differs, nothing where it says nothing", () => {
  expect(changes(fleet, { load_report_interval: " ", load_report_clusters: [], load_report_endpoints: false })).toEqual({});
  expect(changes(fleet, { load_report_interval: " 30s", load_report_clusters: ["a"], load_report_endpoints: true })).toEqual({ load_report_interval: "30s", load_report_clusters: ["a"], load_report_endpoints: true });
  const asks: Settings = { ...fleet, load_report_interval: "30s", load_report_clusters: ["a"], load_report_endpoints: true };
  expect(changes(asks, { load_report_interval: "30s", load_report_clusters: ["a"], load_report_endpoints: true })).toEqual({});
  expect(changes(asks, { load_report_interval: "", load_report_clusters: [], load_report_endpoints: false })).toEqual({ load_report_interval: "", load_report_clusters: [], load_report_endpoints: false });
});

test("what is typed as a port and is none is left out", () => {
  expect(portsOf(["8080", "x", "0", "65536", "-1", "1.5", "65535"])).toEqual([8080, 65535]);
});
