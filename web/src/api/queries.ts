// What the page asks. Each view's own questions stand beside it; these are of more than one.
import { queryOptions } from "@tanstack/react-query";
import { api, isPassing, take } from "./client";
import type { Topic } from "./follow";

/** The meta of a query about a fleet. */
export function of(fleet: string, ...follows: Topic[]) {
  return { fleet, follows };
}

export const whoami = queryOptions({
  queryKey: ["whoami"],
  queryFn: ({ signal }) => take(api.GET("/v1/whoami", { signal })),
  staleTime: Infinity,
  gcTime: Infinity,
  retry: (_, error) => isPassing(error), // a page that is opened during an outage comes by itself
  retryDelay: 3000,
});

/** One fleet with its counts. */
export const fleetQuery = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["fleet", tenant, fleet],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: { tenant, fleet } }, signal })),
    meta: of(fleet, "revision", "nodes", "receipt", "settings"),
  });

/** The tenant's fleets, a page of them, each with its health. */
export const fleetsQuery = (tenant: string, cursor?: string) =>
  queryOptions({
    queryKey: ["fleets", tenant, cursor ?? ""],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets", {
          params: { path: { tenant }, query: { counts: true, ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      ),
    meta: { follows: ["fleets"] },
  });

/** The receipt of a revision, or of the latest. */
export const receiptQuery = (tenant: string, fleet: string, revision: number | "latest") =>
  queryOptions({
    queryKey: ["receipt", tenant, fleet, revision],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", {
          params: { path: { tenant, fleet, revision: String(revision) } },
          signal,
        }),
      ),
    meta: of(fleet, "revision", "receipt"),
  });
