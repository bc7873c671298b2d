// How nodes, their refusals and their events are told.
import type { Event, Node, NodeLabels, NodeSubscription, Refusal, RefusalEnd, ResourceRef, Waits, Withheld } from "../api/client";

export const nodesWord = (n: number) => (n === 1 ? "1 node" : `${n.toLocaleString("en")} nodes`);

export const refText = (r: ResourceRef) => (r.name === "" ? r.type : `${r.type}/${r.name}`);

/** Where a node is against the fleet's newest revision: "at 7, 2 behind". */
export function settledWords(settled: number, newest: number | undefined): string {
  if (settled === 0) return newest === 0 ? "nothing to confirm yet" : "nothing confirmed yet";
  if (newest === undefined) return `at ${settled}`;
  return newest > settled ? `at ${settled}, ${newest - settled} behind` : `at ${settled}, the newest`;
}

export const clientWords = (n: Pick<Node, "user_agent" | "version">) => [n.user_agent, n.version].filter(Boolean).join(" ");

/** In a few words what a node waits for; empty for nothing. */
export function waitsWords(w: Waits | undefined): string {
  if (!w) return "";
  const parts: string[] = [];
  if (w.withheld_by.length > 0) parts.push(some(w.withheld_by));
  if (w.warming.length > 0) parts.push(`warms ${some(w.warming)}`);
  if (w.more !== undefined && w.more > 0) parts.push(`${w.more} more`);
  return parts.join(", ");
}

function some(refs: readonly ResourceRef[]): string {
  const first = refs.slice(0, 2).map(refText).join(", ");
  return refs.length > 2 ? `${first} and ${refs.length - 2} more` : first;
}

/** What holds back what is kept from a node, and what can be done about it. */
export function withheldBy(w: Pick<Withheld, "by" | "reason">): string {
  return w.reason === "too_large" ? withheldWords.too_large : `waits for ${refText(w.by)}, which ${withheldWords[w.reason]}`;
}

/** Of a resource that a node was sent: as the command line and the contract say it. */
export const warmingWords = "is sent and not answered: something that it needs is still open, or the node is stuck";
export const warmingHint = "It may need endpoints, a secret, DNS or a first health check, and mostly ends by itself.";

/** Of a node of files. */
export const noEnvoyWords = "no Envoy serves there: its files are written, and nothing is confirmed until one does";

export const withheldWords: Record<Withheld["reason"], string> = {
  missing: "does not exist: write it",
  refused: "is refused by this node: fix it",
  sealed: "is sealed with a key that the xDS server of this node does not have: give the servers keys of one pair and write it again",
  too_large: "does not fit: with it the set would be larger than this node takes at once. Make one of the set smaller, or let the node ask for less",
};

/** Words of refusals, with what and whom they are of. */
export interface Group {
  words: string;
  refs: ResourceRef[];
  nodes: string[];
}

/** Identical words once, those of most nodes first. */
export function groupRefusals(nodes: readonly Pick<Node, "id" | "refusals">[]): Group[] {
  const groups = new Map<string, Group>();
  for (const n of nodes) {
    for (const r of standing(n.refusals)) {
      const g = groups.get(r.detail) ?? { words: r.detail, refs: [], nodes: [] };
      groups.set(r.detail, g);
      if (g.nodes.at(-1) !== n.id) g.nodes.push(n.id);
      if (!g.refs.some((known) => refText(known) === refText(r))) g.refs.push({ type: r.type, name: r.name });
    }
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}

export const standing = (refusals: readonly Refusal[]) => refusals.filter((r) => r.resolved_at === undefined);

/**
 * The part of the words that is about one resource. An Envoy that refuses several at once says it in one answer,
 * "Error adding/updating cluster(s) a: no luck, b: no luck either"; others are the names that it speaks of besides.
 */
export function partOf(words: string, name: string, others: readonly string[]): string {
  if (name === "") return words;
  const start = saidOf(words, name);
  if (start < 0) return words;
  const ends = others.map((o) => (o === name || o === "" ? -1 : saidOf(words, o))).filter((at) => at > start);
  const end = Math.min(words.length, ...ends);
  return words.slice(start, end).replace(/[\s,;]+$/, "").slice(name.length + 1).trim() || words;
}

/** Where "name: " begins a part. */
function saidOf(words: string, name: string): number {
  for (let at = words.indexOf(`${name}: `); at >= 0; at = words.indexOf(`${name}: `, at + 1)) {
    const before = words.slice(0, at);
    if (before === "" || /\(s\) $|[,;] $|\n$/.test(before)) return at;
  }
  return -1;
}

/** The labels as selectors name them. */
export function labelsOf(labels: NodeLabels): [key: string, value: string][] {
  const found: [string, string | undefined][] = [
    ["node.cluster", labels.cluster],
    ["client.name", labels.client_name],
    ["client.version", labels.client_version],
    ["locality.region", labels.region],
    ["locality.zone", labels.zone],
    ["locality.sub_zone", labels.sub_zone],
    ...flatten("metadata", labels.metadata ?? {}),
  ];
  return found.filter((l): l is [string, string] => l[1] !== undefined && l[1] !== "");
}

function flatten(path: string, value: unknown): [string, string][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value).flatMap(([k, v]) => flatten(`${path}.${/^[\w-]+$/.test(k) ? k : JSON.stringify(k)}`, v));
  return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
}

/** How a node asks for a type. */
export function subscriptionWords(s: NodeSubscription): string {
  const names = s.names ? s.names.join(", ") : s.named === undefined ? "" : `${s.named} of them`;
  if (s.wildcard) return names === "" ? "all of them" : `all of them, and by name ${names}`;
  return names === "" ? "some by name" : `by name: ${names}`;
}

/** What became of one refusal, or of several that one answer brought: the newest first. */
export interface Story {
  key: string;
  kind: "refused" | Event["kind"];
  refs: ResourceRef[];
  words?: string;
  revision?: number;
  at: string;
  action?: string;
  endedAt?: string;
  endedAs?: RefusalEnd;
  endedBy?: number;
  event: Event;
}

/** Puts the events of one node, newest first, together by what was refused, and then by the words of one answer. */
export function stories(events: readonly Event[]): Story[] {
  const told: Story[] = [];
  const open = new Map<string, Story>();
  for (const e of [...events].reverse()) {
    const about = e.resource === undefined ? undefined : `${refText(e.resource)} ${e.version ?? ""}`;
    const known = about === undefined ? undefined : open.get(about);
    if (known && e.kind === "kept_back" && known.action === undefined && e.action !== undefined) known.action = e.action;
    else if (known && (e.kind === "recovered" || e.kind === "offered")) {
      known.endedAt = e.at;
      known.endedAs = e.kind === "offered" ? "offered" : e.revision === undefined ? "taken" : "replaced";
      if (e.kind === "recovered" && e.revision !== undefined) known.endedBy = e.revision;
      if (about !== undefined) open.delete(about);
    } else {
      const story = storyOf(e, told.length);
      told.push(story);
      if (about !== undefined && e.kind !== "recovered" && e.kind !== "offered") open.set(about, story);
    }
  }
  return told.reduce<Story[]>(together, []).reverse();
}

function storyOf(e: Event, n: number): Story {
  return {
    key: e.id ?? `${e.at} ${n}`,
    kind: e.kind,
    refs: e.resource ? [e.resource] : [],
    at: e.at,
    event: e,
    ...(e.detail === undefined ? {} : { words: e.detail }),
    ...(e.revision === undefined ? {} : { revision: e.revision }),
    ...(e.action === undefined ? {} : { action: e.action }),
  };
}

/** Of one answer: the same words, and the same end. */
function together(told: Story[], s: Story): Story[] {
  const last = told.find(
    (t) =>
      s.words !== undefined && t.words === s.words && t.kind === s.kind && t.revision === s.revision && t.action === s.action && t.endedBy === s.endedBy && t.endedAs === s.endedAs &&
      (t.endedAt === undefined) === (s.endedAt === undefined) && Math.abs(Date.parse(t.at) - Date.parse(s.at)) < 2000,
  );
  if (!last) return [...told, s];
  last.refs.push(...s.refs);
  return told;
}
