// Where in the text stands what a JSON Pointer (RFC 6901) names? The server speaks of faults and findings by pointers.
import type { Node } from "yaml";
import { childOf, isMap, isScalar, isSeq, pairsOf, read, type Step, type Text } from "./document";

export interface Range {
  from: number;
  to: number;
}

export function stepsOf(pointer: string): string[] {
  if (!pointer.startsWith("/")) return [];
  return pointer.slice(1).split("/").map((s) => s.replace(/~1/g, "/").replace(/~0/g, "~"));
}

export function pointerOf(path: readonly Step[]): string {
  return path.map((s) => `/${String(s).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}

/** The place of what the pointer names. Where that is not there (a field that is missing) it is the nearest thing around it. */
export function rangeOf(text: string, pointer: string): Range {
  return rangeIn(text, read(text), stepsOf(pointer));
}

/** The same of a text that was read. With atKey it is the key and not the value: an unknown field is wrong by its name. */
export function rangeIn(text: string, doc: Text, path: readonly Step[], atKey = false): Range {
  let node: unknown = doc.contents;
  let key: Node | undefined;
  for (const step of path) {
    const next = childOf(node, step);
    if (!next) return around(text, node, key);
    node = next.value;
    key = next.key;
  }
  if (atKey && key) return plain(key, text);
  return around(text, node, key);
}

function around(text: string, node: unknown, key: Node | undefined): Range {
  if (isScalar(node) && node.range && node.range[1] > node.range[0]) return plain(node, text);
  if (key) return plain(key, text);
  const first = isMap(node) ? pairsOf(node)[0]?.key : isSeq(node) ? node.items[0] : undefined;
  if (isScalar(first)) return plain(first, text);
  return { from: 0, to: endOfLine(text, 0) };
}

/** A range that ends on its first line: a text over many lines is not underlined as a whole. */
function plain(node: Node, text: string): Range {
  const from = node.range?.[0] ?? 0;
  const to = Math.min(node.range?.[1] ?? from, endOfLine(text, from));
  return { from, to: Math.max(to, from + 1) };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Counted from 1. */
export function lineOf(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** The beginning of a line, counted from 1; the end of the text where it has fewer. */
export function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return at;
}
