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
  const groups = groupWaits([], [{ id: "a", state: "pending", withheld }, { id: "b", state: "pending", withheld, warming: [{ type: "clusters", name: "c" }] }, { id: "x", state: "acked", withheld }, { id: "f", state: "pending", no_envoy: true }, { id: "g", state: "pending", no_envoy: true }]);
  expect(groups.map((g) => [g.kind, g.nodes, g.ids])).toEqual([["withheld", 2, ["a", "b"]], ["no_envoy", 2, ["f", "g"]], ["warming", 1, ["b"]]]);
});

test("what was offered again is told so, and not as ended by a revision", () => {
  const refused = { id: "a", state: "nacked", detail: "no", action: "kept the last known good version" } as const;
  const said = (more: Partial<ReceiptNode>) => groupRefusals([], [{ ...refused, ...more }])[0]?.action;
  expect(said({})).toBe("kept the last known good version");
  expect(said({ ended: "offered" })).toBe("offered to it again since then");
  expect(said({ ended: "taken" })).toBe("it has what it is to have since then");
  expect(said({ ended: "replaced", resolved_by: 68 })).toBe("ended by revision 68");
});

test("a node that refused several resources is in the group of each, once", () => {
  const also = { detail: "no", resource: { type: "listeners", name: "l" }, action: "kept" } as const;
  const groups = groupRefusals([], [{ ...refused("n-0", "bad"), also_refused: [also, also, { detail: "bad" }] }, { id: "n-1", state: "nacked", ...also }, { ...refused("n-2", "bad"), state: "acked", also_refused: [also] }]);
  expect(groups.map((g) => [g.resource?.name, g.detail, g.nodes, g.ids])).toEqual([["l", "no", 2, ["n-0", "n-1"]], ["a", "bad", 1, ["n-0"]], [undefined, "bad", 1, ["n-0"]]]);
});
