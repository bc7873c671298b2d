// A deletion is sent without the ETag of what was read: whether others have changed it since is looked up here.
import { useQueries } from "@tanstack/react-query";
import type { PlannedResource, Resource } from "../api/client";
import { resourceQuery } from "../resources/queries";
import type { Edit } from "./store";

export interface Deletions {
  /** Of an edit: what is there now and is not what was to be deleted. */
  changed: ReadonlyMap<Edit, Resource>;
  /** It is not known of all yet. */
  asking: boolean;
  error: Error | null;
  again: () => void;
}

/** What the plan has seen is read after the plan. What changes later, the plan's token refuses. */
export function useDeletions(tenant: string, fleet: string, planned: readonly { edit: Edit; planned: PlannedResource | undefined }[]): Deletions {
  const asked = planned.flatMap(({ edit, planned: p }) => (edit.action === "delete" && p?.revision !== undefined ? [{ edit, revision: p.revision }] : []));
  const found = useQueries({
    queries: asked.map(({ edit, revision }) => {
      const query = resourceQuery(tenant, fleet, edit.type, edit.name, edit.variant);
      return { ...query, queryKey: [...query.queryKey, "planned", String(revision)], gcTime: 0 };
    }),
  });
  const changed = new Map<Edit, Resource>();
  asked.forEach(({ edit }, i) => {
    const now = found[i]?.data;
    if (now && now.etag !== edit.etag) changed.set(edit, now);
  });
  return {
    changed,
    asking: found.some((q) => q.data === undefined),
    error: found.find((q) => q.error !== null)?.error ?? null,
    again: () => found.forEach((q) => void q.refetch()),
  };
}
