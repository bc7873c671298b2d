import { describe, expect, test } from "vitest";
import type { Event, Refusal } from "../api/client";
import { groupRefusals, labelsOf, partOf, settledWords, stories, subscriptionWords, waitsWords, withheldBy } from "./words";

const refusal = (name: string, detail: string, ended = false): Refusal => ({
  type: "clusters", name, detail, version: "v", revision: 2, at: "2026-01-01T00:00:00Z", ...(ended ? { resolved_at: "2026-01-01T00:01:00Z" } : {}),
});

test("where a node is against the fleet", () => {
  expect(settledWords(7, 7)).toBe("at 7, the newest");
  expect(settledWords(7, 9)).toBe("at 7, 2 behind");
  expect(settledWords(8, 7)).toBe("at 8, the newest"); // the fleet was read a moment before
  expect(settledWords(7, undefined)).toBe("at 7");
  expect(settledWords(0, 3)).toBe("nothing confirmed yet");
  expect(settledWords(0, 0)).toBe("nothing to confirm yet");
});

test("identical words of many nodes are one group, the largest first", () => {
  const groups = groupRefusals([
    { id: "b", refusals: [refusal("web", "yes")] },
    { id: "a", refusals: [refusal("web", "no"), refusal("cart", "no")] },
    { id: "c", refusals: [refusal("web", "no"), refusal("web", "over", true)] },
  ]);
  expect(groups).toEqual([
    { words: "no", nodes: ["a", "c"], refs: [{ type: "clusters", name: "web" }, { type: "clusters", name: "cart" }] },
    { words: "yes", nodes: ["b"], refs: [{ type: "clusters", name: "web" }] },
  ]);
});

describe("the part of the words that is about one resource", () => {
  const clusters = "Error adding/updating cluster(s) health: no 'x' with type URL: '', tls: Invalid path: nope.pem, web: cluster manager: cluster 'web' did not";
  const listeners = "Error adding/updating listener(s) port: cannot bind '127.0.0.1:1': in use\ntaken: unable to open file";
  test.each([
    [clusters, "health", "no 'x' with type URL: ''"],
    [clusters, "tls", "Invalid path: nope.pem"],
    [clusters, "web", "cluster manager: cluster 'web' did not"],
    [listeners, "port", "cannot bind '127.0.0.1:1': in use"],
    [listeners, "taken", "unable to open file"],
    ["route: unknown cluster 'nope'", "shop", "route: unknown cluster 'nope'"],
    ["type URL: x", "URL", "type URL: x"],
    ["anything", "", "anything"],
  ])("%#", (words, name, part) => {
    expect(partOf(words, name, ["health", "tls", "web", "port", "taken", ""])).toBe(part);
  });
});

test("what is waited for, in a few words", () => {
  const r = (name: string) => ({ type: "routes" as const, name });
  expect(waitsWords(undefined)).toBe("");
  expect(waitsWords({ warming: [r("a")], withheld: [], withheld_by: [] })).toBe("warms routes/a");
  expect(waitsWords({ warming: [], withheld: [], withheld_by: [r("a"), r("b"), r("c")], more: 4 })).toBe("routes/a, routes/b and 1 more, 4 more");
});

test("labels are told as selectors name them", () => {
  expect(labelsOf({ cluster: "edge", region: "eu", sub_zone: "", metadata: { canary: true, team: { name: "shop" }, list: ["a"], "app.x/y": 1 } })).toEqual([
    ["node.cluster", "edge"], ["locality.region", "eu"], ["metadata.canary", "true"], ["metadata.team.name", "shop"], ["metadata.list", '["a"]'], ['metadata."app.x/y"', "1"],
  ]);
});

test("subscriptions", () => {
  expect(subscriptionWords({ type: "clusters", wildcard: true })).toBe("all of them");
  expect(subscriptionWords({ type: "listeners", wildcard: false, names: ["a", "b"] })).toBe("by name: a, b");
  expect(subscriptionWords({ type: "listeners", wildcard: true, named: 30 })).toBe("all of them, and by name 30 of them");
  expect(subscriptionWords({ type: "clusters", wildcard: false })).toBe("some by name");
});

test("events become stories: refused, what was done, how it ended; one answer is one story", () => {
  const at = (s: number) => `2026-01-01T00:00:0${s}Z`;
  const e = (kind: Event["kind"], name: string, s: number, more: Partial<Event>): Event => ({ kind, node: "n", at: at(s), id: `${kind}${name}${s}`, resource: { type: "clusters", name }, version: "v", ...more });
  const told = stories([
    { kind: "duplicates", node: "n", at: at(9), id: "d" },
    e("recovered", "b", 8, { revision: 3 }),
    e("recovered", "a", 8, { revision: 3 }),
    e("kept_back", "b", 1, { action: "kept" }),
    e("kept_back", "a", 1, { action: "kept" }),
    e("refused", "b", 1, { detail: "no", revision: 2 }),
    e("refused", "a", 1, { detail: "no", revision: 2 }),
    e("recovered", "old", 0, { revision: 1 }),
  ]);
  expect(told.map((s) => [s.kind, s.refs.map((r) => r.name).join(), s.words, s.revision, s.action, s.endedBy])).toEqual([
    ["duplicates", "", undefined, undefined, undefined, undefined],
    ["refused", "a,b", "no", 2, "kept", 3],
    ["recovered", "old", undefined, 1, undefined, undefined],
  ]);
});

test.each([
  ["missing", "waits for secrets/cert, which does not exist: write it"],
  ["refused", "waits for secrets/cert, which is refused by this node: fix it"],
  ["sealed", /^waits for secrets\/cert, which is sealed with a key/],
  ["too_large", /^does not fit: with it the set would be larger/],
] as const)("what is %s is told with what helps", (reason, words) => {
  const told = withheldBy({ by: { type: "secrets", name: "cert" }, reason });
  if (typeof words === "string") expect(told).toBe(words);
  else expect(told).toMatch(words);
});

test("that a refusal was offered again is no revision's doing, and none is named for what the node took", () => {
  const e = { at: "2026-01-01T00:00:00Z", node: "n", resource: { type: "clusters", name: "web" }, version: "bad" } as const;
  const refused = { ...e, kind: "refused", revision: 67 } as const;
  const ends = (kind: "recovered" | "offered", revision?: number) => stories([{ ...e, kind, ...(revision === undefined ? {} : { revision }) }, refused]).map((s) => [s.endedAs, s.endedBy]);
  expect(ends("offered", 67)).toEqual([["offered", undefined]]);
  expect(ends("recovered", 68)).toEqual([["replaced", 68]]);
  expect(ends("recovered")).toEqual([["taken", undefined]]);
});
