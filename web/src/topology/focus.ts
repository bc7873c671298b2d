// Parts of a graph: around one resource, of one node, where something is wrong, what a search finds.
import type { NodeResourceState } from "../api/client";
import { only, reached, type Graph } from "./graph";

/** What leads to it and to what it leads. Undefined where the graph does not have it. */
export function around(g: Graph, id: string): Graph | undefined {
  const at = g.names.findIndex((n) => n.id === id);
  if (at < 0) return undefined;
  const near = reached(g.down, [at]);
  for (const i of reached(g.up, [at])) near.add(i);
  return only(g, (i) => near.has(i));
}

/** States of a node's resources in which the node asks for them. */
const asked: readonly NodeResourceState[] = ["synced", "pending", "refused", "absent"];

/** What one node asks for, and what that names. States are by id. */
export function ofNode(g: Graph, states: ReadonlyMap<string, NodeResourceState>): Graph {
  const has = (i: number) => {
    const state = states.get(g.names[i]?.id ?? "");
    return state !== undefined && asked.includes(state);
  };
  return only(g, (i) => has(i) || (g.names[i]?.state !== "stored" && (g.up[i] ?? []).some(has)));
}

/** What is broken, refused or withheld, and what leads to it. */
export function problems(g: Graph): Graph {
  const wrong = g.names.flatMap((n, i) => (isProblem(n.mark?.kind) ? [i] : []));
  const near = reached(g.up, wrong);
  return only(g, (i) => near.has(i));
}

export const isProblem = (kind: string | undefined) => kind !== undefined && kind !== "pending";

/** The ids of those whose type and name hold every word of the search. None without one. */
export function found(g: Graph, search: string): Set<string> {
  const words = search.toLowerCase().split(/\s+/).filter((w) => w !== "");
  if (words.length === 0) return new Set();
  return new Set(g.names.filter((n) => words.every((w) => n.id.toLowerCase().includes(w))).map((n) => n.id));
}
