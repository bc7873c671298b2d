// What is on screen is told of every change, by one event stream whatever is on screen. A tab that nobody sees has none.
import { useSyncExternalStore } from "react";
import { changed } from "./follow";
import { share } from "./share";
import type { LiveState } from "./stream";

const restAfter = 10_000;

let state: LiveState = "connecting";
const listeners = new Set<() => void>();

function become(next: LiveState) {
  if (next === state) return;
  state = next;
  for (const l of listeners) l();
}

/** Whether what is on screen is told of changes, for the sign in the header. */
export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => state,
  );
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
    else end ??= share(url, check, { state: become, changed: (topics) => changed(topics, fleet) }, rested);
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
