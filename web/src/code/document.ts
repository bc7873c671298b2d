// Reads what is typed, YAML or JSON (which is YAML too), with the places where things stand in it.
import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, type Document, type Node, type Pair } from "yaml";
import type { Mark } from "./editor";

export type Step = string | number;
export type Text = Document.Parsed;

/** Whole numbers stay whole whatever their size. */
export function read(text: string): Text {
  return parseDocument(text, { intAsBigInt: true, prettyErrors: false, logLevel: "silent" });
}

/** An empty text is of the language that it was of before. */
export function languageOf(text: string, was: "yaml" | "json" = "yaml"): "yaml" | "json" {
  if (text.trim() === "") return was;
  return /^\s*[{[]/.test(text) ? "json" : "yaml";
}

/** What cannot be read. */
export function syntaxMarks(doc: Text): Mark[] {
  return doc.errors.map((e) => ({ from: e.pos[0], to: Math.max(e.pos[1], e.pos[0] + 1), severity: "error", message: e.message }));
}

export function keyText(pair: Pair): string | undefined {
  return isScalar(pair.key) && pair.key.value !== null ? told(pair.key.value) : undefined;
}

export function pairsOf(node: unknown): Pair[] {
  return isMap(node) ? node.items.filter((p) => isPair(p)) : [];
}

/** What is at a key or a place of a list, with the key's node. */
export function childOf(node: unknown, step: Step): { key?: Node; value: unknown } | undefined {
  if (isSeq(node)) {
    const index = Number(step);
    return index < node.items.length ? { value: node.items[index] } : undefined;
  }
  const pairs = pairsOf(node);
  const wanted = String(step);
  const pair = pairs.find((p) => keyText(p) === wanted) ?? pairs.find((p) => snake(keyText(p) ?? "") === snake(wanted));
  if (!pair) return undefined;
  return { value: pair.value, ...(isScalar(pair.key) ? { key: pair.key } : {}) };
}

/** The name of a field in the proto files; JSON may also have it as connectTimeout. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
}

/** The document as values; a text that repeats itself without end has none. */
export function valueOf(doc: Text): unknown {
  try {
    return doc.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

/** A value as text. */
export function told(x: unknown): string {
  return typeof x === "string" ? x : typeof x === "bigint" ? x.toString() : JSON.stringify(x);
}

export function isRecord(x: unknown): x is Record<string, unknown> {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

export { isAlias, isMap, isScalar, isSeq };
