import { queryOptions } from "@tanstack/react-query";
import { api, take, type ResourceType, type RevisionKind, type VariantRef } from "../api/client";
import { of } from "../api/queries";

export const pageSize = 20;

/** The kinds of resources, in the order in which a request passes them. */
export const resourceTypes = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"] as const satisfies readonly ResourceType[];
export const revisionKinds = ["put", "apply", "delete", "rollback", "endpoints"] as const satisfies readonly RevisionKind[];

export const typeOf = (word: string | undefined): ResourceType | undefined => resourceTypes.find((t) => t === word);
export const kindOf = (word: string | undefined): RevisionKind | undefined => revisionKinds.find((k) => k === word);

/** The revision that an address names, or undefined where it names none. 0 is the empty fleet. */
export function revisionOf(word: string | undefined): number | "latest" | undefined {
  if (word === "latest") return "latest";
  return word !== undefined && /^(0|[1-9]\d{0,14})$/.test(word) ? Number(word) : undefined;
}

export const revisionQuery = (tenant: string, fleet: string, revision: number | "latest") =>
  queryOptions({
    queryKey: ["revision", tenant, fleet, revision],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}", { params: { path: { tenant, fleet, revision: String(revision) } }, signal })),
    ...(revision === "latest" ? { meta: of(fleet, "revision") } : { staleTime: Infinity }),
  });

export interface RevisionFilter {
  kind?: RevisionKind;
  actor?: string;
  since?: string;
  until?: string;
  type?: ResourceType;
  name?: string;
  variant?: string;
  cursor?: string;
}

/** A page of revisions, each with the state of its receipt. */
export const revisionsQuery = (tenant: string, fleet: string, filter: RevisionFilter) =>
  queryOptions({
    queryKey: ["revisions", tenant, fleet, filter],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions", { params: { path: { tenant, fleet }, query: { limit: pageSize, receipts: pageSize, ...filter } }, signal })),
    meta: of(fleet, "revision", "receipt"),
  });

export interface Only {
  type?: ResourceType;
  name?: string;
  cursor?: string;
}

/** What a revision changed. It never changes any more. */
export const changesQuery = (tenant: string, fleet: string, revision: number, only: Only) =>
  queryOptions({
    queryKey: ["changes", tenant, fleet, revision, only],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/changes", { params: { path: { tenant, fleet, revision: String(revision) }, query: { limit: pageSize, ...only } }, signal })),
    staleTime: Infinity,
  });

export const compareQuery = (tenant: string, fleet: string, from: number | "latest", to: number | "latest", only: Only) =>
  queryOptions({
    queryKey: ["compare", tenant, fleet, from, to, only],
    queryFn: ({ signal }) =>
      take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/compare", { params: { path: { tenant, fleet }, query: { from: String(from), to: String(to), limit: pageSize, ...only } }, signal })),
    ...(from === "latest" || to === "latest" ? { meta: of(fleet, "revision") } : { staleTime: Infinity }),
  });

/** A resource as it was at a revision, as YAML. Numbers of more digits than a script has are kept. */
export const documentQuery = (tenant: string, fleet: string, { type, name, variant }: VariantRef, revision: number) =>
  queryOptions({
    queryKey: ["document", tenant, fleet, type, name, variant ?? "", revision],
    queryFn: async ({ signal }) => {
      const text: unknown = await take(
        api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", {
          params: { path: { tenant, fleet, type, name }, query: { revision: String(revision), ...(variant ? { variant } : {}) } },
          parseAs: "text",
          signal,
        }),
      );
      return yamlOf(String(text));
    },
    staleTime: Infinity,
  });

/** An answer's resource as the document that one writes, in YAML. */
export async function yamlOf(json: string): Promise<string> {
  const { parseDocument, stringify } = await import("yaml");
  const all: unknown = parseDocument(json, { intAsBigInt: true }).toJS();
  if (typeof all !== "object" || all === null) return "";
  const shown = ["type", "name", "variant", "selector", "priority", "ttl", "delivery", "labels", "description", "body", "secret"];
  return stringify(Object.fromEntries(Object.entries(all).filter(([key]) => shown.includes(key)).sort(([a], [b]) => shown.indexOf(a) - shown.indexOf(b))));
}
