// The chart itself, on uPlot. What it shows is told in words beside it.
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { duration } from "../receipt/words";
import type { AckTime } from "./latency";

const height = 190;

// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- uPlot declares the enum and does not bring it along
const logarithmic: uPlot.Scale.Distr = 3;

const colors = {
  light: { text: "#495057", grid: "#e9ecef", first: "#0ca678", last: "#1971c2" },
  dark: { text: "#c9c9c9", grid: "#424242", first: "#38d9a9", last: "#74c0fc" },
} as const;

/** Of the values of a logarithmic axis those that are worth a line. */
const tens = (values: readonly (number | null)[]) => values.map((v) => (v !== null && Number.isInteger(Math.log10(v)) ? v : null));

/** Oldest first. A time of less than 0.1 ms is drawn as that, as the axis is logarithmic. */
export default function LatencyChart({ times, label }: { times: readonly AckTime[]; label: string }) {
  const parent = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    const at = parent.current;
    if (!at) return undefined;
    const c = colors[scheme];
    const axis = { stroke: c.text, grid: { stroke: c.grid, width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const series = (name: string, stroke: string): uPlot.Series => ({ label: name, stroke, width: 2, spanGaps: true, points: { show: true, size: 7, fill: stroke } });
    const y = (ms: number | undefined) => (ms === undefined ? null : Math.max(ms, 0.1));
    const plot = new uPlot(
      {
        width: Math.max(at.clientWidth, 160),
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] }, y: { distr: logarithmic } },
        axes: [
          { ...axis, grid: { show: false }, size: 30, space: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 10_000, 100_000], values: (_, at) => at.map(String) },
          { ...axis, grid: { ...axis.grid, filter: (_, at) => tens(at) }, size: 64, values: (_, at) => tens(at).map((v) => (v === null ? "" : duration(v))) },
        ],
        series: [{}, series("first ACK", c.first), series("last ACK", c.last)],
      },
      [times.map((t) => t.revision), times.map((t) => y(t.first)), times.map((t) => y(t.last))],
      at,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: Math.max(at.clientWidth, 160), height }));
    observer.observe(at);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, scheme]);
  return <div ref={parent} role="img" aria-label={label} style={{ height, overflow: "hidden" }} />;
}
