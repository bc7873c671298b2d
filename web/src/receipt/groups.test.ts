import { expect, test } from "vitest";
import type { ReceiptNode } from "../api/client";
import { groupRefusals, groupWaits } from "./groups";

const refused = (id: string, detail: string): ReceiptNode => ({ id, state: "nacked", detail, resource: { type: "clusters", name: "a" }, action: "kept" });

test("the same words of many nodes are one group, over all pages", () => {
  const first = groupRefusals([], [refused("n-0", "rare"), ...Array.from({ length: 100 }, (_, i) => refused(`n-${i}`, "bad"))]);
  const all = groupRefusals(first, Array.from({ length: 198 }, (_, i) => refused(`m-${i}`, "bad")));
  expect(all.map((g) => [g.nodes, g.detail, g.ids.length])).toEqual([[298, "bad", 5], [1, "rare", 1]]);
  expect(first[0]?.nodes).toBe(100); // what was counted before is not changed
});

test("pending nodes are told by what they wait for", () => {
  const by = { type: "routes", name: "r" } as const;
  const resource = { type: "listeners", name: "l" } as const;
  const withheld = [{ resource, by, reason: "missing" as const }];
  const groups = groupWaits([], [{ id: "a", state: "pending", withheld }, { id: "b", state: "pending", withheld, warming: [{ type: "clusters", name: "c" }] }, { id: "x", state: "acked", withheld }]);
  expect(groups.map((g) => [g.kind, g.nodes, g.ids])).toEqual([["withheld", 2, ["a", "b"]], ["warming", 1, ["b"]]]);
});
