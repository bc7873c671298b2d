// A document as it was typed, made into the JSON that is sent. YAML is read as the server reads it: what means different
// things to different readers is a fault, and numbers stay the digits that they are, however long.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Scalar } from "yaml";

/** Where something stands in a text. */
export interface Place {
  /** From 1. */
  line: number;
  /** Places in the text, from 0. */
  from: number;
  to: number;
  /** What stands in that line. */
  source: string;
}

export interface Fault {
  detail: string;
  place?: Place;
}

export interface Read {
  /** The document's fields as raw JSON, in their order. Empty where it could not be read. */
  fields: Map<string, string>;
  faults: Fault[];
  /** Where a JSON pointer into the document leads; of what is not there, where its parent stands. */
  placeOf: (pointer: string) => Place | undefined;
}

const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;
const oddNumber = /^[-+]?(0[0-9_]+|0b[01_]+|0o[0-7_]+|[0-9][0-9]*_[0-9_]*|\.[0-9]+([eE][-+]?[0-9]+)?|[0-9]+\.([eE][-+]?[0-9]+)?)$|^\+[0-9]/;
const otherBoolean = /^(y|n|yes|no|on|off)$/i;

class Wrong extends Error {
  constructor(
    words: string,
    readonly at: number,
    readonly to: number,
  ) {
    super(words);
  }
}

export function readDocument(text: string): Read {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, intAsBigInt: true, logLevel: "error" });
  const place = (from: number, to: number): Place => {
    const line = Math.max(1, lines.linePos(Math.min(from, text.length)).line);
    const begin = lines.lineStarts[line - 1] ?? 0;
    return { line, from, to: Math.max(from, to), source: (text.slice(begin).split("\n", 1)[0] ?? "").slice(0, 200) };
  };
  const placeOf = (pointer: string) => {
    const range = rangeOf(doc, pointer);
    return range && place(range[0], range[1]);
  };
  const faults: Fault[] = doc.errors.slice(0, 5).map((e) => ({ detail: firstLine(e.message), place: place(e.pos[0], e.pos[1]) }));
  const none = new Map<string, string>();
  if (faults.length > 0) return { fields: none, faults, placeOf };
  if (!isMap(doc.contents)) return { fields: none, faults: [{ detail: text.trim() === "" ? "the document is empty" : "a document is an object, with a name and a body" }], placeOf };
  const fields = new Map<string, string>();
  try {
    for (const pair of doc.contents.items) fields.set(keyOf(pair.key), json(pair.value));
  } catch (e) {
    if (!(e instanceof Wrong)) throw e;
    return { fields: none, faults: [{ detail: e.message, place: place(e.at, e.to) }], placeOf };
  }
  return { fields, faults, placeOf };
}

const firstLine = (words: string) => words.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? words;

function wrong(node: unknown, words: string): Wrong {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined;
  return new Wrong(words, range?.[0] ?? 0, range?.[1] ?? 0);
}

function check(node: { anchor?: string | undefined; tag?: string }) {
  if (node.anchor !== undefined) throw wrong(node, "YAML anchors and aliases are not taken: write the value out");
  if (node.tag !== undefined) throw wrong(node, "YAML tags (!...) are not taken: use quotes to make something a text");
}

function json(node: unknown): string {
  if (node === null || node === undefined) return "null";
  if (isAlias(node)) throw wrong(node, "YAML anchors and aliases are not taken: write the value out");
  if (isSeq(node)) {
    check(node);
    return `[${node.items.map(json).join(",")}]`;
  }
  if (isMap(node)) {
    check(node);
    return `{${node.items.map((pair) => `${JSON.stringify(keyOf(pair.key))}:${json(pair.value)}`).join(",")}}`;
  }
  if (!isScalar(node)) throw wrong(node, "this is not plain YAML");
  check(node);
  return node.type === "PLAIN" ? plain(node, node.source ?? "") : JSON.stringify(String(node.value));
}

function plain(node: Scalar, source: string): string {
  if (number.test(source)) return source;
  if (otherBoolean.test(source)) throw wrong(node, `the unquoted ${source} is a boolean to many YAML readers and a text to others: write "${source}" in quotes for the text, or true or false`);
  if (oddNumber.test(source)) throw wrong(node, "a number in a form that YAML readers take differently: write it in decimal, or in quotes for a text");
  const { value } = node;
  if (value === null) return "null";
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return JSON.stringify(Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  return JSON.stringify(source);
}

function keyOf(key: unknown): string {
  if (!isScalar(key)) throw wrong(key, "a key must be a text");
  check(key);
  if (key.type !== "PLAIN") return String(key.value);
  const source = key.source ?? "";
  if (source === "<<") throw wrong(key, "YAML merge keys (<<) are not taken: write the fields out");
  if (otherBoolean.test(source) || typeof key.value === "boolean") throw wrong(key, `the unquoted key ${source} is a boolean to many YAML readers: write it in quotes`);
  return source;
}

/** The steps of a JSON pointer (RFC 6901). */
export function steps(pointer: string): string[] {
  return pointer === "" ? [] : pointer.slice(1).split("/").map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function rangeOf(doc: Document, pointer: string): [number, number] | undefined {
  let node: unknown = doc.contents;
  let found: [number, number] | undefined = undefined;
  for (const step of steps(pointer)) {
    let key: unknown;
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find((p) => isScalar(p.key) && String(p.key.value) === step);
      key = pair?.key;
      next = pair?.value;
    } else if (isSeq(node)) {
      next = node.items[Number(step)];
    }
    const at = isScalar(key) ? key : next;
    if (next === undefined || !(isScalar(at) || isMap(at) || isSeq(at)) || !at.range) break;
    found = [at.range[0], at.range[1]];
    node = next;
  }
  return found;
}
