// What proxies report of their load. No event tells that there is more of it, so it is asked for again by the clock, while somebody can see the
// page. That is no use of the session: the server leaves it out.
import { queryOptions } from "@tanstack/react-query";
import { api, take, type Load } from "../api/client";

/** In ms. */
export const often = 15_000;
export const seldom = 60_000; // nothing is reported, and hardly will be
const mostPages = 61; // a page has a minute at least

/** Loads, and how many parts of the last hour's reports of the fleet they lack. */
export interface Loads {
  items: readonly Load[];
  leftOut: number;
}

const again = (query: { state: { data?: Loads | undefined } }) => (query.state.data?.items.length === 0 ? seldom : often);

interface Filter {
  cluster?: string;
  clusters?: string[];
  cursor?: string;
}

const page = (tenant: string, fleet: string, filter: Filter, signal: AbortSignal) =>
  take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}/load", { params: { path: { tenant, fleet }, query: { limit: 100, ...filter } }, signal }));

/** The minutes of a cluster, the oldest first. */
export const minutesQuery = (tenant: string, fleet: string, cluster: string) =>
  queryOptions({
    queryKey: ["load-minutes", tenant, fleet, cluster],
    queryFn: async ({ signal }): Promise<Loads> => {
      const items: Load[] = [];
      let leftOut = 0;
      let cursor: string | undefined;
      for (let i = 0; i < mostPages; i++) {
        const read = await page(tenant, fleet, { cluster, ...(cursor === undefined ? {} : { cursor }) }, signal);
        items.push(...read.items);
        leftOut = read.left_out;
        cursor = read.next_cursor;
        if (cursor === undefined) break;
      }
      return { items, leftOut };
    },
    refetchInterval: again,
  });

/** The sums of these clusters, at most a page of a list. */
export const clusterLoadsQuery = (tenant: string, fleet: string, clusters: readonly string[]) =>
  queryOptions({
    queryKey: ["load-clusters", tenant, fleet, clusters],
    queryFn: async ({ signal }): Promise<Loads> => {
      const pages = await Promise.all(inParts(clusters).map((part) => page(tenant, fleet, { clusters: part }, signal)));
      return { items: pages.flatMap((p) => p.items), leftOut: Math.max(0, ...pages.map((p) => p.left_out)) };
    },
    refetchInterval: again,
  });

/** Names in parts of which no address gets longer than what passes everywhere. */
export function inParts(names: readonly string[], most = 6000): string[][] {
  const parts: string[][] = [];
  let room = 0;
  for (const name of names) {
    const size = "&clusters=".length + encodeURIComponent(name).length;
    const part = parts.at(-1);
    if (part && size <= room) {
      part.push(name);
      room -= size;
    } else {
      parts.push([name]);
      room = most - size;
    }
  }
  return parts;
}
