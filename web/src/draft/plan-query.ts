import { queryOptions } from "@tanstack/react-query";
import { api, take, type RollbackRequest } from "../api/client";

const listed = 20; // ids of nodes that are reached

/** What publishing a draft would do. It is asked anew when the draft is another one, and when somebody looks again. */
export const planQuery = (tenant: string, fleet: string, body: string) =>
  queryOptions({
    queryKey: ["plan", tenant, fleet, fingerprint(body)],
    queryFn: ({ signal }) =>
      take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/plan", { params: { path: { tenant, fleet }, query: { limit: listed } }, body: {}, bodySerializer: () => body, signal })),
    staleTime: Infinity,
    gcTime: 0,
  });

/** What a rollback would do. */
export const rollbackPlanQuery = (tenant: string, fleet: string, body: RollbackRequest) =>
  queryOptions({
    queryKey: ["rollback-plan", tenant, fleet, body],
    queryFn: ({ signal }) => take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/rollback/plan", { params: { path: { tenant, fleet }, query: { limit: listed } }, body, signal })),
    staleTime: Infinity,
    gcTime: 0,
  });

/** A short word for a long text, so that no key of a query holds what was typed. */
export function fingerprint(text: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  return `${text.length}-${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}`;
}
