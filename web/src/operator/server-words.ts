import type { Server } from "../api/client";
import { duration } from "../receipt/words";

/** Servers ask for what is new every 2 s: what is behind by more than some seconds is behind too much. */
const late = 6000;

export function isLate(s: Pick<Server, "state" | "lag_ms">): boolean {
  return s.state === "live" && s.lag_ms !== undefined && s.lag_ms > late;
}

/** How far it is behind; of one that is gone, or does not tell, nothing. */
export function lagWords(s: Pick<Server, "state" | "lag_ms">): string {
  if (s.state === "gone" || s.lag_ms === undefined) return "–";
  return duration(s.lag_ms);
}

/** "3 live servers, 214 streams; 1 behind by more than 6.0 s": of a page. */
export function health(servers: readonly Server[]): string {
  const live = servers.filter((s) => s.state === "live");
  if (live.length === 0) return "No server is live: no proxy is told anything new.";
  const streams = live.reduce((n, s) => n + (s.streams ?? 0), 0);
  const behind = live.filter(isLate).length;
  const words = `${live.length === 1 ? "1 live server" : `${live.length} live servers`}, ${streams === 1 ? "1 stream" : `${streams} streams`}`;
  return behind === 0 ? `${words}; none behind by more than ${duration(late)}.` : `${words}; ${behind} behind by more than ${duration(late)}.`;
}
