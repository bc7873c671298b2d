// What a promotion carries from one fleet to another.
import type { ApplyInput, FieldError, Resource, ResourceType } from "../api/client";
import { documentOf } from "./documents";
import { snapshot } from "./snapshot";

export interface Choice {
  types: readonly ResourceType[];
  labels: readonly string[];
  /** Delete from the target what the source does not have, of these types and labels. */
  prune: boolean;
}

export interface Content {
  /** Of the source, that it was read at. */
  revision: number;
  input: ApplyInput;
  /** The names of the fleet's values that stand in it. */
  values: readonly string[];
  /** What each entry of the input is: those that are written, then those that are deleted. */
  entries: readonly string[];
}

const refOf = (r: { type: string; name: string; variant?: string }) => `${r.type}/${r.name}${r.variant === undefined ? "" : `, variant ${r.variant}`}`;

/** Reads both fleets as far as it is needed. */
export async function contentOf(tenant: string, from: string, to: string, { types, labels, prune }: Choice): Promise<Content> {
  const scope = { labels, ...(types.length > 0 ? { types } : {}) };
  const taken: Resource[] = [];
  const revision = await snapshot(tenant, from, scope, () => taken.splice(0), (items) => taken.push(...items));
  const resources = taken.map(documentOf);
  const input: ApplyInput = { resources };
  if (prune) {
    const held = new Set(taken.map(refOf));
    const gone: Resource[] = [];
    // It is made only on the revision at which it was looked up what is to go.
    input.expected_revision = await snapshot(tenant, to, { ...scope, names: true }, () => gone.splice(0), (items) => gone.push(...items.filter((r) => !held.has(refOf(r)))));
    input.delete = gone.map((r) => ({ type: r.type, name: r.name, ...(r.variant === undefined ? {} : { variant: r.variant }) }));
    return { revision, input, values: valuesIn(resources), entries: [...taken, ...gone].map(refOf) };
  }
  return { revision, input, values: valuesIn(resources), entries: taken.map(refOf) };
}

/** The names of the values whose placeholders stand in the documents. */
export function valuesIn(resources: readonly unknown[]): string[] {
  const names = new Set<string>();
  for (const m of JSON.stringify(resources).matchAll(/\$\{fleet\.values\.([^}]*)\}/g)) if (m[1] !== undefined) names.add(m[1]);
  return [...names].sort();
}

/** A fault with the resource that it is about, in the place of its number in what was sent. */
export function placed(f: FieldError, entries: readonly string[], written: number): FieldError {
  const found = /^\/(resources|delete)\/(\d+)(.*)$/s.exec(f.pointer ?? "");
  if (!found) return f;
  const at = Number(found[2]) + (found[1] === "delete" ? written : 0);
  const entry = entries[at];
  return entry === undefined ? f : { ...f, pointer: `${entry} ${found[3] ?? ""}`.trim() };
}
