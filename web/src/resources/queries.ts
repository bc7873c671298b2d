// What these views ask.
import { queryOptions } from "@tanstack/react-query";
import { api, Refused, take, type ResourceType } from "../api/client";
import { of } from "../api/queries";

const root = "/v1/tenants/{tenant}/fleets/{fleet}" as const;

export interface Filter {
  type: ResourceType | undefined;
  prefix: string | undefined;
  label: string | undefined;
  cursor: string | undefined;
}

/** A page of resources without their bodies. */
export const resourcesQuery = (tenant: string, fleet: string, { type, prefix, label, cursor }: Filter) =>
  queryOptions({
    queryKey: ["resources", tenant, fleet, type ?? "", prefix ?? "", label ?? "", cursor ?? ""],
    queryFn: ({ signal }) => {
      const query = { bodies: false, limit: 50, ...(prefix && { prefix }), ...(label && { label: [label] }), ...(cursor && { cursor }) };
      return type
        ? take(api.GET(`${root}/resources/{type}`, { params: { path: { tenant, fleet, type }, query }, signal }))
        : take(api.GET(`${root}/resources`, { params: { path: { tenant, fleet }, query }, signal }));
    },
    meta: of(fleet, "revision"),
  });

/** One resource, null where there is none. */
export const resourceQuery = (tenant: string, fleet: string, type: ResourceType, name: string, variant?: string) =>
  queryOptions({
    queryKey: ["resource", tenant, fleet, type, name, variant ?? ""],
    queryFn: async ({ signal }) => {
      try {
        return await take(api.GET(`${root}/resources/{type}/{name}`, { params: { path: { tenant, fleet, type, name }, query: variant ? { variant } : {} }, signal }));
      } catch (e) {
        if (e instanceof Refused && e.status === 404) return null;
        throw e;
      }
    },
    meta: of(fleet, "revision"),
  });

/** All variants of a name, the default one among them. */
export const variantsQuery = (tenant: string, fleet: string, type: ResourceType, name: string) =>
  queryOptions({
    queryKey: ["variants", tenant, fleet, type, name],
    queryFn: async ({ signal }) => {
      const page = await take(api.GET(`${root}/resources/{type}`, { params: { path: { tenant, fleet, type }, query: { prefix: name, bodies: false, limit: 100 } }, signal }));
      return page.items.filter((r) => r.name === name);
    },
    meta: of(fleet, "revision"),
  });

/** Names to choose from, a page of them. */
export const namesQuery = (tenant: string, fleet: string, type: ResourceType, prefix: string) =>
  queryOptions({
    queryKey: ["names", tenant, fleet, type, prefix],
    queryFn: async ({ signal }) => {
      const page = await take(api.GET(`${root}/resources/{type}`, { params: { path: { tenant, fleet, type }, query: { bodies: false, limit: 50, ...(prefix && { prefix }) } }, signal }));
      return [...new Set(page.items.map((r) => r.name))];
    },
    meta: of(fleet, "revision"),
  });

export const resourceHistoryQuery = (tenant: string, fleet: string, type: ResourceType, name: string, variant: string | undefined, cursor?: string) =>
  queryOptions({
    queryKey: ["resource-history", tenant, fleet, type, name, variant ?? "", cursor ?? ""],
    queryFn: ({ signal }) =>
      take(
        api.GET(`${root}/resources/{type}/{name}/history`, {
          params: { path: { tenant, fleet, type, name }, query: { limit: 10, ...(variant && { variant }), ...(cursor && { cursor }) } },
          signal,
        }),
      ),
    meta: of(fleet, "revision"),
  });

export const resourceFindingsQuery = (tenant: string, fleet: string, type: ResourceType, name: string) =>
  queryOptions({
    queryKey: ["resource-findings", tenant, fleet, type, name],
    queryFn: ({ signal }) => take(api.GET(`${root}/findings`, { params: { path: { tenant, fleet }, query: { type, name, limit: 50 } }, signal })),
    meta: of(fleet, "revision", "nodes", "settings"),
  });

/** The nodes that a selector matches: how many, and the first of them. */
export const matchQuery = (tenant: string, fleet: string, selector: string) =>
  queryOptions({
    queryKey: ["match", tenant, fleet, selector],
    queryFn: ({ signal }) => take(api.GET(`${root}/nodes`, { params: { path: { tenant, fleet }, query: { selector, count: true, limit: 5 } }, signal })),
    meta: of(fleet, "nodes"),
    retry: false,
  });
