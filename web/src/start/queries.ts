// What the first page and the way to the first node ask.
import { queryOptions } from "@tanstack/react-query";
import { api, take } from "../api/client";
import { fleetsQuery, of } from "../api/queries";
import type { BootstrapParams } from "./bootstrap";

/** A page of the tenant's fleets whose names begin with the prefix. */
export function fleetPage(tenant: string, prefix?: string, cursor?: string) {
  const all = fleetsQuery(tenant, cursor);
  if (prefix === undefined) return all;
  return queryOptions({
    queryKey: ["fleets", tenant, cursor ?? "", prefix],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets", {
          params: { path: { tenant }, query: { counts: true, prefix, ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      ),
    meta: { follows: ["fleets"] },
  });
}

/** The fleets that were deleted and can be restored. */
export const deletedFleets = (tenant: string, cursor?: string) =>
  queryOptions({
    queryKey: ["deleted-fleets", tenant, cursor ?? ""],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets", {
          params: { path: { tenant }, query: { state: "deleted", ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      ),
    meta: { follows: ["fleets"] },
  });

/** How many findings a fleet has, without them. */
export const findingCounts = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["finding-counts", tenant, fleet],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/findings", { params: { path: { tenant, fleet }, query: { limit: 1 } }, signal })),
    meta: of(fleet, "findings"),
  });

/** The node of this very id, once it has connected. */
export const arrival = (tenant: string, fleet: string, node: string) =>
  queryOptions({
    queryKey: ["arrival", tenant, fleet, node],
    queryFn: async ({ signal }) => {
      const page = await take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes", { params: { path: { tenant, fleet }, query: { prefix: node, limit: 1 } }, signal }),
      );
      return page.items.find((n) => n.id === node) ?? null; // the id itself sorts before those that begin with it
    },
    meta: of(fleet, "nodes"),
  });

/** The clients that were turned away in the last quarter of an hour. */
export const turnedAway = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["turned-away", tenant, fleet],
    queryFn: async ({ signal }) => {
      const page = await take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/events", { params: { path: { tenant, fleet }, query: { since: "15m", limit: 50 } }, signal }),
      );
      return typeof page === "string" ? [] : page.items.filter((e) => e.kind === "denied");
    },
    meta: of(fleet, "events"),
  });

/** The files that a client starts with. */
export const bootstrapQuery = (tenant: string, fleet: string, query: BootstrapParams) =>
  queryOptions({
    queryKey: ["bootstrap", tenant, fleet, query],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/bootstrap", { params: { path: { tenant, fleet }, query }, signal })),
    staleTime: Infinity, // it is made of the question alone
  });
