// What the pages of nodes ask.
import { queryOptions } from "@tanstack/react-query";
import { api, take, Unreachable, type EventList, type NodeConfig, type NodeResource, type NodeResourceState, type NodeState, type ResourceRef, type ResourceType, type SecretSummary } from "../api/client";
import { of } from "../api/queries";
import type { Place } from "./place";
import { partOf } from "./words";

export interface NodeFilters {
  state?: NodeState;
  prefix?: string;
  selector?: string;
}

/** One page of nodes. */
export const pageOfNodes = 200;

export const nodesQuery = (tenant: string, fleet: string, filters: NodeFilters, cursor: string | undefined) =>
  queryOptions({
    queryKey: ["nodes", tenant, fleet, filters, cursor ?? ""],
    queryFn: ({ signal }) =>
      take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes", {
          params: { path: { tenant, fleet }, query: { ...filters, limit: pageOfNodes, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
    meta: of(fleet, "nodes"),
  });

/** How many nodes the filters let pass. */
export const countQuery = (tenant: string, fleet: string, filters: NodeFilters) =>
  queryOptions({
    queryKey: ["nodes-count", tenant, fleet, filters],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes", { params: { path: { tenant, fleet }, query: { ...filters, count: true, limit: 1 } }, signal })),
    meta: of(fleet, "nodes"),
  });

export const nodeQuery = (tenant: string, fleet: string, node: string) =>
  queryOptions({
    queryKey: ["node", tenant, fleet, node],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}", { params: { path: { tenant, fleet, node } }, signal })),
    meta: of(fleet, "nodes", "revision"),
  });

export const retry = (tenant: string, fleet: string, node: string) => take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/retry", { params: { path: { tenant, fleet, node } } }));

export interface ConfigFilters {
  type?: ResourceType;
  state?: NodeResourceState;
}

const askConfig = (tenant: string, fleet: string, node: string, query: ConfigFilters & { bodies?: boolean; limit: number; cursor?: string }, signal: AbortSignal) =>
  take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/config", { params: { path: { tenant, fleet, node }, query }, signal }));

const pageOfConfig = 50;
/** How many resources are looked at for one page of a search: the API has no search by name. */
const looks = 4;
const pageOfLook = 500;

export type ConfigPage = Pick<NodeConfig, "items" | "next_cursor" | "labels_unknown" | "frozen">;

/** One page of what the node should hold; with words only what has them in its name. */
export const configQuery = (tenant: string, fleet: string, node: string, filters: ConfigFilters, words: string, cursor: string | undefined) =>
  queryOptions({
    queryKey: ["node-config", tenant, fleet, node, filters, words, cursor ?? ""],
    queryFn: ({ signal }): Promise<ConfigPage> => {
      const from = cursor === undefined ? {} : { cursor };
      if (words === "") return askConfig(tenant, fleet, node, { ...filters, ...from, limit: pageOfConfig }, signal);
      return look((next) => askConfig(tenant, fleet, node, { ...filters, limit: pageOfLook, ...next }, signal), from, words);
    },
    meta: of(fleet, "nodes", "revision"),
  });

async function look(ask: (from: { cursor?: string }) => Promise<NodeConfig>, from: { cursor?: string }, words: string): Promise<ConfigPage> {
  const found: NodeResource[] = [];
  const wanted = words.toLowerCase();
  for (let i = 0; ; i++) {
    const page = await ask(from);
    found.push(...page.items.filter((r) => r.name.toLowerCase().includes(wanted)));
    if (page.next_cursor === undefined) return { ...page, items: found };
    if (i + 1 === looks || found.length >= pageOfConfig) return { ...page, items: found, next_cursor: page.next_cursor };
    from = { cursor: page.next_cursor };
  }
}

/** Why the node has a resource, and in which state. */
export const whyQuery = (tenant: string, fleet: string, node: string, { type, name }: ResourceRef) =>
  queryOptions({
    queryKey: ["node-why", tenant, fleet, node, type, name],
    queryFn: async ({ signal }) => {
      const found = await take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/why", { params: { path: { tenant, fleet, node }, query: { type, name } }, signal }));
      return found.items[0] ?? null;
    },
    meta: of(fleet, "nodes", "revision"),
  });

export interface Text {
  /** YAML; empty of a secret, and where there is nothing. */
  text: string;
  secret?: SecretSummary;
  /** Of the words that refuse it. */
  place?: Place;
}

async function textOf(r: { body?: unknown; secret?: SecretSummary }): Promise<Text> {
  if (r.secret !== undefined) return { text: "", secret: r.secret };
  if (r.body === undefined) return { text: "" };
  const { stringify } = await import("yaml");
  return { text: stringify(r.body, { lineWidth: 0 }) };
}

/** The body that is in force for the node; null where none is told. */
export const heldQuery = (tenant: string, fleet: string, node: string, held: NodeResource) =>
  queryOptions({
    queryKey: ["node-body", tenant, fleet, node, held.type, held.name, held.variant ?? "", held.version ?? "", held.state],
    queryFn: async ({ signal }): Promise<Text | null> => {
      const { type, name, variant } = held;
      // What stands in for a refused version is another one than the fleet's: it is told among the refused alone.
      if (held.state !== "refused") {
        return textOf(await take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", { params: { path: { tenant, fleet, type, name }, query: variant === undefined ? {} : { variant } }, signal })));
      }
      let cursor: string | undefined;
      do {
        const page: NodeConfig = await askConfig(tenant, fleet, node, { type, state: "refused", bodies: true, limit: 50, ...(cursor === undefined ? {} : { cursor }) }, signal);
        const found = page.items.find((r) => r.name === name);
        if (found) return textOf(found);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return null;
    },
    meta: of(fleet, "revision"),
  });

export interface Refused extends ResourceRef {
  variant?: string;
  version: string;
  revision: number;
  detail: string;
  /** The names of what the same words are about. */
  others: readonly string[];
}

/** The body that was refused, with the line that the words name; null where that version is not kept. */
export const refusedQuery = (tenant: string, fleet: string, r: Refused) =>
  queryOptions({
    queryKey: ["refused-body", tenant, fleet, r.type, r.name, r.variant ?? "", r.revision, r.version, r.detail],
    queryFn: async ({ signal }): Promise<Text | null> => {
      const query = { revision: String(r.revision), ...(r.variant === undefined ? {} : { variant: r.variant }) };
      const then = await take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", { params: { path: { tenant, fleet, type: r.type, name: r.name }, query }, signal }));
      if (then.version !== r.version) return null;
      const read = await textOf(then);
      if (read.text === "") return read;
      const { placeOf } = await import("./place");
      return { ...read, place: placeOf(read.text, partOf(r.detail, r.name, r.others), r.name) };
    },
    staleTime: Infinity, // a revision does not change
    meta: { fleet },
  });

export const nodeEventsQuery = (tenant: string, fleet: string, node: string, cursor: string | undefined) =>
  queryOptions({
    queryKey: ["node-events", tenant, fleet, node, cursor ?? ""],
    queryFn: async ({ signal }): Promise<EventList> => {
      const answer = await take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/events", { params: { path: { tenant, fleet }, query: { node, limit: 100, ...(cursor === undefined ? {} : { cursor }) } }, signal }));
      if (typeof answer === "string") throw new Unreachable("The events came as a stream."); // that is asked for by a header alone
      return answer;
    },
    meta: of(fleet, "events"),
  });
