// The requests of an hour, by minute.
import { useMemo } from "react";
import { LineChart, type Line, type Shape } from "../ui/line-chart";
import type { Minute } from "./sums";

const timeOfDay = (s: number) => new Date(s * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
const compact = new Intl.NumberFormat("en", { notation: "compact" });
const minutes = 60;

const shape: Shape = {
  scales: { x: { time: true }, y: { range: (_, _min, max) => [0, Math.max(max, 1)] } },
  axes: (common) => [
    { ...common, grid: { show: false }, size: 30, space: 64, incrs: [5 * minutes, 10 * minutes, 15 * minutes, 30 * minutes], values: (_, at) => at.map(timeOfDay) },
    { ...common, size: 56, values: (_, at) => at.map((v) => (Number.isInteger(v) ? compact.format(v) : "")) },
  ],
};

/** Oldest first. */
export default function LoadChart({ hour, label }: { hour: readonly Minute[]; label: string }) {
  const x = useMemo(() => hour.map((m) => m.at / 1000), [hour]);
  const lines = useMemo<Line[]>(
    () => [
      { label: "issued", color: "blue", values: hour.map((m) => m.issued) },
      { label: "errors", color: "red", values: hour.map((m) => m.errors) },
      { label: "dropped", color: "orange", values: hour.map((m) => m.dropped) },
    ],
    [hour],
  );
  return <LineChart label={label} x={x} lines={lines} shape={shape} />;
}
