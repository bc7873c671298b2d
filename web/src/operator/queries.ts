// What the operator's page asks.
import { queryOptions } from "@tanstack/react-query";
import { api, take, type CredentialState, type ServerState } from "../api/client";
import { listQuery } from "../settings/queries";

const pageSize = 25;

export const tenantsQuery = (deleted: boolean, prefix?: string, cursor?: string) =>
  queryOptions({
    queryKey: ["tenants", deleted, prefix ?? "", cursor ?? ""],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants", {
          params: { query: { limit: pageSize, ...(deleted ? { state: "deleted" } : {}), ...(prefix ? { prefix } : {}), ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      ),
  });

/** The xDS servers. Nothing tells of them, so they are asked for when somebody looks. */
export const serversQuery = (state: ServerState | undefined, cursor?: string) =>
  queryOptions({
    queryKey: ["servers", state ?? "", cursor ?? ""],
    queryFn: ({ signal }) => take(api.GET("/v1/operator/servers", { params: { query: { limit: pageSize, ...(state ? { state } : {}), ...(cursor ? { cursor } : {}) } }, signal })),
    staleTime: 2000,
  });

export const limitsQuery = (tenant: string) =>
  queryOptions({
    queryKey: ["limits", tenant],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/limits", { params: { path: { tenant } }, signal })),
  });

export const operatorTokensQuery = (state: CredentialState | "all", cursor?: string) =>
  queryOptions({
    queryKey: ["operator-tokens", state, cursor ?? ""],
    queryFn: ({ signal }) => take(api.GET("/v1/operator/tokens", { params: { query: listQuery({ state, cursor }) }, signal })),
  });

export const operatorSessionsQuery = (cursor?: string) =>
  queryOptions({
    queryKey: ["operator-sessions", cursor ?? ""],
    queryFn: ({ signal }) => take(api.GET("/v1/operator/sessions", { params: { query: { limit: pageSize, ...(cursor ? { cursor } : {}) } }, signal })),
  });
