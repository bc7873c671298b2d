// What may be written at the cursor.
import { snake } from "./document";
import type { Cursor } from "./schema-cursor";
import { describeField, typeWords } from "./schema-hover";
import { isObject, type Get, type Place, type SchemaObject } from "./schema-types";
import { childPlaces, expand, listed, placesAt, typesOf } from "./schema-walk";

export interface Suggestion {
  label: string;
  kind: "key" | "value";
  /** What kind of value it takes. */
  detail: string;
  /** What is put in the place of the word. */
  insert: string;
  /** Where in it the cursor is afterwards. */
  caret: number;
  /** What must be set comes first, what is deprecated last. */
  rank: number;
  /** Where Envoy's documentation speaks of it. */
  link?: string;
}

export function suggest(cursor: Cursor, root: Place, get: Get): Suggestion[] {
  const places = placesAt(root, cursor.value, cursor.path, get);
  if (cursor.kind === "key") return keys(cursor, places, get);
  const values = listed(places).map((v) => value(cursor, v));
  const fields = cursor.inline || cursor.flow || cursor.json ? [] : keys(cursor, places, get);
  return [...values, ...fields];
}

function keys(cursor: Cursor, places: Place[], get: Get): Suggestion[] {
  const taken = new Set(cursor.taken.map(snake));
  const required = new Set(places.flatMap(({ schema }) => (schema.properties ? requiredOf(schema) : [])));
  const names = new Set<string>();
  for (const { schema } of places) for (const name of Object.keys(schema.properties ?? {})) if (!taken.has(snake(name))) names.add(name);
  return [...names].map((name) => {
    const own = childPlaces(places, name).flatMap((p) => expand(p, undefined, get));
    const { insert, caret } = key(cursor, name, own);
    const about = describeField(places, own, name);
    const deprecated = own.some((p) => p.schema.deprecated === true);
    const detail = `${required.has(name) ? "must be set · " : ""}${deprecated ? "deprecated · " : ""}${typeWords(own)}`;
    return { label: name, kind: "key", detail, insert, caret, rank: required.has(name) ? 2 : name === "name" ? 1 : deprecated || name === "@type" ? -2 : 0, ...(about.link === undefined ? {} : { link: about.link }) };
  });
}

/** What must be set, in either spelling, and not what is one of several. */
function requiredOf(schema: SchemaObject): string[] {
  const all = (schema.allOf ?? []).filter(isObject).flatMap((s) => [s, ...(s.anyOf ?? []).filter(isObject)]);
  return [schema, ...all].flatMap((s) => s.required ?? []);
}

function key(cursor: Cursor, name: string, own: Place[]): { insert: string; caret: number } {
  const quoted = cursor.json || name.startsWith("@") ? JSON.stringify(name) : name;
  if (cursor.colon) return { insert: quoted, caret: quoted.length };
  const types = typesOf(own);
  const isMap = types.includes("object");
  const isList = types.includes("array");
  const at = (text: string, back = 0) => ({ insert: text, caret: text.length - back });
  const text = !isMap && !isList && cursor.json && types.includes("string");
  if (cursor.json || cursor.flow) {
    if (isMap) return at(`${quoted}: {}`, 1);
    if (isList) return at(`${quoted}: []`, 1);
    return text ? at(`${quoted}: ""`, 1) : at(`${quoted}: `);
  }
  // "- " before the word is part of the margin.
  const margin = " ".repeat(cursor.column + 2);
  const empty = own.some((p) => p.schema.additionalProperties === false) && own.every((p) => p.schema.properties === undefined);
  if (empty) return at(`${quoted}: {}`);
  if (isMap) return at(`${quoted}:\n${margin}`);
  if (isList) return at(`${quoted}:\n${margin}- `);
  return at(`${quoted}: `);
}

function value(cursor: Cursor, v: string | number | boolean): Suggestion {
  const text = typeof v === "string" && (cursor.json || !/^[A-Za-z][\w./-]*$/.test(v) || /^(true|false|null|yes|no|on|off|y|n)$/i.test(v)) ? JSON.stringify(v) : String(v);
  return { label: String(v), kind: "value", detail: "", insert: text, caret: text.length, rank: 1 };
}
