// What keeps a large graph readable: many of a kind below the same ones become one box, "48 endpoints".
import type { Graph } from "./graph";

/** What is drawn as one: a name, or a group of them. */
export interface Box {
  id: string;
  /** Places in the graph's names. */
  members: readonly number[];
  /** It was made single by opening this group. */
  openedBy?: string;
}

export interface Boxes {
  boxes: readonly Box[];
  /** By places in boxes. */
  edges: readonly { from: number; to: number; broken: boolean }[];
}

interface Options {
  /** The groups that somebody has opened, by id. */
  open?: ReadonlySet<string>;
  /** The ids of names that stand for themselves. */
  pinned?: ReadonlySet<string>;
  /** How many boxes are readable at once. */
  most?: number;
}

const sizes = [24, 12, 8, 5, 3];

/** Groups as little as is needed. What somebody opens does not make other groups smaller. */
export function collapse(g: Graph, { open = new Set(), pinned = new Set(), most = 80 }: Options = {}): Boxes {
  const layers = layersOf(g);
  let size = Infinity;
  for (const next of [Infinity, ...sizes]) {
    size = next;
    if (grouped(g, layers, size, new Set(), new Set()).boxes.length <= most) break;
  }
  return grouped(g, layers, size, open, pinned);
}

function grouped(g: Graph, layers: readonly (readonly number[])[], size: number, open: ReadonlySet<string>, pinned: ReadonlySet<string>): Boxes {
  const boxes: Box[] = [];
  const boxOf = new Map<number, number>();
  const put = (box: Box) => {
    for (const i of box.members) boxOf.set(i, boxes.length);
    boxes.push(box);
  };
  layers.forEach((layer, depth) => {
    const alike = new Map<string, number[]>();
    for (const i of layer) {
      const n = g.names[i];
      if (n === undefined) continue;
      const parents = new Set((g.up[i] ?? []).flatMap((p) => boxes[boxOf.get(p) ?? -1]?.id ?? []));
      const key = pinned.has(n.id) ? n.id : JSON.stringify([depth, n.type, n.state, n.mark?.kind ?? "", ...[...parents].sort()]);
      const those = alike.get(key);
      if (those) those.push(i);
      else alike.set(key, [i]);
    }
    for (const [id, members] of alike) {
      if (members.length > size && !open.has(id)) put({ id, members });
      else for (const i of members) put({ id: g.names[i]?.id ?? "", members: [i], ...(open.has(id) ? { openedBy: id } : {}) });
    }
  });
  return { boxes, edges: edgesOf(g, boxOf) };
}

function edgesOf(g: Graph, boxOf: ReadonlyMap<number, number>): Boxes["edges"] {
  const edges = new Map<string, { from: number; to: number; broken: boolean }>();
  g.down.forEach((tos, i) => {
    for (const t of tos) {
      const from = boxOf.get(i);
      const to = boxOf.get(t);
      if (from === undefined || to === undefined || from === to) continue;
      edges.set(`${from} ${to}`, { from, to, broken: g.names[t]?.state === "missing" });
    }
  });
  return [...edges.values()];
}

/** Places by how far they are from a beginning, along the longest way; a way that leads back does not count. */
function layersOf(g: Graph): number[][] {
  const depth = new Map<number, number>();
  const onWay = new Set<number>();
  for (let root = 0; root < g.names.length; root++) {
    const stack = [root];
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      if (depth.has(at)) {
        stack.pop();
        continue;
      }
      onWay.add(at);
      const open = (g.up[at] ?? []).filter((p) => !depth.has(p) && !onWay.has(p));
      if (open.length > 0) {
        stack.push(...open);
        continue;
      }
      depth.set(at, Math.max(-1, ...(g.up[at] ?? []).map((p) => depth.get(p) ?? -1)) + 1);
      onWay.delete(at);
      stack.pop();
    }
  }
  const layers: number[][] = [];
  for (let i = 0; i < g.names.length; i++) (layers[depth.get(i) ?? 0] ??= []).push(i);
  return layers;
}
