// Many nodes refuse one thing in the same words: they are told once.
import type { ReceiptNode, ResourceRef, Withheld } from "../api/client";
import { doneAbout } from "./words";

export interface Refusals {
  resource?: ResourceRef;
  detail: string;
  action?: string;
  nodes: number;
  /** Of some of them, in order. */
  ids: string[];
}

export interface WaitsFor {
  kind: "withheld" | "warming" | "no_envoy";
  /** Of no_envoy none: all is written. */
  resource?: ResourceRef;
  by?: ResourceRef;
  reason?: Withheld["reason"];
  nodes: number;
  ids: string[];
}

const examples = 5;

/** Adds a page of nodes to the groups, the largest first. A node that refused several resources is in the group of each. */
export function groupRefusals(groups: readonly Refusals[], nodes: readonly ReceiptNode[]): Refusals[] {
  const found = new Map<string, Refusals>();
  for (const g of groups) found.set(keyOf(g.resource, g.detail, g.action), { ...g, ids: [...g.ids] });
  for (const n of nodes) {
    if (n.state !== "nacked") continue;
    const counted = new Set<string>();
    for (const r of [n, ...(n.also_refused ?? [])]) {
      const detail = r.detail ?? "";
      const action = doneAbout(r);
      const key = keyOf(r.resource, detail, action);
      if (counted.has(key)) continue;
      counted.add(key);
      const g = found.get(key) ?? { detail, nodes: 0, ids: [], ...(r.resource ? { resource: r.resource } : {}), ...(action ? { action } : {}) };
      count(g, n.id);
      found.set(key, g);
    }
  }
  return [...found.values()].sort((a, b) => b.nodes - a.nodes);
}

/** What pending nodes wait for, each reason once. */
export function groupWaits(groups: readonly WaitsFor[], nodes: readonly ReceiptNode[]): WaitsFor[] {
  const found = new Map<string, WaitsFor>();
  const put = (g: WaitsFor) => {
    const key = [g.kind, g.resource?.type, g.resource?.name, g.by?.type, g.by?.name, g.reason].join("\0");
    const known = found.get(key);
    if (!known) found.set(key, g);
    else for (const id of g.ids) count(known, id);
  };
  for (const g of groups) put({ ...g, ids: [...g.ids] });
  for (const n of nodes) {
    if (n.state !== "pending") continue;
    if (n.no_envoy === true) put({ kind: "no_envoy", nodes: 1, ids: [n.id] });
    for (const w of n.withheld ?? []) put({ kind: "withheld", resource: w.resource, by: w.by, reason: w.reason, nodes: 1, ids: [n.id] });
    for (const resource of n.warming ?? []) put({ kind: "warming", resource, nodes: 1, ids: [n.id] });
  }
  return [...found.values()].sort((a, b) => b.nodes - a.nodes);
}

function count(group: { nodes: number; ids: string[] }, id: string) {
  group.nodes++;
  if (group.ids.length < examples) group.ids.push(id);
}

const keyOf = (r: ResourceRef | undefined, detail: string, action: string | undefined) => [r?.type, r?.name, action, detail].join("\0");
