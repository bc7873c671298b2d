// What of a fleet names what, in the form in which the views walk it.
import type { ResourceRef, ResourceType, Topology, TopologyState } from "../api/client";

/** What is the matter with a resource, with the words that tell it. */
export interface Mark {
  kind: "missing" | "refused" | "withheld" | "pending";
  words: string;
}

/** A resource, or a name that one uses. */
export interface Name {
  id: string;
  type: ResourceType;
  name: string;
  state: TopologyState;
  variants: number;
  anyCluster: boolean;
  mark?: Mark;
}

/** Names, and of each the places of those that it leads to and of those that lead to it. */
export interface Graph {
  names: readonly Name[];
  down: readonly (readonly number[])[];
  up: readonly (readonly number[])[];
}

/** Types have no slash, so that an id is taken apart at its first. */
export const idOf = (r: ResourceRef) => `${r.type}/${r.name}`;

const missing: Mark = { kind: "missing", words: "named and not there" };

export function graphOf(t: Topology, marks: ReadonlyMap<string, Mark> = new Map()): Graph {
  const names = t.resources.map((r): Name => {
    const id = idOf(r);
    const mark = r.state === "missing" ? missing : marks.get(id);
    return { id, type: r.type, name: r.name, state: r.state, variants: r.variants, anyCluster: r.any_cluster ?? false, ...(mark ? { mark } : {}) };
  });
  return linked(names, t.edges.map((e): [number, number] => [e.from, e.to]));
}

function linked(names: readonly Name[], edges: readonly (readonly [number, number])[]): Graph {
  const down: number[][] = names.map(() => []);
  const up: number[][] = names.map(() => []);
  for (const [from, to] of edges) {
    if (from === to) continue;
    down[from]?.push(to);
    up[to]?.push(from);
  }
  return { names, down, up };
}

/** The graph of some of the names. */
export function only(g: Graph, keep: (place: number) => boolean): Graph {
  const place = new Map<number, number>();
  const names: Name[] = [];
  g.names.forEach((n, i) => {
    if (!keep(i)) return;
    place.set(i, names.length);
    names.push(n);
  });
  const edges: [number, number][] = [];
  for (const [old, from] of place) {
    for (const next of g.down[old] ?? []) {
      const to = place.get(next);
      if (to !== undefined) edges.push([from, to]);
    }
  }
  return linked(names, edges);
}

/** All that is reached from the places, they too. */
export function reached(steps: Graph["down"], from: Iterable<number>): Set<number> {
  const seen = new Set(from);
  for (const at of seen) for (const next of steps[at] ?? []) seen.add(next); // a Set tells what is added on the way too
  return seen;
}
