import { queryOptions } from "@tanstack/react-query";
import { api, take, type Receipt } from "../api/client";
import { of } from "../api/queries";
import { groupRefusals, groupWaits, type Refusals, type WaitsFor } from "./groups";

export const nodeStates = ["nacked", "pending", "acked", "offline", "late"] as const;
export type ReceiptNodeState = (typeof nodeStates)[number];
export const stateOf = (word: string | undefined): ReceiptNodeState | undefined => nodeStates.find((s) => s === word);

const page = (tenant: string, fleet: string, revision: number, query: { state: ReceiptNodeState; limit: number; cursor?: string }, signal: AbortSignal): Promise<Receipt> =>
  take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", { params: { path: { tenant, fleet, revision: String(revision) }, query }, signal }));

/** A page of the nodes of one state. */
export const receiptNodesQuery = (tenant: string, fleet: string, revision: number, state: ReceiptNodeState, cursor: string | undefined) =>
  queryOptions({
    queryKey: ["receipt-nodes", tenant, fleet, revision, state, cursor ?? ""],
    queryFn: ({ signal }) => page(tenant, fleet, revision, { state, limit: 20, ...(cursor ? { cursor } : {}) }, signal),
    meta: of(fleet, "receipt"),
  });

const most = 10; // pages of 500

interface Grouped<G> {
  groups: G[];
  /** At how many nodes was looked. */
  looked: number;
  more: boolean;
  /** How many refusals of these nodes the receipt leaves to their own pages. */
  unlisted: number;
}

async function grouped<G>(ask: (cursor: string | undefined) => Promise<Receipt>, add: (groups: G[], nodes: Receipt["nodes"]) => G[]): Promise<Grouped<G>> {
  let groups: G[] = [];
  let looked = 0;
  let unlisted = 0;
  let cursor: string | undefined;
  for (let i = 0; i < most; i++) {
    const r = await ask(cursor);
    groups = add(groups, r.nodes);
    looked += r.nodes.length;
    for (const n of r.nodes) unlisted += n.more_refused ?? 0;
    cursor = r.next_cursor;
    if (cursor === undefined) break;
  }
  return { groups, looked, more: cursor !== undefined, unlisted };
}

/** What the nodes that refused say, each words once. A page at a time is read, and only the groups are kept. */
export const refusalsQuery = (tenant: string, fleet: string, revision: number) =>
  queryOptions({
    queryKey: ["receipt-refusals", tenant, fleet, revision],
    queryFn: ({ signal }) => grouped<Refusals>((cursor) => page(tenant, fleet, revision, { state: "nacked", limit: 500, ...(cursor ? { cursor } : {}) }, signal), groupRefusals),
    meta: of(fleet, "receipt"),
  });

/** What the pending nodes wait for. */
export const waitsQuery = (tenant: string, fleet: string, revision: number) =>
  queryOptions({
    queryKey: ["receipt-waits", tenant, fleet, revision],
    queryFn: ({ signal }) => grouped<WaitsFor>((cursor) => page(tenant, fleet, revision, { state: "pending", limit: 500, ...(cursor ? { cursor } : {}) }, signal), groupWaits),
    meta: of(fleet, "revision", "receipt"),
  });

/** The errors of the fleet's content, which an ACK tells nothing of. */
export const errorsQuery = (tenant: string, fleet: string) =>
  queryOptions({
    queryKey: ["receipt-errors", tenant, fleet],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/findings", { params: { path: { tenant, fleet }, query: { severity: "error", limit: 100 } }, signal })),
    meta: of(fleet, "revision", "findings"),
  });
