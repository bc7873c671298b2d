// From a path in a document to the schemas that speak of what stands there.
import { isRecord, snake, type Step } from "./document";
import { follow, isAny, isObject, messageOf, typePath, type Get, type Place, type Schema } from "./schema-types";

/** The schema and all that it is made of, as far as it may speak of the value. */
export function expand(place: Place, value: unknown, get: Get): Place[] {
  const found: Place[] = [];
  const seen = new Set<unknown>();
  const visit = (p: Place) => {
    const { schema, root } = p;
    if (seen.has(schema)) return;
    seen.add(schema);
    found.push(p);
    const also = (s: Schema | undefined) => {
      if (isObject(s)) visit({ schema: s, root });
    };
    const lead = (ref: string) => {
      const next = follow(p, ref, get);
      if (next) visit(next);
    };
    const message = messageOf(value);
    if (schema.$ref !== undefined && (!schema.$ref.startsWith(typePath) || schema.$ref === typePath + (message ?? ""))) lead(schema.$ref);
    if (isAny(schema) && message !== undefined) lead(typePath + message);
    for (const s of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) also(s);
    also(schema.then);
  };
  visit(place);
  return found;
}

/** What the schemas say of a field or an element. */
export function childPlaces(places: readonly Place[], step: Step): Place[] {
  const found: Place[] = [];
  for (const { schema, root } of places) {
    const next = typeof step === "number" ? schema.items : fieldOf({ schema, root }, step);
    if (isObject(next)) found.push({ schema: next, root });
  }
  return found;
}

function fieldOf({ schema }: Place, name: string): Schema | undefined {
  const own = schema.properties?.[name] ?? schema.properties?.[snake(name)];
  return own ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined);
}

export function childValue(value: unknown, step: Step): unknown {
  if (Array.isArray(value)) return value[Number(step)] as unknown;
  return isRecord(value) ? value[String(step)] : undefined;
}

/** All schemas of what stands at the path. */
export function placesAt(root: Place, value: unknown, path: readonly Step[], get: Get): Place[] {
  let places = expand(root, value, get);
  let at = value;
  for (const step of path) {
    at = childValue(at, step);
    places = childPlaces(places, step).flatMap((p) => expand(p, at, get));
  }
  return places;
}

/** What a value may be: "object", "array", "string", ... */
export function typesOf(places: readonly Place[]): string[] {
  const types = new Set<string>();
  for (const { schema } of places) {
    for (const t of typeof schema.type === "string" ? [schema.type] : (schema.type ?? [])) types.add(t);
    if (schema.properties) types.add("object");
    if (schema.enum ?? schema.const) types.add("enum");
  }
  return [...types];
}

/** The values that are listed, without those that only the wire has. */
export function listed(places: readonly Place[]): (string | boolean | number)[] {
  const values = new Set<string | boolean | number>();
  for (const { schema } of places) {
    for (const v of [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const])]) {
      if (typeof v === "string" || typeof v === "boolean" || typeof v === "number") values.add(v);
    }
    if (schema.type === "boolean") values.add(true).add(false);
  }
  return [...values];
}
