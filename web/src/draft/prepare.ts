// The draft as one request. What cannot be read is left out of it and told at its line.
import type { FieldError } from "../api/client";
import type { Edit } from "./store";
import { readDocument, type Fault, type Place, type Read } from "./document";

export interface Item {
  edit: Edit;
  /** Its place in what is sent, as pointers into it begin. Left out of what cannot be read. */
  pointer?: string;
  faults: Fault[];
  placeOf: (pointer: string) => Place | undefined;
}

export interface Prepared {
  /** Writes before deletions, as they are sent and as the plan answers. */
  items: Item[];
  resources: string[];
  deletions: string[];
}

export function prepare(edits: readonly Edit[]): Prepared {
  const prepared: Prepared = { items: [], resources: [], deletions: [] };
  for (const edit of edits.filter((e) => e.action === "write")) {
    const read = readDocument(edit.text);
    const faults = [...read.faults, ...(read.faults.length === 0 ? misnamed(read, edit) : [])];
    const item: Item = { edit, faults, placeOf: read.placeOf };
    if (faults.length === 0) {
      item.pointer = `/resources/${prepared.resources.length}`;
      prepared.resources.push(documentOf(read, edit));
    }
    prepared.items.push(item);
  }
  for (const edit of edits.filter((e) => e.action === "delete")) {
    prepared.items.push({ edit, pointer: `/delete/${prepared.deletions.length}`, faults: [], placeOf: () => undefined });
    const { type, name, variant } = edit;
    prepared.deletions.push(JSON.stringify({ type, name, ...(variant ? { variant } : {}) }));
  }
  return prepared;
}

/** The request's body. The same draft and the same words make the same bytes, so that a repeat is one. */
export function requestOf(prepared: Prepared, more: { message?: string; plan?: string; confirm?: string } = {}): string {
  const parts: string[] = [];
  if (prepared.resources.length > 0) parts.push(`"resources":[${prepared.resources.join(",")}]`);
  if (prepared.deletions.length > 0) parts.push(`"delete":[${prepared.deletions.join(",")}]`);
  for (const [key, value] of Object.entries(more)) if (value !== "") parts.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{${parts.join(",")}}`;
}

/** The item that an error or a finding of what was sent points into, and where in its text. */
export function placeIn(items: readonly Item[], pointer: string | undefined): { item: Item; place?: Place } | undefined {
  if (pointer === undefined) return undefined;
  const item = items.find((i) => i.pointer !== undefined && (pointer === i.pointer || pointer.startsWith(`${i.pointer}/`)));
  if (item?.pointer === undefined) return undefined;
  const place = item.placeOf(pointer.slice(item.pointer.length));
  return { item, ...(place ? { place } : {}) };
}

/** The errors of an answer at the items that they are about, and those that are about none. */
export function sortFaults(items: readonly Item[], errors: readonly FieldError[]): { at: Map<Item, (Fault & { error: FieldError })[]>; rest: FieldError[] } {
  const at = new Map<Item, (Fault & { error: FieldError })[]>();
  const rest: FieldError[] = [];
  for (const error of errors) {
    const found = placeIn(items, error.pointer);
    if (!found) {
      rest.push(error);
      continue;
    }
    const fault = { detail: error.detail, error, ...(found.place ? { place: found.place } : {}) };
    at.set(found.item, [...(at.get(found.item) ?? []), fault]);
  }
  return { at, rest };
}

// A document that names another resource than the edit is of would be written there, unseen.
function misnamed(read: Read, edit: Edit): Fault[] {
  if (read.fields.has("@type")) return [];
  const faults: Fault[] = [];
  for (const [field, meant] of [["type", edit.type], ["name", edit.name], ["variant", edit.variant ?? ""]] as const) {
    const raw = read.fields.get(field);
    if (raw === undefined || raw === JSON.stringify(meant)) continue;
    const place = read.placeOf(`/${field}`);
    faults.push({ detail: `the ${field} is ${raw} here, and this edit is of ${meant === "" ? "the default variant" : meant}`, ...(place ? { place } : {}) });
  }
  return faults;
}

function documentOf(read: Read, edit: Edit): string {
  const fields = new Map(read.fields);
  if (!fields.has("@type")) {
    fields.set("type", JSON.stringify(edit.type));
    fields.set("name", JSON.stringify(edit.name));
    if (edit.variant) fields.set("variant", JSON.stringify(edit.variant));
    if (edit.etag !== undefined) fields.set("etag", JSON.stringify(edit.etag));
  }
  return `{${Array.from(fields, ([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}
