// What nodes refuse, in their own words: who say the same stand together.
import type { ReceiptNode, ResourceRef } from "../api/client";
import { doneAbout } from "../receipt/words";

export interface Group {
  key: string;
  resource: ResourceRef | undefined;
  detail: string;
  action: string | undefined;
  /** Node ids, at most those of one page. */
  nodes: string[];
}

/** The nodes by resource and words, the most first. */
export function grouped(nodes: readonly ReceiptNode[]): Group[] {
  const groups = new Map<string, Group>();
  for (const n of nodes) {
    if (n.state !== "nacked") continue;
    const detail = n.detail ?? "";
    const key = JSON.stringify([n.resource?.type, n.resource?.name, detail, doneAbout(n)]);
    const group = groups.get(key) ?? { key, resource: n.resource, detail, action: doneAbout(n), nodes: [] };
    group.nodes.push(n.id);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}
