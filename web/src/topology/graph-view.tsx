// The graph itself. Its libraries come with it, when it is first shown.
import "@xyflow/react/dist/style.css";
import "./graph.css";
import { Button, Group, Stack, useComputedColorScheme } from "@mantine/core";
import { Controls, MarkerType, MiniMap, ReactFlow, type Edge } from "@xyflow/react";
import { useMemo, useState } from "react";
import { BoxView, type BoxNode } from "./box";
import { collapse, type Boxes } from "./collapse";
import type { Graph } from "./graph";
import { boxHeight, boxWidth, placesOf } from "./layout";
import { markColor } from "./words";

interface Props {
  fleet: string;
  graph: Graph;
  /** The id of the resource that all is around. */
  focus: string | undefined;
  /** What a search has found; undefined without one. */
  found: ReadonlySet<string> | undefined;
  onFocus: (id: string) => void;
}

const clickable = { pointerEvents: "all" } as const; // the library lets no click through to what cannot be dragged

const kinds = { box: BoxView };

/** So many found ones leave their groups: more would undo what groups are for. */
const mostPulled = 20;

export default function GraphView({ fleet, graph, focus, found, onFocus }: Props) {
  const scheme = useComputedColorScheme("light");
  const [opened, setOpened] = useState<readonly string[]>([]);
  const pulled = found && found.size <= mostPulled ? [...found] : [];
  const pins = [...pulled, ...(focus === undefined ? [] : [focus])].join("\n");
  const boxes = useMemo(() => collapse(graph, { open: new Set(opened), pinned: new Set(pins.split("\n")) }), [graph, opened, pins]);
  const places = useMemo(() => placesOf(boxes), [boxes]);
  const last = opened.at(-1);

  const nodes = boxes.boxes.map((b, i): BoxNode => {
    const names = b.members.flatMap((m) => graph.names[m] ?? []);
    return {
      id: b.id,
      type: "box",
      position: places[i] ?? { x: 0, y: 0 },
      width: boxWidth,
      height: boxHeight,
      focusable: false, // the link in it is
      style: clickable,
      data: {
        fleet,
        names,
        found: found && names.filter((n) => found.has(n.id)).length,
        focus: b.id === focus,
        takesFocus: last !== undefined && b.openedBy === last && boxes.boxes.find((o) => o.openedBy === last) === b,
        onOpen: () => setOpened((old) => [...old, b.id]),
        onFocus: () => onFocus(b.id),
      },
    };
  });

  // Where one looks at first: what was opened just now, what was found, else all of it.
  const looksAt = boxes.boxes.filter((b) => (last === undefined ? pulled.includes(b.id) : b.openedBy === last)).slice(0, 12);
  return (
    <Stack gap="xs">
      {opened.length > 0 && (
        <Group>
          <Button size="xs" variant="default" onClick={() => setOpened([])}>
            Close the opened groups
          </Button>
        </Group>
      )}
      <div className="topology-graph" style={{ height: `min(70vh, ${heightOf(places)}px)` }}>
        <ReactFlow
          key={[last, pins, graph.names.length].join("\n")}
          nodes={nodes}
          edges={edgesOf(boxes)}
          nodeTypes={kinds}
          colorMode={scheme}
          fitView
          fitViewOptions={{ minZoom: 0.55, maxZoom: 1, padding: 0.08, ...(looksAt.length > 0 ? { nodes: looksAt.map((b) => ({ id: b.id })) } : {}) }}
          minZoom={0.1}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          aria-label="Graph of what leads to what. The list tells the same."
        >
          <Controls showInteractive={false} orientation="horizontal" />
          {boxes.boxes.length > 60 && <MiniMap pannable zoomable position="top-right" style={small} nodeColor={colorOf} ariaLabel="All of the graph, small" />}
        </ReactFlow>
      </div>
    </Stack>
  );
}

/** As high as its content, so that a small graph does not float in an empty field. */
function heightOf(places: readonly { y: number }[]): number {
  return Math.max(240, Math.max(0, ...places.map((p) => p.y)) + boxHeight + 96);
}

function colorOf(n: BoxNode): string {
  const kind = n.data.names[0]?.mark?.kind;
  return `var(--mantine-color-${kind ? markColor[kind] : "gray"}-5)`;
}

const small = { width: 140, height: 100 };

function edgesOf({ boxes, edges }: Boxes): Edge[] {
  return edges.map((e) => ({
    id: `${e.from} ${e.to}`,
    source: boxes[e.from]?.id ?? "",
    target: boxes[e.to]?.id ?? "",
    style: e.broken ? broken : line,
    markerEnd: { type: MarkerType.ArrowClosed, color: e.broken ? "var(--mantine-color-red-6)" : "var(--mantine-color-gray-5)" },
    domAttributes: { "aria-hidden": true }, // the list tells it
  }));
}

const line = { stroke: "var(--mantine-color-gray-5)" };
const broken = { stroke: "var(--mantine-color-red-6)", strokeWidth: 2, strokeDasharray: "5 4" };
