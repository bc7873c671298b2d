// How what is on screen learns that it is old. A query says in its meta what it follows; the event stream says what has
// changed, and the queries that follow it are asked again. Nothing is sent along: the answers come from the API alone.
import { QueryClient, type Query, type QueryFilters } from "@tanstack/react-query";
import { isPassing, type LiveWhat } from "./client";

export type Topic = LiveWhat | "fleets";

declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: Follows;
  }
}

interface Follows extends Record<string, unknown> {
  /** What the answer is made of. Without it nothing asks again but a visit. */
  follows?: readonly Topic[];
  /** The fleet that it is of. Without it the tenant's, or the operator's. */
  fleet?: string;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: "always", // the server may be on this machine: what the browser says of the network is not asked
      staleTime: 30_000, // the event stream says sooner when something is old
      gcTime: 60_000, // at most a page of anything is kept
      refetchOnWindowFocus: false,
      retry: (failures, error) => isPassing(error) && failures < 3,
      retryDelay: (failures) => Math.min(1000 * 2 ** failures, 8000),
    },
    mutations: { networkMode: "always", retry: false },
  },
});

/**
 * Asks again for what is on screen and did not come: what has failed, what waits for its next try, and what was asked of
 * a server that stood still and may never be answered.
 */
export async function readFailedAgain() {
  const failed: QueryFilters = { type: "active", predicate: ({ state }) => state.status === "error" || (state.data === undefined && state.fetchStatus === "fetching") };
  const these = new Set(queryClient.getQueryCache().findAll(failed));
  await queryClient.cancelQueries({ predicate: (q) => these.has(q) });
  await queryClient.refetchQueries({ type: "active", predicate: (q) => these.has(q) });
}

const queued = new WeakSet<Query>();

/**
 * Asks again what follows one of the topics. Without topics: all that follows anything. What is being read may be from
 * before the change: it is asked again once it is read, so that changes that come faster than answers starve nothing.
 */
export function changed(topics?: readonly string[], fleet?: string) {
  const old = queryClient.getQueryCache().findAll({
    predicate: ({ meta }) => {
      if (!meta?.follows) return false;
      if (meta.fleet !== undefined && fleet !== undefined && meta.fleet !== fleet) return false;
      return topics === undefined || meta.follows.some((t) => t === "fleets" || topics.includes(t));
    },
  });
  const now = new Set(old);
  for (const q of old) {
    // After an outage nobody may answer what was asked before it.
    if (!q.promise || q.state.fetchStatus === "idle" || (topics === undefined && q.state.data !== undefined)) continue;
    now.delete(q);
    if (queued.has(q)) continue;
    queued.add(q);
    const read = () => {
      queued.delete(q);
      void queryClient.invalidateQueries({ predicate: (other) => other === q });
    };
    q.promise.then(read, read);
  }
  void queryClient.invalidateQueries({ predicate: (q) => now.has(q) });
}
