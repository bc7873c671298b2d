// Where the boxes stand: from left to right as they lead to each other.
import { Graph, layout } from "@dagrejs/dagre";
import type { Boxes } from "./collapse";

interface Point {
  width: number;
  height: number;
  x?: number;
  y?: number;
}

export const boxWidth = 232;
export const boxHeight = 56;

/** The upper left corner of each box. */
export function placesOf({ boxes, edges }: Boxes): { x: number; y: number }[] {
  const g = new Graph<object, Point, object>();
  // network-simplex, the default, is the slowest, and draws nothing better of so flat a graph.
  g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 72, marginx: 8, marginy: 8, ranker: "tight-tree" });
  g.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((_, i) => g.setNode(String(i), { width: boxWidth, height: boxHeight }));
  for (const e of edges) g.setEdge(String(e.from), String(e.to));
  layout(g);
  return boxes.map((_, i) => {
    const { x = 0, y = 0 } = g.node(String(i));
    return { x: x - boxWidth / 2, y: y - boxHeight / 2 };
  });
}
