// What the topology asks.
import { queryOptions } from "@tanstack/react-query";
import { api, take, type NodeResourceState, type ResourceRef, type ResourceType } from "../api/client";
import { of } from "../api/queries";
import { idOf } from "./graph";

/** The graph: of all, a thousand names at most, or around one. */
export const topologyQuery = (tenant: string, fleet: string, around?: ResourceRef) =>
  queryOptions({
    queryKey: ["topology", tenant, fleet, around?.type ?? "", around?.name ?? ""],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/topology", { params: { path: { tenant, fleet }, query: { most: 1000, ...(around ?? {}) } }, signal })),
    meta: of(fleet, "revision", "settings"),
  });

/** Of a node: what it waits for. */
export const nodeQuery = (tenant: string, fleet: string, node: string) =>
  queryOptions({
    queryKey: ["topology-node", tenant, fleet, node],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}", { params: { path: { tenant, fleet, node } }, signal })),
    meta: of(fleet, "nodes", "receipt", "revision"),
  });

/** No graph shows more, so that the rest of a larger fleet is not read. */
const mostPages = 10;

/** Of a node: the state of each resource by its id, and of none else. */
export const nodeStatesQuery = (tenant: string, fleet: string, node: string) =>
  queryOptions({
    queryKey: ["topology-node-states", tenant, fleet, node],
    queryFn: async ({ signal }) => {
      const states = new Map<string, NodeResourceState>();
      let cursor: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const answer = await take(
          api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/config", {
            params: { path: { tenant, fleet, node }, query: { limit: 500, ...(cursor === undefined ? {} : { cursor }) } },
            signal,
          }),
        );
        for (const r of answer.items) states.set(idOf(r), r.state);
        cursor = answer.next_cursor;
        if (cursor === undefined) break;
      }
      return { states, more: cursor !== undefined };
    },
    structuralSharing: false, // a Map
    meta: of(fleet, "nodes", "receipt", "revision"),
  });

/** A few nodes whose id begins so, to choose from. */
export const nodeChoiceQuery = (tenant: string, fleet: string, prefix: string) =>
  queryOptions({
    queryKey: ["topology-nodes", tenant, fleet, prefix],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes", {
          params: { path: { tenant, fleet }, query: { limit: 20, ...(prefix === "" ? {} : { prefix }) } },
          signal,
        }),
      ),
    meta: of(fleet, "nodes"),
  });

const types: readonly string[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"] satisfies ResourceType[];

/** "clusters/backend" of the address. */
export function refOf(id: string | undefined): ResourceRef | undefined {
  const cut = id?.indexOf("/") ?? -1;
  if (id === undefined || cut < 0) return undefined;
  const type = id.slice(0, cut);
  return isType(type) ? { type, name: id.slice(cut + 1) } : undefined;
}

function isType(word: string): word is ResourceType {
  return types.includes(word);
}
