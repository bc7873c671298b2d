// Times as people say them, with the exact one on hover.
import { useSyncExternalStore } from "react";

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

// One clock for all times on screen. It asks nobody anything.
function tick(l: () => void) {
  if (timer === undefined) now = Date.now(); // it stood still while nothing showed a time
  listeners.add(l);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const f of listeners) f();
  }, 5000);
  return () => {
    listeners.delete(l);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The present, to within 5 s. */
export function useNow(): number {
  return useSyncExternalStore(tick, () => now);
}

// Whole ones, as the server counts the days of a certificate: nothing is told to have longer than it has.
const whole = (n: number, unit: string) => `${Math.floor(n)} ${unit}`;

export function relative(time: string, at: number): string {
  const s = (at - Date.parse(time)) / 1000;
  const n = Math.abs(s);
  const words = n < 90 ? whole(n, "s") : n < 5400 ? whole(n / 60, "min") : n < 86_400 ? whole(n / 3600, "h") : whole(n / 86_400, n < 172_800 ? "day" : "days");
  if (n < 5) return "now";
  return s > 0 ? `${words} ago` : `in ${words}`;
}

/** The time of day. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { timeStyle: "medium" });
}

export function exact(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

/** "3 min ago", "in 2 h". Of a time that is not there, a dash. */
export function Ago({ at }: { at: string | undefined }) {
  const present = useNow();
  if (at === undefined) return <>–</>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, present)}
    </time>
  );
}
