// What happened, in words.
import type { DeniedReason, Event, EventKind } from "../api/client";

export const eventColor: Record<EventKind, string> = {
  refused: "red",
  kept_back: "yellow",
  recovered: "teal",
  offered: "yellow",
  duplicates: "yellow",
  dropped: "gray",
  denied: "red",
  withheld: "yellow",
};

export const kindWords: Record<EventKind, string> = {
  refused: "refused",
  kept_back: "kept back",
  recovered: "recovered",
  offered: "offered again",
  duplicates: "duplicates",
  dropped: "dropped",
  denied: "not let in",
  withheld: "withheld",
};

/** The kind that the address names, if there is such a one. */
export function kindWord(word: string | undefined): EventKind | undefined {
  return word !== undefined && isKind(word) ? word : undefined;
}
function isKind(word: string): word is EventKind {
  return Object.hasOwn(kindWords, word);
}

/** Reasons of clients that were let in. */
export const asked: ReadonlySet<DeniedReason> = new Set<DeniedReason>(["type_not_served", "names_over_limit", "request_refused"]);

/** What comes behind the nodes: "refused", "is kept from the newest of". */
export function deed(e: Pick<Event, "kind" | "resource" | "nodes" | "reason">): string {
  const many = e.nodes !== undefined && e.nodes > 1;
  switch (e.kind) {
    case "refused":
      return e.resource ? "refused" : "refused something";
    case "kept_back":
      return e.resource ? `${many ? "are" : "is"} kept from the fleet's version of` : `${many ? "are" : "is"} kept from something`;
    case "recovered":
      return e.resource ? `no longer ${many ? "refuse" : "refuses"}` : "recovered";
    case "offered":
      return `${many ? "are" : "is"} offered ${e.resource ? "once more" : "something once more"}`;
    case "duplicates":
      return many ? "are the ids of several clients each" : "is the id of several clients";
    case "dropped":
      return "The fleet is at a limit, and older events or refusals were dropped";
    case "denied":
      if (e.reason !== undefined && asked.has(e.reason)) return many ? "ask for what they do not get" : "asks for what it does not get";
      return many ? "were not let in" : "was not let in";
    case "withheld":
      return many ? "are kept from a resource" : "is kept from a resource";
  }
}

export const deniedWords: Record<DeniedReason, string> = {
  token_wrong: "The token has the id of a node credential of this fleet, and another secret.",
  token_revoked: "The credential was revoked.",
  token_expired: "The credential has expired.",
  node_id_forbidden: "The credential is not for nodes of this id.",
  node_id_taken: "Another client has this id, and node ids of this fleet are exclusive.",
  routed: "The call came through a proxy, which has lent it the credential.",
  type_not_served: "It asks for a type of resource that is not served, and gets no answer.",
  names_over_limit: "It asks for more than it may, and is told that the rest does not exist.",
  request_refused: "Its stream is refused for what it asks.",
  withheld_missing: "A resource is kept from it, as what that names does not exist.",
  withheld_refused: "A resource is kept from it, as it refuses what that names.",
  withheld_sealed: "A secret is kept from it, as its xDS server has no key for that.",
  withheld_too_large: "A resource is kept from it, as the set with that is larger than it takes at once.",
};

/** How often, where it is more than once. */
export function attempts(e: Pick<Event, "attempts">): string | undefined {
  return e.attempts !== undefined && e.attempts > 1 ? `${e.attempts} times` : undefined;
}

/** How the audit's kinds are told. */
export const auditKinds: Readonly<Record<string, string>> = {
  "resources.put": "wrote a resource",
  "resources.apply": "applied resources",
  "resources.delete": "deleted a resource",
  "resources.rollback": "rolled back",
  "fleet.create": "made the fleet",
  "fleet.update": "changed the fleet's settings",
  "fleet.delete": "deleted the fleet",
  "fleet.restore": "restored the fleet",
  "fleet.purge": "removed the fleet for good",
  "credential.create": "made a node credential",
  "credential.revoke": "revoked a node credential",
  "token.create": "made an API token",
  "token.revoke": "revoked an API token",
  "token.hand_over": "handed over an API token",
  "session.begin": "signed in",
  "session.end": "ended a session",
  "tenant.create": "made the tenant",
  "tenant.delete": "deleted the tenant",
  "tenant.restore": "restored the tenant",
  "tenant.limits": "changed the tenant's limits",
  "node.retry": "offered a node again what it refuses",
  "access.denied": "was refused what it may not",
  "secret.compared": "compared a secret with other contents",
  "secrets.read": "read what is told of secrets",
  "endpoints.remove": "removed endpoints",
  "audit.export": "took the audit away",
  "audit.broken": "found that the audit is not as it was written",
};

export interface ChangedResource {
  verb: string;
  type: string;
  name: string;
  variant: string;
}

/** The resources that an event of the audit names. What is not of that shape is left out. */
export function changedResources(detail: Readonly<Record<string, unknown>> | undefined): ChangedResource[] {
  const list: unknown = detail?.resources;
  if (!Array.isArray(list)) return [];
  return list.flatMap((row: unknown) => {
    if (!Array.isArray(row)) return [];
    const words = row.filter((w): w is string => typeof w === "string");
    const [verb, type, name, variant = ""] = words;
    return verb === undefined || type === undefined || name === undefined ? [] : [{ verb, type, name, variant }];
  });
}

/** The rest of the detail, as short words: what is not a plain value is JSON. */
export function detailWords(detail: Readonly<Record<string, unknown>> | undefined): [string, string][] {
  return Object.entries(detail ?? {})
    .filter(([key]) => key !== "resources")
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
}

/** A time of the address as a field of the form takes it: local, to the minute. */
export function fieldTime(iso: string | undefined): string {
  if (iso === undefined) return "";
  const t = new Date(iso);
  if (Number.isNaN(t.getTime())) return "";
  return new Date(t.getTime() - t.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What a field holds, as the contract writes a time. */
export function isoTime(field: string): string | undefined {
  const t = new Date(field);
  return field === "" || Number.isNaN(t.getTime()) ? undefined : t.toISOString();
}
