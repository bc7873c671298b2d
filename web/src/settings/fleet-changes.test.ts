import { expect, test } from "vitest";
import { changes, type Settings } from "./fleet-changes";

const fleet: Settings = { description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d", static_clusters: ["local_agent"], private_clusters: ["vault"] };

test("what is as it was is not sent", () => {
  expect(changes(fleet, {})).toEqual({});
  expect(changes(fleet, { ...fleet, receipt_window: " 1d ", static_clusters: ["local_agent"] })).toEqual({});
});

test("what differs is sent, and nothing else", () => {
  expect(changes(fleet, { references: "strict", receipt_window: " 12h" })).toEqual({ references: "strict", receipt_window: "12h" });
  expect(changes(fleet, { node_ids: "exclusive", forget_nodes_after: "14d", description: "x" })).toEqual({ node_ids: "exclusive", forget_nodes_after: "14d", description: "x" });
  expect(changes(fleet, { static_clusters: [] })).toEqual({ static_clusters: [] });
  expect(changes(fleet, { static_clusters: ["other"] })).toEqual({ static_clusters: ["other"] });
  expect(changes(fleet, { private_clusters: ["vault", "other"] })).toEqual({ private_clusters: ["vault", "other"] });
  expect(changes(fleet, { private_clusters: ["vault"] })).toEqual({});
});
