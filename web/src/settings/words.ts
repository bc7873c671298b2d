// Roles, limits and ends, in words.
import type { CredentialState, Limit, LimitName, Role, Whoami } from "../api/client";

export const roleWords: Record<Role, string> = {
  viewer: "viewer: reads",
  ci: "ci: reads and writes one fleet, for a pipeline",
  editor: "editor: reads and writes configuration",
  admin: "admin: also fleets, node credentials and tokens up to admin",
  owner: "owner: everything in the tenant",
};

const roles: readonly Role[] = ["viewer", "ci", "editor", "admin", "owner"];

/** The roles of the tokens that one may make and revoke: never a higher one than one's own. */
export function rolesOf(me: Whoami): readonly Role[] {
  if (me.kind === "operator" || me.role === "owner") return roles;
  return me.role === "admin" ? roles.slice(0, -1) : [];
}

interface LimitWords {
  title: string;
  kind: "number" | "bytes" | "days" | "rate";
}

export const limitWords: Record<LimitName, LimitWords> = {
  fleets: { title: "Fleets", kind: "number" },
  deleted_fleets: { title: "Deleted fleets that can be restored", kind: "number" },
  tokens: { title: "API tokens", kind: "number" },
  audit_days: { title: "The audit is kept for", kind: "days" },
  audit_bytes: { title: "Bytes of the audit", kind: "bytes" },
  idempotency_bytes: { title: "Bytes of answers kept for repeats", kind: "bytes" },
  credentials: { title: "Node credentials", kind: "number" },
  resources: { title: "Resources", kind: "number" },
  fleet_bytes: { title: "Bytes of the resources", kind: "bytes" },
  history_bytes: { title: "Bytes of the history", kind: "bytes" },
  event_bytes: { title: "Bytes of the events", kind: "bytes" },
  refusal_bytes: { title: "Bytes of the refusals", kind: "bytes" },
  waiting_polls: { title: "Streams and requests that wait", kind: "number" },
  token_waiting_polls: { title: "Streams and requests that wait, of your token", kind: "number" },
  writes_per_minute: { title: "Writes in a minute", kind: "rate" },
  token_writes_per_minute: { title: "Writes in a minute, of your token", kind: "rate" },
  reads_per_minute: { title: "Reads in a minute", kind: "rate" },
  token_reads_per_minute: { title: "Reads in a minute, of your token", kind: "rate" },
};

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = n / 1024;
  let i = 0;
  while (value >= 1024 && i < units.length - 1) {
    value /= 1024;
    i++;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[i] ?? ""}`;
}

export function amount(what: LimitName, n: number): string {
  switch (limitWords[what].kind) {
    case "bytes":
      return bytes(n);
    case "days":
      return `${n} days`;
    default:
      return n.toLocaleString("en");
  }
}

/** How full a limit is, from 0 to 100. Of one of which nothing is counted: undefined. */
export function fullness(l: Pick<Limit, "used" | "limit">): number | undefined {
  if (l.used === undefined) return undefined;
  if (l.limit === 0) return l.used > 0 ? 100 : 0;
  return Math.min(100, (l.used / l.limit) * 100);
}

interface Ends {
  expires_at?: string;
  revoked_at?: string;
}

/** Whether a token or credential is still taken. */
export function stateOf(t: Ends, now: number): CredentialState {
  if (t.revoked_at !== undefined) return "revoked";
  return t.expires_at !== undefined && Date.parse(t.expires_at) <= now ? "expired" : "active";
}

export const stateColor: Record<CredentialState, string> = { active: "teal", expired: "gray", revoked: "gray" };

const states: readonly string[] = ["active", "expired", "revoked"];

/** The state that the address names; the active ones are shown where it names none. */
export function stateWord(word: string | undefined): CredentialState | "all" {
  if (word === "all") return "all";
  return word !== undefined && isState(word) ? word : "active";
}
function isState(word: string): word is CredentialState {
  return states.includes(word);
}

/** So many days from a moment, as the contract writes a time. */
export function daysFrom(now: number, days: number): string {
  return new Date(now + days * 86_400_000).toISOString();
}
