// What the pages of events ask.
import { queryOptions } from "@tanstack/react-query";
import { api, take, Unreachable, type EventKind, type paths } from "../api/client";
import { of } from "../api/queries";

const pageSize = 50;

/** These operations answer text too, where that is asked for. Here it is not. */
async function listed<T extends object>(answer: Promise<T | string>): Promise<T> {
  const list = await answer;
  if (typeof list === "string") throw new Unreachable("The server answered something else than a list.");
  return list;
}

interface EventsAsked {
  kind?: EventKind | undefined;
  node?: string | undefined;
  since?: string | undefined;
  grouped: boolean;
  cursor?: string | undefined;
}

export const eventsQuery = (tenant: string, fleet: string, { kind, node, since, grouped, cursor }: EventsAsked) =>
  queryOptions({
    queryKey: ["events", tenant, fleet, grouped, kind ?? "", node ?? "", since ?? "", cursor ?? ""],
    queryFn: ({ signal }) =>
      listed(
        take(
          api.GET("/v1/tenants/{tenant}/fleets/{fleet}/events", {
            params: { path: { tenant, fleet }, query: { limit: pageSize, grouped, ...(kind ? { kind } : {}), ...(node ? { node } : {}), ...(since ? { since } : {}), ...(cursor ? { cursor } : {}) } },
            signal,
          }),
        ),
      ),
    meta: of(fleet, "events"),
  });

export type AuditAsked = Pick<NonNullable<paths["/v1/tenants/{tenant}/audit"]["get"]["parameters"]["query"]>, "kind" | "actor" | "fleet" | "since" | "until">;

export const auditQuery = (tenant: string, asked: AuditAsked, cursor?: string) =>
  queryOptions({
    queryKey: ["audit", tenant, asked, cursor ?? ""],
    queryFn: ({ signal }) =>
      listed(take(api.GET("/v1/tenants/{tenant}/audit", { params: { path: { tenant }, query: { limit: pageSize, ...asked, ...(cursor ? { cursor } : {}) } }, signal }))),
  });

/** Whether the audit is as it was written, as the servers found last. */
export const auditCheckQuery = (tenant: string) =>
  queryOptions({
    queryKey: ["audit-check", tenant],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/audit/verify", { params: { path: { tenant } }, signal })),
  });

/** Where all that the filters take is read, one event on a line. The session's cookie goes along with a link. */
export function exportAddress(tenant: string, asked: AuditAsked): string {
  const words = new URLSearchParams({ format: "jsonl" });
  for (const [key, value] of Object.entries(asked)) words.set(key, value);
  return `/v1/tenants/${encodeURIComponent(tenant)}/audit?${words.toString()}`;
}
