// A resource as the document that is edited, {type, name, variant, selector, ..., body}, as "fairlead get" writes it.
import type { Resource, ResourceType } from "../api/client";
import { readable, toJson, toYaml, yamlOf } from "../code/convert";
import { childOf, isMap, isScalar, languageOf, read, snake, told } from "../code/document";
import type { Mark } from "../code";
import { Document, visit } from "yaml";
import { rangeIn } from "../code/pointer";

export interface Identity {
  type: ResourceType;
  name: string;
  variant?: string;
}

/** The document of a stored resource. A secret's content is not told: the document keeps it. */
export function documentOf(r: Resource): string {
  const { type, name, variant, selector, priority, ttl, delivery, labels, description, body } = r;
  const head = { type, name, ...given({ variant, selector, priority, ttl, delivery, labels, description }) };
  return yamlOf(r.secret ? { ...head, keep: true } : { ...head, body });
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined && v !== "" && v !== 0));
}

export function inLanguage(text: string, language: "yaml" | "json"): string {
  if (text.trim() === "" || languageOf(text) === language) return text;
  return language === "json" ? `${toJson(text)}\n` : toYaml(text);
}

/** A field at the top of the document, as text. Undefined where it is not there or cannot be read. */
export function fieldOf(text: string, field: string): string | undefined {
  const value = childOf(read(text).contents, field)?.value;
  return isScalar(value) && value.value !== null ? told(value.value) : undefined;
}

/** What in a document would make another resource of it than the one that is edited. */
export function identityMarks(text: string, id: Identity): Mark[] {
  const doc = read(text);
  if (doc.errors.length > 0) return [];
  const marks: Mark[] = [];
  for (const field of ["type", "name", "variant"] as const) {
    const is = fieldOf(text, field) ?? "";
    const should = id[field] ?? "";
    if (is === should) continue;
    const message = should === "" ? `This resource is the default one, and has no ${field}.` : `The ${field} of this resource is ${should}. For another one make a new resource.`;
    marks.push({ ...rangeIn(text, doc, [field]), severity: "error", message });
  }
  return marks;
}

/** The same content for some nodes only. */
export function asVariant(text: string, variant: string, selector: string, priority: number): string {
  const doc = new Document(readable(toYaml(text)).contents);
  const map = doc.contents;
  if (!isMap(map)) return text;
  for (const field of ["variant", "selector", "priority", "etag", "revision"]) doc.delete(field);
  const after = map.items.findIndex((p) => isScalar(p.key) && p.key.value === "name") + 1;
  const fields = [doc.createPair("variant", variant), doc.createPair("selector", selector), ...(priority === 0 ? [] : [doc.createPair("priority", priority)])];
  map.items.splice(after, 0, ...fields);
  return toYaml(doc.toString({ lineWidth: 0 }));
}

/** A document without what a secret holds, for the screen. */
export function veiled(text: string): string {
  const doc = read(text);
  if (doc.errors.length > 0) return "(it cannot be read, and may hold a key)";
  visit(doc, {
    Pair: (_, pair) => {
      if (!isScalar(pair.key) || !hidden.has(snake(told(pair.key.value)))) return undefined;
      pair.value = doc.createNode("(not shown)");
      return visit.SKIP;
    },
  });
  return inLanguage(doc.toString({ lineWidth: 0 }), languageOf(text));
}

const hidden = new Set(["private_key", "password", "generic_secret", "session_ticket_keys", "secret", "private_key_provider", "pkcs12"]);
