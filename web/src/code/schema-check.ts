// What in a document a schema refuses, in words and with the path. What the server says counts; this says it while one types.
import { isRecord, snake, told, type Step } from "./document";
import { follow, isAny, isObject, messageOf, typePath, type Get, type Place, type Schema, type SchemaObject } from "./schema-types";

export interface Fault {
  path: Step[];
  /** The field's name is at fault, and not what it holds. */
  atKey?: boolean;
  message: string;
}

export function check(place: Place, value: unknown, get: Get): Fault[] {
  return new Checker(get).of(place, value, []);
}

const words: Record<string, string> = { string: "a text", integer: "a whole number", number: "a number", boolean: "true or false", array: "a list", object: "a map of fields" };
const kind = (v: unknown) => (typeof v === "bigint" ? "integer" : Array.isArray(v) ? "array" : typeof v === "number" && Number.isInteger(v) ? "integer" : typeof v);

class Checker {
  constructor(private readonly get: Get) {}

  of(place: Place, value: unknown, path: Step[]): Fault[] {
    const { schema, root } = place;
    if (value === null || value === undefined) return []; // a write takes null for "not set"
    const message = messageOf(value);
    const faults: Fault[] = [];
    const also = (s: Schema | undefined) => {
      if (isObject(s)) faults.push(...this.of({ schema: s, root }, value, path));
    };
    if (schema.$ref !== undefined) {
      const next = follow(place, schema.$ref, this.get);
      if (next) faults.push(...this.of(next, value, path));
    }
    const wrong = typeFault(schema, value, path);
    if (wrong) return [...faults, wrong];
    const unlisted = listFault(schema, value, path);
    if (unlisted) faults.push(unlisted);
    if (typeof value === "string") faults.push(...textFaults(schema, value, path));
    if (typeof value === "number" || typeof value === "bigint") faults.push(...numberFaults(schema, Number(value), path));
    if (Array.isArray(value)) faults.push(...this.list(place, value, path));
    if (isRecord(value)) faults.push(...this.fields(place, value, path));
    for (const s of schema.allOf ?? []) also(s);
    if (isAny(schema) && message !== undefined) also({ $ref: typePath + message });
    else if (isObject(schema.if) && this.of({ schema: schema.if, root }, value, path).length === 0) also(schema.then);
    faults.push(...this.oneOrMore(schema.anyOf, false, place, value, path), ...this.oneOrMore(schema.oneOf, true, place, value, path));
    if (isObject(schema.not) && this.of({ schema: schema.not, root }, value, path).length === 0) faults.push({ path, message: "This may not stand here." });
    return faults;
  }

  private list({ schema, root }: Place, value: readonly unknown[], path: Step[]): Fault[] {
    const faults: Fault[] = [];
    if (schema.minItems !== undefined && value.length < schema.minItems) faults.push({ path, message: `At least ${schema.minItems} ${schema.minItems === 1 ? "element" : "elements"} must be here.` });
    if (schema.maxItems !== undefined && value.length > schema.maxItems) faults.push({ path, message: `At most ${schema.maxItems} elements may be here.` });
    const items = schema.items;
    if (isObject(items)) value.forEach((v, i) => faults.push(...this.of({ schema: items, root }, v, [...path, i])));
    return faults;
  }

  private fields({ schema, root }: Place, value: Record<string, unknown>, path: Step[]): Fault[] {
    const faults: Fault[] = [];
    for (const name of schema.required ?? []) if (!(name in value)) faults.push({ path, message: `${name} must be set.` });
    if (schema.minProperties !== undefined && Object.keys(value).length < schema.minProperties) faults.push({ path, message: "Something must be set here." });
    for (const [name, v] of Object.entries(value)) {
      const own = schema.properties?.[name];
      const byPattern = Object.entries(schema.patternProperties ?? {}).filter(([p]) => matches(p, name));
      const next = own ?? (byPattern.length > 0 ? schema.properties?.[snake(name)] : schema.additionalProperties);
      if (isObject(next)) faults.push(...this.of({ schema: next, root }, v, [...path, name]));
      else if (next === false) faults.push({ path: [...path, name], atKey: true, message: unknownField(schema, name) });
    }
    return faults;
  }

  /** anyOf and oneOf. What is told is what the nearest of them lacks. */
  private oneOrMore(of: Schema[] | undefined, one: boolean, { root }: Place, value: unknown, path: Step[]): Fault[] {
    if (!of) return [];
    const objects = of.filter(isObject);
    if (objects.length < of.length) return [];
    const tried = objects.map((schema) => ({ schema, faults: this.of({ schema, root }, value, path) }));
    const good = tried.filter((t) => t.faults.length === 0);
    if (good.length === 1 || (good.length > 1 && !one)) return [];
    if (good.length > 1) return [{ path, message: `Only one of these may be set: ${good.flatMap((t) => requiredIn(t.schema)).join(", ")}.` }];
    const real = tried.filter((t) => !isPlaceholder(t.schema));
    const names = real.flatMap((t) => requiredIn(t.schema));
    if (names.length > 0 && real.every((t) => requiredIn(t.schema).length > 0)) return [{ path, message: names.length === 1 ? `${names[0] ?? ""} must be set.` : `One of these must be set: ${names.join(", ")}.` }];
    const consts = real.flatMap((t) => (t.schema.const === undefined ? [] : [told(t.schema.const)]));
    if (consts.length === real.length) return [{ path, message: notAmong(told(value), consts) }];
    const listedFirst = real.find((t) => t.schema.enum !== undefined && typeof value === "string");
    const deepest = [...real].sort((a, b) => depth(b.faults) - depth(a.faults))[0];
    return (listedFirst ?? deepest)?.faults ?? [];
  }
}

const depth = (faults: Fault[]) => Math.max(0, ...faults.map((f) => f.path.length));

/** The schema of a text such as ${fleet.values.NAME}, which stands beside the real one. */
export function isPlaceholder(s: SchemaObject): boolean {
  return s.pattern === "\\$\\{";
}

/** The fields that it asks for, each by its name in the proto files. */
function requiredIn(s: SchemaObject): string[] {
  const own = (s.required ?? []).filter((n) => n === snake(n));
  return [...own, ...(s.anyOf ?? []).filter(isObject).flatMap(requiredIn)];
}

function typeFault(schema: SchemaObject, value: unknown, path: Step[]): Fault | undefined {
  if (schema.type === undefined) return undefined;
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  const is = kind(value);
  if (types.includes(is) || (is === "integer" && types.includes("number"))) return undefined;
  const expected = types.map((t) => words[t] ?? t);
  return { path, message: `Here must be ${types.includes("integer") ? "a whole number" : expected.join(" or ")}, not ${words[is] ?? is}.` };
}

function listFault(schema: SchemaObject, value: unknown, path: Step[]): Fault | undefined {
  const allowed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (!allowed || allowed.includes(value)) return undefined;
  return { path, message: notAmong(typeof value === "object" ? "this" : told(value), allowed.map(told)) };
}

function notAmong(value: string, allowed: string[]): string {
  if (allowed.length === 1) return `Here must be ${allowed[0] ?? ""}, not ${value}.`;
  const near = nearest(value, allowed);
  if (near !== undefined) return `${value} is not known here. Is ${near} meant?`;
  return `${value} is not one of ${allowed.slice(0, 12).join(", ")}${allowed.length > 12 ? ", …" : ""}.`;
}

function textFaults(schema: SchemaObject, value: string, path: Step[]): Fault[] {
  if (value.includes("${")) return []; // what the fleet's value is put in for is checked by the server
  const length = Array.from(value).length;
  if (schema.minLength !== undefined && length < schema.minLength) return [{ path, message: schema.minLength === 1 ? "This may not be empty." : `At least ${schema.minLength} characters must be here.` }];
  if (schema.maxLength !== undefined && length > schema.maxLength) return [{ path, message: `At most ${schema.maxLength} characters may be here.` }];
  if (schema.pattern === undefined || matches(schema.pattern, value)) return [];
  return [{ path, message: isDuration(schema) ? `Here must be seconds, such as "0.25s" or "30s".` : `This does not match ${schema.pattern}.` }];
}

export function isDuration(s: SchemaObject): boolean {
  return s.pattern?.startsWith("^(-?[0-9]+(\\.[0-9]{1,9})?s)$") ?? false;
}

function numberFaults({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaObject, value: number, path: Step[]): Fault[] {
  if (minimum !== undefined && value < minimum) return [{ path, message: `This must be at least ${minimum}.` }];
  if (maximum !== undefined && value > maximum) return [{ path, message: `This may be ${maximum} at most.` }];
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return [{ path, message: `This must be more than ${exclusiveMinimum}.` }];
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return [{ path, message: `This must be less than ${exclusiveMaximum}.` }];
  return [];
}

const patterns = new Map<string, RegExp | null>();

/** A pattern that the browser does not understand matches everything. */
function matches(pattern: string, text: string): boolean {
  let made = patterns.get(pattern);
  if (made === undefined) {
    try {
      made = new RegExp(pattern, "u");
    } catch {
      made = null;
    }
    patterns.set(pattern, made);
  }
  return made === null || made.test(text);
}

function unknownField(schema: SchemaObject, name: string): string {
  const near = nearest(name, Object.keys(schema.properties ?? {}));
  return `${schema.title ?? "This"} has no field ${name}.${near === undefined ? "" : ` Is ${near} meant?`}`;
}

/** The one that is a slip of the finger away. */
export function nearest(name: string, among: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(name.length / 4));
  let best: string | undefined;
  let least = most + 1;
  for (const a of among.slice(0, 500)) {
    if (Math.abs(a.length - name.length) > most) continue;
    const d = distance(name.toLowerCase(), a.toLowerCase());
    if (d < least) [best, least] = [a, d];
  }
  return best;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let above: number[] = [];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (above[j - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1), swapped));
    }
    [above, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
