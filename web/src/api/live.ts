// The event stream of the tab: there is one, whatever is on screen. Where it cannot be had the page asks every few
// seconds instead, and tries the stream again.
import { useSyncExternalStore } from "react";
import { changed } from "./follow";

export type LiveState = "connecting" | "live" | "polling" | "offline";

const pollEvery = 5000;
const tryAgainAfter = 20_000;

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
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  const poll = (until: number) => {
    if (ended) return;
    timer = setTimeout(() => {
      void check().then((answers) => {
        if (ended) return;
        become(answers ? "polling" : "offline");
        if (answers && !document.hidden) changed(undefined, fleet);
        if (Date.now() >= until) open();
        else poll(until);
      });
    }, pollEvery);
  };

  const open = () => {
    if (ended) return;
    source?.close();
    source = new EventSource(url);
    let missed = state !== "connecting"; // what changed before the first stream was read by the queries
    source.onopen = () => {
      become("live");
      if (missed) changed(undefined, fleet);
      missed = true;
    };
    source.onmessage = (event: MessageEvent<string>) => {
      const what = topicsOf(event.data);
      changed(what, fleet);
    };
    source.onerror = () => {
      // Either the browser connects again by itself, or the server said no: both may be the session's end.
      const closed = source?.readyState === EventSource.CLOSED;
      void check().then((answers) => {
        if (ended || source === undefined) return;
        if (source.readyState === EventSource.OPEN) return;
        become(answers ? "connecting" : "offline");
        if (closed) {
          source.close();
          source = undefined;
          poll(Date.now() + tryAgainAfter);
        }
      });
    };
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    source?.close();
    become("connecting");
  };
}

/** The topics of an event; of one that is not understood none, which is taken for all. */
export function topicsOf(data: string): string[] | undefined {
  try {
    const news: unknown = JSON.parse(data);
    if (typeof news === "object" && news !== null && "what" in news && Array.isArray(news.what)) {
      return news.what.filter((w): w is string => typeof w === "string");
    }
  } catch {
    // told below
  }
  return undefined;
}
