import { expect, test } from "vitest";
import type { FleetCounts } from "../api/client";
import { fleetHealth } from "./fleet-health";

const well: FleetCounts = { nodes: { live: 3, refusing: 0, offline: 0 }, resources: [], open_refusals: 0, receipt: "delivered" };
const none = { errors: 0, warnings: 0 };

test.each([
  ["all is well", well, none, "delivered", "teal"],
  ["findings are not known", well, undefined, "delivered", "gray"],
  ["nodes refuse older revisions", { ...well, nodes: { live: 9, refusing: 21, offline: 0 }, open_refusals: 21 }, none, "21 nodes refuse something", "red"],
  ["a node that is away refuses", { ...well, open_refusals: 1 }, none, "1 refusal stands", "orange"],
  ["an error is found", well, { errors: 2, warnings: 1 }, "2 errors", "red"],
  ["a warning is found", well, { errors: 0, warnings: 1 }, "1 warning", "yellow"],
  ["a node has not answered", { ...well, receipt: "pending" as const }, { errors: 0, warnings: 1 }, "pending", "yellow"],
  ["it is refused", { ...well, receipt: "rejected" as const, nodes: { live: 2, refusing: 1, offline: 0 } }, { errors: 1, warnings: 0 }, "rejected", "red"],
  ["nobody is connected", { ...well, receipt: "stored" as const }, none, "stored", "gray"],
])("%s: the worst is told", (_, counts, found, word, color) => {
  expect(fleetHealth({ counts }, found)).toEqual({ word, color });
});

test("of a fleet in which nothing was written nothing is said", () => {
  expect(fleetHealth({ counts: { nodes: well.nodes, resources: [], open_refusals: 0 } }, none)).toBeUndefined();
});
