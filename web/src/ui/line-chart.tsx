// A chart of lines, on uPlot. What it shows is told in words and in numbers beside it.
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

const height = 190;

const colors = {
  light: { text: "#495057", grid: "#e9ecef", teal: "#0ca678", blue: "#1971c2", red: "#e03131", orange: "#e8590c" },
  dark: { text: "#c9c9c9", grid: "#424242", teal: "#38d9a9", blue: "#74c0fc", red: "#ff8787", orange: "#ffa94d" },
} as const;

export type LineColor = "teal" | "blue" | "red" | "orange";

export interface Line {
  label: string;
  color: LineColor;
  /** One for each place of the axis; null where there is none. */
  values: readonly (number | null)[];
  /** Each value has a mark of its own, and the line goes on past those that are not there. */
  marks?: boolean;
}

/** What a chart is like but for its lines. */
export interface Shape {
  scales: NonNullable<uPlot.Options["scales"]>;
  /** The axes, each begun with what all have. */
  axes: (common: uPlot.Axis) => [uPlot.Axis, uPlot.Axis];
}

interface Props {
  label: string;
  x: readonly number[];
  lines: readonly Line[];
  /** Always the same one: the chart is drawn again for another one, as it is for other lines. */
  shape: Shape;
}

export function LineChart({ label, x, lines, shape }: Props) {
  const parent = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    const at = parent.current;
    if (!at) return undefined;
    const c = colors[scheme];
    const width = () => Math.max(at.clientWidth, 160);
    const series = ({ label: name, color, marks = false }: Line): uPlot.Series => ({
      label: name,
      stroke: c[color],
      width: 2,
      spanGaps: marks,
      points: marks ? { show: true, size: 7, fill: c[color] } : { show: false },
    });
    const plot = new uPlot(
      {
        width: width(),
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: shape.scales,
        axes: shape.axes({ stroke: c.text, grid: { stroke: c.grid, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" }),
        series: [{}, ...lines.map(series)],
      },
      [[...x], ...lines.map((l) => [...l.values])],
      at,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: width(), height }));
    observer.observe(at);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [x, lines, shape, scheme]);
  return <div ref={parent} role="img" aria-label={label} style={{ height, overflow: "hidden" }} />;
}
