// From a text and a position to the path in the document. What is half typed cannot be read, so the word at the cursor is
// replaced by a mark, and the mark is looked for in what was read.
import { isMap, isScalar, isSeq, keyText, languageOf, pairsOf, read, valueOf, type Step } from "./document";

export interface Cursor {
  /** A field's name is to be written, or a value. */
  kind: "key" | "value";
  /** Of a key the path of the map around it, of a value its own. */
  path: Step[];
  /** The fields that are there already. */
  taken: string[];
  /** The word that is replaced, with its quotes. */
  from: number;
  to: number;
  word: string;
  /** Inside of braces, as all of JSON is. */
  flow: boolean;
  json: boolean;
  /** Behind a key on its line: no map of fields can begin here. */
  inline: boolean;
  /** A colon stands behind the word already. */
  colon: boolean;
  /** How far the word is from the line's beginning. */
  column: number;
  /** The whole document, for the "@type"s. */
  value: unknown;
}

const mark = "fl__cursor__";
const wordBefore = /["']?[\w@./$+*-]*$/;
const wordAfter = /^[\w@./$+*-]*/;

export function cursorAt(text: string, pos: number): Cursor | undefined {
  const lineStart = text.lastIndexOf("\n", pos - 1) + 1;
  const before = text.slice(lineStart, pos);
  if (/(^|\s)#/.test(before) || /^\s*-$/.test(before)) return undefined;
  let start = wordBefore.exec(before)?.[0] ?? "";
  const quote = /^["']/.exec(start)?.[0] ?? "";
  if (quote !== "" && before.split(quote).length % 2 === 1) start = ""; // it closes a text, and opens none
  const from = pos - start.length;
  const rest = wordAfter.exec(text.slice(pos))?.[0] ?? "";
  const closed = quote !== "" && text.startsWith(quote, pos + rest.length);
  const to = pos + rest.length + (closed ? 1 : 0);
  const json = languageOf(text) === "json";
  const probe = json || quote !== "" ? `"${mark}"` : mark;
  const doc = read(text.slice(0, from) + probe + text.slice(to));
  const found = find(doc.contents, []);
  if (!found) return undefined;
  const lineBefore = text.slice(lineStart, from);
  return {
    ...found,
    from,
    to,
    word: start.slice(quote.length),
    json,
    inline: /[^\s-]\s*$/.test(lineBefore) && !/[[,{]\s*$/.test(lineBefore),
    colon: /^[ \t]*:/.test(text.slice(to)),
    column: from - lineStart,
    value: valueOf(doc),
  };
}

type Found = Pick<Cursor, "kind" | "path" | "taken" | "flow">;

function find(node: unknown, path: Step[]): Found | undefined {
  if (isScalar(node)) return node.value === mark ? { kind: "value", path, taken: [], flow: false } : undefined;
  if (isSeq(node)) {
    for (const [i, item] of node.items.entries()) {
      const found = find(item, [...path, i]);
      if (found) return { ...found, flow: found.flow || node.flow === true };
    }
    return undefined;
  }
  const flow = isMap(node) && node.flow === true;
  const pairs = pairsOf(node);
  for (const pair of pairs) {
    const key = keyText(pair);
    if (key === mark) return { kind: "key", path, flow, taken: pairs.flatMap((p) => (p === pair ? [] : [keyText(p) ?? ""])) };
    const found = key === undefined ? undefined : find(pair.value, [...path, key]);
    if (found) return { ...found, flow: found.flow || flow };
  }
  return undefined;
}

/** The path of what stands at a position, and its place: of a key the field that it names. */
export function pathAt(text: string, pos: number): { path: Step[]; from: number; to: number } | undefined {
  return deepest(read(text).contents, pos, []);
}

function deepest(node: unknown, pos: number, path: Step[]): { path: Step[]; from: number; to: number } | undefined {
  const within = (n: unknown) => isScalar(n) && n.range && n.range[0] <= pos && pos <= n.range[1];
  if (isScalar(node)) return within(node) && node.range ? { path, from: node.range[0], to: node.range[1] } : undefined;
  if (isSeq(node)) {
    for (const [i, item] of node.items.entries()) {
      const found = deepest(item, pos, [...path, i]);
      if (found) return found;
    }
    return undefined;
  }
  for (const pair of pairsOf(node)) {
    const key = keyText(pair);
    if (key === undefined) continue;
    if (within(pair.key) && isScalar(pair.key) && pair.key.range) return { path: [...path, key], from: pair.key.range[0], to: pair.key.range[1] };
    const found = deepest(pair.value, pos, [...path, key]);
    if (found) return found;
  }
  return undefined;
}
