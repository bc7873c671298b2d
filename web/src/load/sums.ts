// What a cluster's minutes come to.
import type { Load, LocalityLoad } from "../api/client";

export type Counts = Pick<Load, "issued" | "successful" | "errors" | "dropped">;

const nothing: Counts = { issued: 0, successful: 0, errors: 0, dropped: 0 };

export function totalOf(minutes: readonly Counts[]): Counts {
  const sum = { ...nothing };
  for (const m of minutes) {
    sum.issued += m.issued;
    sum.successful += m.successful;
    sum.errors += m.errors;
    sum.dropped += m.dropped;
  }
  return sum;
}

export interface OfLocality extends Pick<LocalityLoad, "issued" | "successful" | "errors"> {
  /** "region/zone/sub_zone", what of it there is; "" for none. */
  name: string;
}

/** The localities that requests went to, those with the most first. */
export function byLocality(minutes: readonly Load[]): OfLocality[] {
  const found = new Map<string, OfLocality>();
  for (const l of minutes.flatMap((m) => m.localities ?? [])) {
    const { region = "", zone = "", sub_zone = "" } = l.locality ?? {};
    const name = [region, zone, sub_zone].join("/").replace(/\/+$/, "");
    const sum = found.get(name) ?? { name, issued: 0, successful: 0, errors: 0 };
    found.set(name, { name, issued: sum.issued + l.issued, successful: sum.successful + l.successful, errors: sum.errors + l.errors });
  }
  return [...found.values()].sort((a, b) => b.issued - a.issued);
}

export interface OfCategory {
  /** "" of drops without one. */
  category: string;
  count: number;
}

/** What was dropped, the most first. */
export function byCategory(minutes: readonly Load[]): OfCategory[] {
  const found = new Map<string, number>();
  for (const d of minutes.flatMap((m) => m.drops ?? [])) found.set(d.category, (found.get(d.category) ?? 0) + d.count);
  return [...found].map(([category, count]) => ({ category, count })).sort((a, b) => b.count - a.count);
}

export interface OfMetric {
  name: string;
  /** Requests that it was told of. */
  count: number;
  /** What was told, on average. */
  average: number;
}

/** What backends told of themselves, by name. */
export function byMetric(minutes: readonly Load[]): OfMetric[] {
  const found = new Map<string, { count: number; total: number }>();
  for (const m of minutes.flatMap((one) => one.metrics ?? [])) {
    const sum = found.get(m.name) ?? { count: 0, total: 0 };
    found.set(m.name, { count: sum.count + m.count, total: sum.total + m.total });
  }
  return [...found]
    .filter(([, { count }]) => count > 0)
    .map(([name, { count, total }]) => ({ name, count, average: total / count }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One place of the chart. */
export interface Minute extends Counts {
  /** In ms. */
  at: number;
}

const minute = 60_000;
const shown = 60;

/**
 * Each minute of the hour that ends at the present, oldest first; one of which nothing was reported has zeroes. Where the
 * browser's clock cannot be right, it ends with the newest of the minutes, of which there is at least one.
 */
export function hourOf(minutes: readonly Load[], present: number): Minute[] {
  const known = new Map(minutes.map((m) => [Date.parse(m.minute), m]));
  const newest = Math.max(...known.keys());
  const now = Math.floor(present / minute) * minute;
  const end = now >= newest && now - newest <= (shown + 5) * minute ? now : newest;
  return Array.from({ length: shown }, (_, i) => {
    const at = end - (shown - 1 - i) * minute;
    const { issued, successful, errors, dropped } = known.get(at) ?? nothing;
    return { at, issued, successful, errors, dropped };
  });
}
