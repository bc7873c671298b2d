// Imported documents as edits of a draft, each with what the fleet has of it now.
import type { ImportedResource, Resource, ResourceType } from "../api/client";
import type { Edit } from "../draft/store";
import { textOf } from "./documents";
import { snapshot } from "./snapshot";
import { yamlOf } from "./yaml";

const keyOf = (r: { type: ResourceType; name: string }) => `${r.type}/${r.name}`;

export async function editsOf(tenant: string, fleet: string, chosen: readonly ImportedResource[]): Promise<Edit[]> {
  const wanted = new Set(chosen.map(keyOf));
  const stored = new Map<string, Resource>();
  const types = [...new Set(chosen.map((r) => r.type))];
  await snapshot(tenant, fleet, { types }, () => stored.clear(), (items) => {
    for (const r of items) if (r.variant === undefined && wanted.has(keyOf(r))) stored.set(keyOf(r), r);
  });
  const at = new Date().toISOString();
  return chosen.map((r): Edit => {
    const there = stored.get(keyOf(r));
    return {
      action: "write",
      type: r.type,
      name: r.name,
      text: yamlOf({ type: r.type, name: r.name, body: r.body }),
      base: there ? textOf(there) : "",
      ...(there ? { etag: there.etag } : {}),
      at,
    };
  });
}
