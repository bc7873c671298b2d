// What a fleet's first page asks.
import { queryOptions } from "@tanstack/react-query";
import { api, take, type FindingCode, type FindingSeverity, type ResourceType } from "../api/client";
import { of } from "../api/queries";

/** How many revisions the timeline shows: as many as the API tells the receipts of. */
export const shown = 20;

export const timeline = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["timeline", tenant, fleet],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions", {
          params: { path: { tenant, fleet }, query: { limit: shown, receipts: shown } },
          signal,
        }),
      ),
    meta: of(fleet, "revision", "receipt"),
  });

/** A page of the nodes that refuse something of a revision. */
export const refusing = (tenant: string, fleet: string, revision: number) =>
  queryOptions({
    queryKey: ["refusing", tenant, fleet, revision],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", {
          params: { path: { tenant, fleet, revision: String(revision) }, query: { state: "nacked", limit: 500 } },
          signal,
        }),
      ),
    meta: of(fleet, "receipt"),
  });

/** When a revision was taken. Of one that is not the newest it is told once: its first and last ACK are hardly to move. */
export const ackTimes = (tenant: string, fleet: string, revision: number, newest: boolean) =>
  queryOptions({
    queryKey: ["ack-times", tenant, fleet, revision],
    queryFn: async ({ signal }) => {
      const r = await take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", {
          params: { path: { tenant, fleet, revision: String(revision) }, query: { limit: 1 } },
          signal,
        }),
      );
      if (r.counts.acked === 0) return { revision, first: undefined, last: undefined }; // never a time for no ACKs
      return { revision, first: r.first_ack_ms, last: r.last_ack_ms };
    },
    staleTime: newest ? 0 : Infinity,
    ...(newest ? { meta: of(fleet, "receipt") } : {}),
  });

export interface FindingFilter {
  severity?: FindingSeverity;
  code?: FindingCode;
  type?: ResourceType;
  name?: string;
  cursor?: string;
  limit?: number;
}

export const findings = (tenant: string, fleet: string, query: FindingFilter) =>
  queryOptions({
    queryKey: ["findings", tenant, fleet, query],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/findings", { params: { path: { tenant, fleet }, query }, signal })),
    meta: of(fleet, "findings"),
  });

/** The secrets, without what is secret: of the certificates among them when they end. */
export const secrets = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["secrets", tenant, fleet],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}", {
          params: { path: { tenant, fleet, type: "secrets" }, query: { bodies: false, limit: 500 } },
          signal,
        }),
      ),
    meta: of(fleet, "revision"),
  });
