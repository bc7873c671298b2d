// What is on screen is told of every change, by one event stream whatever is on screen. A tab that nobody sees has none.
import { useEffect, useSyncExternalStore } from "react";
import { changed, readFailedAgain } from "./follow";
import { share } from "./share";
import type { LiveState } from "./stream";

const restAfter = 10_000;

/** Whether what is on screen is told of changes, and when the server was heard last. */
export interface Live {
  state: LiveState;
  /** In ms. Until then what is on screen was as it is on the server. Left out before the first time. */
  heard?: number;
}

let live: Live = { state: "connecting" };
let heard: number | undefined;
let troubled = false; // what was asked since then may have failed
const listeners = new Set<() => void>();
const recoveries = new Set<() => void>();
let ended = 0; // outages

function become(state: LiveState) {
  if (state === live.state) return;
  live = { state, ...(heard === undefined ? {} : { heard }) };
  for (const l of listeners) l();
}

/** What the stream tells of itself. After trouble, what has failed to come meanwhile is asked for again. */
function told(state: LiveState) {
  become(state);
  if (state === "offline" || state === "connecting") {
    troubled = true;
    return;
  }
  if (!troubled) return;
  troubled = false;
  ended++;
  void readFailedAgain();
  for (const r of [...recoveries]) r();
}

/** For the sign in the header. */
export function useLive(): Live {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => live,
  );
}

/** How many outages have ended by now. */
export const outagesEnded = () => ended;

/**
 * Calls f when the server is there again after an outage, and at once if one has ended since so many had: what was asked
 * during an outage may fail after its end.
 */
export function useRecovered(f: () => void, since: number) {
  useEffect(() => {
    recoveries.add(f);
    if (ended > since) f();
    return () => void recoveries.delete(f);
  }, [f, since]);
}

/** Follows a fleet, or all of the tenant's, until the returned function is called. check asks whether the session still holds. */
export function follow(tenant: string | undefined, fleet: string | undefined, check: () => Promise<boolean>): () => void {
  const url =
    tenant !== undefined && fleet !== undefined
      ? `/v1/tenants/${encodeURIComponent(tenant)}/fleets/${encodeURIComponent(fleet)}/live`
      : "/v1/live";
  let end: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let rested = false;

  const rest = () => {
    clearTimeout(timer);
    if (!end) return;
    end();
    end = undefined;
    rested = true;
    become("connecting");
  };
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(rest, restAfter);
    else end ??= share(url, check, { state: told, heard: () => (heard = Date.now()), changed: (topics) => changed(topics, fleet) }, rested);
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pageshow", look);
  addEventListener("pagehide", rest); // the browser may keep the page, to go back to
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    removeEventListener("pageshow", look);
    removeEventListener("pagehide", rest);
    rest();
  };
}
