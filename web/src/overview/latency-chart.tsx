// From the commit to the ACK, revision by revision. What it shows is told in words beside it.
import { useMemo } from "react";
import type uPlot from "uplot";
import { duration } from "../receipt/words";
import { LineChart, type Line, type Shape } from "../ui/line-chart";
import type { AckTime } from "./latency";

// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- uPlot declares the enum and does not bring it along
const logarithmic: uPlot.Scale.Distr = 3;

/** Of the values of a logarithmic axis those that are worth a line. */
const tens = (values: readonly (number | null)[]) => values.map((v) => (v !== null && Number.isInteger(Math.log10(v)) ? v : null));

const shape: Shape = {
  scales: { x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] }, y: { distr: logarithmic } },
  axes: (common) => [
    { ...common, grid: { show: false }, size: 30, space: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 10_000, 100_000], values: (_, at) => at.map(String) },
    { ...common, grid: { ...common.grid, filter: (_, at) => tens(at) }, size: 64, values: (_, at) => tens(at).map((v) => (v === null ? "" : duration(v))) },
  ],
};

/** A time of less than 0.1 ms is drawn as that, as the axis is logarithmic. */
const y = (ms: number | undefined) => (ms === undefined ? null : Math.max(ms, 0.1));

/** Oldest first. */
export default function LatencyChart({ times, label }: { times: readonly AckTime[]; label: string }) {
  const x = useMemo(() => times.map((t) => t.revision), [times]);
  const lines = useMemo<Line[]>(
    () => [
      { label: "first ACK", color: "teal", values: times.map((t) => y(t.first)), marks: true },
      { label: "last ACK", color: "blue", values: times.map((t) => y(t.last)), marks: true },
    ],
    [times],
  );
  return <LineChart label={label} x={x} lines={lines} shape={shape} />;
}
