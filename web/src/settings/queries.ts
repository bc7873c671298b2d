// What the settings ask.
import { queryOptions } from "@tanstack/react-query";
import { api, take, type CredentialState } from "../api/client";
import { of } from "../api/queries";

const pageSize = 25;

interface ListAsked {
  state: CredentialState | "all";
  prefix?: string | undefined;
  cursor?: string | undefined;
}

/** The query of a list as the contract has it: what is left out is not sent. */
export function listQuery({ state, prefix, cursor }: ListAsked) {
  return { limit: pageSize, ...(state === "all" ? {} : { state }), ...(prefix ? { prefix } : {}), ...(cursor ? { cursor } : {}) };
}

export const tokensQuery = (tenant: string, asked: ListAsked) =>
  queryOptions({
    queryKey: ["tokens", tenant, asked],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/tokens", { params: { path: { tenant }, query: listQuery(asked) }, signal })),
  });

export const tokenMadeQuery = (tenant: string, id: string) =>
  queryOptions({
    queryKey: ["tokens", tenant, "made", id],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/tokens/{id}/made", { params: { path: { tenant, id } }, signal })),
  });

export const sessionsQuery = (tenant: string, cursor?: string) =>
  queryOptions({
    queryKey: ["sessions", tenant, cursor ?? ""],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/sessions", { params: { path: { tenant }, query: { limit: pageSize, ...(cursor ? { cursor } : {}) } }, signal })),
  });

export const usageQuery = (tenant: string, cursor?: string) =>
  queryOptions({
    queryKey: ["usage", tenant, cursor ?? ""],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/usage", { params: { path: { tenant }, query: { limit: pageSize, ...(cursor ? { cursor } : {}) } }, signal })),
  });

export const fleetUsageQuery = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["usage", tenant, "fleet", fleet],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/usage", { params: { path: { tenant, fleet } }, signal })),
    meta: of(fleet, "revision", "settings"),
  });

export const credentialsQuery = (tenant: string, fleet: string, state: CredentialState | "all", cursor?: string) =>
  queryOptions({
    queryKey: ["credentials", tenant, fleet, state, cursor ?? ""],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/credentials", { params: { path: { tenant, fleet }, query: listQuery({ state, cursor }) }, signal })),
    meta: of(fleet, "settings"),
  });

/** The guard rules, which are the installation's. */
export const guardQuery = queryOptions({
  queryKey: ["guard"],
  queryFn: ({ signal }) => take(api.GET("/v1/guard", { signal })),
  staleTime: 600_000, // until the server is started with other ones
});

/** The names of some fleets that begin with what was typed. */
export const fleetNamesQuery = (tenant: string, prefix: string) =>
  queryOptions({
    queryKey: ["fleet-names", tenant, prefix],
    queryFn: async ({ signal }) => {
      const list = await take(api.GET("/v1/tenants/{tenant}/fleets", { params: { path: { tenant }, query: { limit: 20, ...(prefix ? { prefix } : {}) } }, signal }));
      return list.items.map((f) => f.name);
    },
  });
