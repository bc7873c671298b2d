// What somebody has written and not published: of each fleet a list of edits. It is kept in the browser, so that nothing
// typed is lost by a reload, a sign-out or a session's end. Secrets are not: what is typed into one stays in the tab.
// A draft is its author's: whoever else signs in on the same browser neither sees nor publishes it.
import { useSyncExternalStore } from "react";
import type { ResourceType, Whoami } from "../api/client";

/** One resource that is to be written or deleted. Its text is the whole document, in YAML or JSON. */
export interface Edit {
  action: "write" | "delete";
  type: ResourceType;
  name: string;
  /** Left out for the default variant. */
  variant?: string;
  /** The document as it was typed, `{name, variant, selector, labels, body, ...}`. Empty of a deletion. */
  text: string;
  /** The document as it was read, for the difference and a three-way merge. Empty of what is new. */
  base: string;
  /** The ETag of what was read. Left out of what is new. */
  etag?: string;
  /** When it was last typed at, as an ISO time. */
  at: string;
}

/** A publishing that was sent and whose answer has not come. With it the very same request is sent again. */
export interface Asked {
  /** The Idempotency-Key. */
  key: string;
  /** The plan's token, and whether what it asks to confirm was confirmed. */
  token: string;
  confirmed: boolean;
  at: string;
}

export interface Draft {
  message: string;
  edits: Edit[];
  asked?: Asked;
}

/** Whose drafts they are. */
export interface Author {
  tenant: string;
  /** The id of the token that one signed in with. */
  token: string;
}

export const authorOf = (me: Pick<Whoami, "id" | "tenant">): Author => ({ tenant: me.tenant ?? "", token: me.id });

const none: Draft = { message: "", edits: [] };
const prefix = "fairlead.draft/";
const drafts = new Map<string, Draft>();
const unkept = new Set<string>(); // whose latest state the browser did not take
const listeners = new Set<() => void>();

/** An author's place in a fleet, for what the browser keeps. */
export const placeOf = (by: Author, fleet: string) => `${by.tenant}/${by.token}/${fleet}`;
const keyOf = (by: Author, fleet: string) => prefix + placeOf(by, fleet);
type Of = Pick<Edit, "type" | "name" | "variant">;
const sameResource = (a: Of, b: Of) => a.type === b.type && a.name === b.name && (a.variant ?? "") === (b.variant ?? "");
const staysInTab = (e: Edit) => e.type === "secrets" && e.action === "write";

export function readDraft(by: Author, fleet: string): Draft {
  const key = keyOf(by, fleet);
  const known = drafts.get(key);
  if (known) return known;
  const draft = parse(stored(key));
  drafts.set(key, draft);
  return draft;
}

function write(by: Author, fleet: string, draft: Draft) {
  const key = keyOf(by, fleet);
  drafts.set(key, draft);
  const { asked, ...rest } = draft;
  const edits = draft.edits.filter((e) => !staysInTab(e));
  // A publishing cannot be asked again without all that was sent.
  const kept: Draft = { ...rest, edits, ...(asked && edits.length === draft.edits.length ? { asked } : {}) };
  try {
    if (kept.edits.length === 0 && kept.message === "") localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(kept));
    unkept.delete(key);
  } catch {
    unkept.add(key); // the draft lives as long as the tab
  }
  for (const l of listeners) l();
}

/** The draft of a fleet. */
export function useDraft(by: Author, fleet: string): Draft {
  return useSyncExternalStore(subscribe, () => readDraft(by, fleet));
}

/** Whether the browser keeps nothing, or no more, so that the draft is in this tab alone. */
export function useUnkept(by: Author, fleet: string): boolean {
  return useSyncExternalStore(subscribe, () => unkept.has(keyOf(by, fleet)));
}

/** The edit of one resource, if there is one. */
export function editOf(draft: Draft, of: Of): Edit | undefined {
  return draft.edits.find((e) => sameResource(e, of));
}

/** Puts an edit into the draft, in the place of the one that it has of the resource. */
export function putEdit(by: Author, fleet: string, edit: Edit) {
  const draft = readDraft(by, fleet);
  const at = draft.edits.findIndex((e) => sameResource(e, edit));
  write(by, fleet, { message: draft.message, edits: at < 0 ? [...draft.edits, edit] : draft.edits.with(at, edit) });
}

export function dropEdit(by: Author, fleet: string, of: Of) {
  const draft = readDraft(by, fleet);
  write(by, fleet, { message: draft.message, edits: draft.edits.filter((e) => !sameResource(e, of)) });
}

export function setMessage(by: Author, fleet: string, message: string) {
  write(by, fleet, { edits: readDraft(by, fleet).edits, message });
}

/** Remembers that the draft was sent, so that it is sent again as the same request, after a reload too. */
export function setAsked(by: Author, fleet: string, asked: Asked | undefined) {
  const { message, edits } = readDraft(by, fleet);
  write(by, fleet, { message, edits, ...(asked ? { asked } : {}) });
}

/** What was published leaves the draft. What was typed meanwhile stays. */
export function published(by: Author, fleet: string, edits: readonly Edit[]) {
  const draft = readDraft(by, fleet);
  const left = draft.edits.filter((now) => !edits.some((e) => sameResource(e, now) && e.action === now.action && e.text === now.text));
  write(by, fleet, { message: left.length === 0 ? "" : draft.message, edits: left });
}

export function clearDraft(by: Author, fleet: string) {
  write(by, fleet, none);
}

/** Whether this tab holds secrets that a reload would lose. */
export function holdsSecrets(): boolean {
  return [...drafts.values()].some((d) => d.edits.some(staysInTab));
}

/** Forgets the secrets that were typed into this tab: whoever signs in next may be somebody else. */
export function forgetSecrets() {
  for (const [key, draft] of drafts) {
    if (draft.edits.some(staysInTab)) drafts.set(key, { message: draft.message, edits: draft.edits.filter((e) => !staysInTab(e)) });
  }
  for (const l of listeners) l();
}

function subscribe(l: () => void) {
  listeners.add(l);
  return () => listeners.delete(l);
}

// Another tab writes the same draft. It knows nothing of the secrets that were typed here.
if (typeof addEventListener !== "undefined") {
  addEventListener("storage", (e) => {
    if (!e.key?.startsWith(prefix)) return;
    const here = drafts.get(e.key)?.edits.filter(staysInTab) ?? [];
    const there = parse(e.newValue);
    drafts.set(e.key, here.length === 0 ? there : { message: there.message, edits: [...there.edits, ...here] });
    for (const l of listeners) l();
  });
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function parse(text: string | null): Draft {
  if (text === null) return none;
  try {
    const found: unknown = JSON.parse(text);
    if (isDraft(found)) return found;
  } catch {
    // a damaged draft is none
  }
  return none;
}

function isDraft(x: unknown): x is Draft {
  return typeof x === "object" && x !== null && "message" in x && typeof x.message === "string" && "edits" in x && Array.isArray(x.edits) && x.edits.every(isEdit);
}

function isEdit(x: unknown): x is Edit {
  return typeof x === "object" && x !== null && "type" in x && typeof x.type === "string" && "name" in x && typeof x.name === "string" && "text" in x && typeof x.text === "string";
}
