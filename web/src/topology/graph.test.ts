import { expect, test } from "vitest";
import type { Receipt, Topology, TopologyResource } from "../api/client";
import { collapse } from "./collapse";
import { around, found, ofNode, problems } from "./focus";
import { graphOf, type Graph, type Mark } from "./graph";
import { placesOf } from "./layout";
import { fleetMarks, nodeMarks } from "./marks";
import { refOf } from "./queries";

/** "a>b" lists of ids; of one that begins with "!" the name is missing. */
function graph(edges: readonly string[], marks?: ReadonlyMap<string, Mark>): Graph {
  const resources: TopologyResource[] = [];
  const place = (word: string) => {
    const id = word.replace("!", "");
    const at = resources.findIndex((r) => `${r.type}/${r.name}` === id);
    if (at >= 0) return at;
    const ref = refOf(id);
    if (!ref) throw new Error(id);
    resources.push({ ...ref, state: word === id ? "stored" : "missing", variants: 1 });
    return resources.length - 1;
  };
  const t: Topology = { revision: 1, resources, edges: [], more_edges: 0, more_resources: 0 };
  for (const e of edges) {
    const [from = "", to] = e.split(">");
    if (to === undefined) place(from);
    else t.edges.push({ from: place(from), to: place(to), mentions: 1 });
  }
  return graphOf(t, marks);
}

const ids = (g: Graph | undefined) => g?.names.map((n) => n.id);

const shop = ["listeners/l>routes/r", "routes/r>clusters/a", "routes/r>clusters/b", "clusters/a>endpoints/a", "clusters/b>endpoints/b", "routes/r>!clusters/gone", "listeners/l>secrets/s"];

test("around a resource stands what leads to it and to what it leads, and nothing beside it", () => {
  expect(ids(around(graph(shop), "clusters/a"))).toEqual(["listeners/l", "routes/r", "clusters/a", "endpoints/a"]);
  expect(around(graph(shop), "clusters/none")).toBeUndefined();
});

test("a circle of clusters ends", () => {
  const g = graph(["clusters/a>clusters/b", "clusters/b>clusters/a", "clusters/b>endpoints/b", "clusters/c>clusters/c"]);
  expect(ids(around(g, "clusters/a"))).toEqual(["clusters/a", "clusters/b", "endpoints/b"]);
  expect(collapse(g).boxes).toHaveLength(4);
});

test("the problems are what is broken and what leads there", () => {
  const marks = new Map<string, Mark>([["endpoints/b", { kind: "refused", words: "" }], ["secrets/s", { kind: "pending", words: "" }]]);
  expect(ids(problems(graph(shop, marks)))).toEqual(["listeners/l", "routes/r", "clusters/b", "endpoints/b", "clusters/gone"]);
});

test("a node's graph is what it asks for, and what that names", () => {
  const g = ofNode(graph(shop), new Map([["listeners/l", "synced"], ["routes/r", "refused"], ["clusters/a", "pending"], ["clusters/b", "not_subscribed"], ["secrets/s", "unmatched"]]));
  expect(ids(g)).toEqual(["listeners/l", "routes/r", "clusters/a", "clusters/gone"]);
});

test("a search finds by all of its words, in the type and the name", () => {
  expect([...found(graph(shop), "CLUS a")]).toEqual(["clusters/a"]);
  expect(found(graph(shop), "  ").size).toBe(0);
});

const many = (n: number) => Array.from({ length: n }, (_, i) => [`routes/r>clusters/c${i}`, `clusters/c${i}>endpoints/e${i}`]).flat();

test("what is few stays as it is", () => {
  const { boxes, edges } = collapse(graph(shop));
  expect(boxes.every((b) => b.members.length === 1)).toBe(true);
  expect(edges).toHaveLength(7);
  expect(edges.filter((e) => e.broken)).toHaveLength(1);
});

test("many of a kind below the same become one, and what is below them too", () => {
  const g = graph(["listeners/l>routes/r", ...many(240)]);
  const { boxes, edges } = collapse(g);
  expect(boxes.map((b) => b.members.length)).toEqual([1, 1, 240, 240]);
  expect(edges).toHaveLength(3);
});

test("what is broken does not disappear in a group of what is well", () => {
  const marks = new Map<string, Mark>([["clusters/c7", { kind: "refused", words: "" }]]);
  const { boxes } = collapse(graph([...many(100), "routes/r>!clusters/gone"], marks));
  const single = boxes.filter((b) => b.members.length === 1).map((b) => b.id);
  expect(single).toContain("clusters/c7");
  expect(single).toContain("clusters/gone");
});

test("an opened group is single boxes, and what was single stays so", () => {
  const ten = Array.from({ length: 10 }, (_, i) => `routes/q>clusters/d${i}`);
  const g = graph(["listeners/l>routes/r", "listeners/l>routes/q", ...ten, ...many(60)]);
  const before = collapse(g).boxes;
  const group = before.find((b) => b.members.length === 60);
  const { boxes } = collapse(g, { open: new Set([group?.id ?? ""]) });
  expect(boxes.filter((b) => b.openedBy === group?.id)).toHaveLength(60);
  expect(boxes.map((b) => b.id)).toEqual(expect.arrayContaining(before.filter((b) => b.members.length === 1).map((b) => b.id)));
});

test("what is pinned stands for itself", () => {
  const { boxes } = collapse(graph(many(100)), { pinned: new Set(["clusters/c3"]) });
  expect(boxes.find((b) => b.id === "clusters/c3")?.members).toHaveLength(1);
  expect(boxes.some((b) => b.members.length === 99)).toBe(true);
});

test("boxes stand to the right of what leads to them, and none on another", () => {
  const boxes = collapse(graph(shop));
  const places = placesOf(boxes);
  for (const e of boxes.edges) expect(places[e.to]?.x).toBeGreaterThan(places[e.from]?.x ?? 0);
  expect(new Set(places.map((p) => `${p.x} ${p.y}`)).size).toBe(places.length);
});

test("the receipt marks what nodes refuse, and what is withheld from them", () => {
  const a = { type: "clusters", name: "a" } as const;
  const route = { type: "routes", name: "r" } as const;
  const receipt: Receipt = {
    revision: 3, state: "rejected", committed_at: "2026-01-01T00:00:00Z",
    counts: { acked: 0, nacked: 2, pending: 1, offline: 0, left: 0, withheld: 1, unaffected: 0, late: 0 },
    nodes: [
      { id: "n1", state: "nacked", still_refusing: [a] },
      { id: "n2", state: "nacked", still_refusing: [a, a] },
      { id: "n3", state: "pending", withheld: [{ resource: route, by: a, reason: "refused" }] },
    ],
  };
  expect(fleetMarks(receipt).get("clusters/a")?.words).toBe("refused by 2 nodes");
  expect(fleetMarks(receipt).get("routes/r")?.words).toBe("withheld from 1 node until clusters/a is fixed");
  expect(fleetMarks({ ...receipt, next_cursor: "x" }).get("clusters/a")?.words).toBe("refused by at least 2 nodes");
});

test("a node's refusal counts more than that it waits", () => {
  const marks = nodeMarks(new Map([["clusters/a", "refused"], ["clusters/b", "pending"], ["clusters/c", "synced"]]), {
    warming: [{ type: "clusters", name: "d" }], withheld_by: [],
    withheld: [
      { resource: { type: "clusters", name: "a" }, by: { type: "secrets", name: "s" }, reason: "missing" },
      { resource: { type: "clusters", name: "b" }, by: { type: "secrets", name: "s" }, reason: "missing" },
    ],
  });
  expect(marks.get("clusters/a")?.kind).toBe("refused");
  expect(marks.get("clusters/b")).toEqual({ kind: "withheld", words: "withheld until secrets/s is there" });
  expect(marks.get("clusters/d")?.words).toBe("is sent and not answered: something that it needs is still open, or the node is stuck");
  expect(marks.has("clusters/c")).toBe(false);
});
