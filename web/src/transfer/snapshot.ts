// Reads a fleet's resources page by page, all as they are at one revision.
import { api, take, type Resource, type ResourceType } from "../api/client";

interface Scope {
  /** Only these types; all without. */
  types?: readonly ResourceType[];
  /** Only what carries these, as key=value. */
  labels?: readonly string[];
  /** Without their bodies, which are most of what they weigh. */
  names?: boolean;
}

/** How often a fleet that others write meanwhile is read anew. */
const looks = 5;

export class Restless extends Error {
  constructor() {
    super("The fleet was written each time while it was read. Try again.");
    this.name = "Restless";
  }
}

/** Gives each page to the taker, and answers the revision. A fleet that is written meanwhile is read anew: then begin is called again. */
export async function snapshot(tenant: string, fleet: string, scope: Scope, begin: () => void, page: (items: readonly Resource[]) => void): Promise<number> {
  for (let look = 0; look < looks; look++) {
    begin();
    const before = await revisionOf(tenant, fleet);
    for (const type of scope.types ?? [undefined]) await readPages(tenant, fleet, type, scope, page);
    if ((await revisionOf(tenant, fleet)) === before) return before;
  }
  throw new Restless();
}

async function readPages(tenant: string, fleet: string, type: ResourceType | undefined, scope: Scope, page: (items: readonly Resource[]) => void) {
  let cursor: string | undefined;
  do {
    const query = {
      limit: 500,
      ...(scope.labels && scope.labels.length > 0 ? { label: [...scope.labels] } : {}),
      ...(scope.names ? { bodies: false } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const answer = await take(
      type === undefined
        ? api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources", { params: { path: { tenant, fleet }, query } })
        : api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}", { params: { path: { tenant, fleet, type }, query } }),
    );
    page(answer.items);
    cursor = answer.next_cursor;
  } while (cursor !== undefined);
}

async function revisionOf(tenant: string, fleet: string): Promise<number> {
  return (await take(api.GET("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: { tenant, fleet } } }))).revision;
}
