// Where in a resource Envoy's words point. Envoy names fields, values and names, never lines: so the line is found by
// what the words quote, the surest first. It is large with the parser of YAML: import it lazily.
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";

export interface Place {
  /** Of the line's text, in places counted from 0. */
  from: number;
  to: number;
  /** The line, counted from 1. */
  line: number;
  /** What the line was found by. By "likeness" it is a guess; "name" and "start" point at no fault. */
  by: "field" | "value" | "likeness" | "name" | "start";
}

/** A key with its value, or an element of a list, at its place in the text. */
interface Entry {
  at: number;
  /** Of an element of a list the key of the list. */
  key: string;
  /** The keys that lead to it, its own the last. */
  path: readonly string[];
  value: string | undefined;
  node: Node | undefined;
}

/** The line of the text, in YAML or JSON, that the words about the resource of this name mean most probably. */
export function placeOf(text: string, words: string, name: string): Place {
  const lines = new LineCounter();
  const root = parseDocument(text, { lineCounter: lines, strict: false, logLevel: "silent" }).contents ?? undefined;
  const entries = root === undefined ? [] : entriesOf(root, []);
  const place = (at: number, by: Place["by"]): Place => {
    const { line } = lines.linePos(at);
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const end = text.indexOf("\n", at);
    const to = end < 0 ? text.length : end;
    return { from: start + (/^\s*/.exec(text.slice(start, to))?.[0].length ?? 0), to, line, by };
  };
  const field = byField(root, words);
  if (field !== undefined) return place(field, "field");
  const value = byValue(entries, words, name);
  if (value) return place(value.at, "value");
  const key = byKey(entries, words);
  if (key) return place(key.at, "field");
  const like = byLikeness(entries, words, name);
  if (like) return place(like.at, "likeness");
  const named = entries.find((e) => e.path.length === 1 && e.value === name);
  return named ? place(named.at, "name") : place(0, "start");
}

function entriesOf(node: Node, path: readonly string[]): Entry[] {
  if (isMap(node)) return node.items.flatMap((p) => pairOf(p.key, p.value, path));
  if (!isSeq(node)) return [];
  return node.items.flatMap((item) => {
    if (!isNode(item)) return [];
    if (isScalar(item)) return [{ at: startOf(item), key: path.at(-1) ?? "", path, value: String(item.value), node: item }];
    return entriesOf(item, path);
  });
}

function pairOf(key: unknown, value: unknown, path: readonly string[]): Entry[] {
  if (!isScalar(key)) return [];
  const name = String(key.value);
  const whole = [...path, name];
  const node = isNode(value) ? value : undefined;
  const own: Entry = { at: startOf(key), key: name, path: whole, value: isScalar(value) ? String(value.value) : undefined, node };
  return node === undefined || isScalar(node) ? [own] : [own, ...entriesOf(node, whole)];
}

function isNode(x: unknown): x is Node {
  return isMap(x) || isSeq(x) || isScalar(x) || isAlias(x);
}

const startOf = (n: Node) => n.range?.[0] ?? 0;

const step = /(\w+)ValidationError\.(\w+)(?:\[(["']?)([^\]"']+)\3\])?|field: "?(\w+)(?:\[(\d+)\])?/g;

/** Follows what Envoy's own checks say: `ClusterValidationError.HealthChecks[0]: ... HealthCheckValidationError.Timeout: ...`. */
function byField(root: Node | undefined, words: string): number | undefined {
  let scope = root;
  let at: number | undefined;
  for (const [, message, field, , index, oldField, oldIndex] of words.matchAll(step)) {
    if (scope === undefined) break;
    const typed = message === undefined ? undefined : typedAs(scope, message);
    if (typed) {
      scope = typed.scope;
      at = typed.at;
    }
    const found = find(scope, snake(field ?? oldField ?? ""));
    if (!found) break; // it is not there: its parent is the line, if that is known
    at = found.at;
    scope = found.node;
    const place = index ?? oldIndex;
    if (place !== undefined && isSeq(scope)) {
      const item: unknown = scope.items[Number(place)];
      if (!isNode(item)) break;
      scope = item;
      at = startOf(item);
    } else if (place !== undefined && scope) {
      const of = entriesOf(scope, []).find((e) => e.path.length === 1 && e.key === place);
      if (!of) break;
      scope = of.node;
      at = of.at;
    }
  }
  return at;
}

/** The nearest entry of the key below, from the outside inwards. */
function find(scope: Node, key: string): Entry | undefined {
  const all = entriesOf(scope, []).filter((e) => e.key === key && e.path.length > 0);
  return all.sort((a, b) => a.path.length - b.path.length || a.at - b.at)[0];
}

/** What stands beside the `@type` of the message. */
function typedAs(scope: Node, message: string): { scope: Node; at: number } | undefined {
  if (isMap(scope)) {
    for (const p of scope.items) {
      if (isScalar(p.key) && p.key.value === "@type" && isScalar(p.value) && String(p.value.value).endsWith(`.${message}`)) return { scope, at: startOf(p.key) };
    }
  }
  const below: unknown[] = isMap(scope) ? scope.items.map((p) => p.value) : isSeq(scope) ? scope.items : [];
  for (const b of below) {
    const found = isNode(b) ? typedAs(b, message) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** LbPolicy is lb_policy. */
export function snake(field: string): string {
  return field.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2").toLowerCase();
}

/** What the words quote, or say like a path, an address, a domain or a constant. */
function quoted(words: string, name: string): string[] {
  const inQuotes = [...words.matchAll(/(?<!\w)'([^'\n]+)'(?!\w)|(?<!\w)"([^"\n]+)"(?!\w)|`([^`\n]+)`/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? "");
  const bare = [...words.matchAll(/[\w./:@*-]+/g)].map((m) => m[0].replace(/[.:]+$/, "")).filter((w) => (w.length >= 3 && /[./:]/.test(w)) || /^[A-Z0-9]+_[A-Z0-9_]+$/.test(w) || /^\d{3,5}$/.test(w));
  return [...new Set([...inQuotes, ...bare])].filter((w) => w !== "" && w !== name);
}

function byValue(entries: readonly Entry[], words: string, name: string): Entry | undefined {
  const rest = entries.filter((e) => e.key !== "@type");
  const all = quoted(words, name);
  for (const q of all) {
    const found = best(atAddress(rest, q) ?? rest.filter((e) => e.value === q), words) ?? rest.find((e) => e.key === q);
    if (found) return found;
  }
  for (const q of all) {
    const found = q.length >= 4 ? best(entries.filter((e) => e.value?.includes(q)), words) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** The port of "127.0.0.1:80", where such an address stands in the resource. */
function atAddress(entries: readonly Entry[], quote: string): Entry[] | undefined {
  const found = /^\[?(.+?)\]?:(\d+)$/.exec(quote);
  if (!found) return undefined;
  const ports = entries.filter((e, i) => e.key === "port_value" && e.value === found[2] && [entries[i - 1], entries[i + 1]].some((n) => n?.key === "address" && n.value === found[1]));
  return ports.length > 0 ? ports : undefined;
}

/** Of several the one whose keys the words say most of. */
function best(found: readonly Entry[], words: string): Entry | undefined {
  const said = tokens(words);
  const score = (e: Entry) => tokens(e.path.join(" ")).filter((t) => said.includes(t)).length;
  return [...found].sort((a, b) => score(b) - score(a) || a.at - b.at)[0];
}

/** A field's name in the words, also where they say one of several: weighted_cluster is weighted_clusters. */
function byKey(entries: readonly Entry[], words: string): Entry | undefined {
  for (const [word] of words.matchAll(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g)) {
    const found = entries.find((e) => e.key === word) ?? entries.find((e) => e.key === `${word}s` || `${e.key}s` === word);
    if (found) return found;
  }
  return undefined;
}

const plain = new Set("a an and are as at be but by can cannot check could did do does error failed for from has have if in invalid is it its lookup manager must no not of on only or set should specified that the there this to unable unknown update updating used value was when with without".split(" "));

/** The line whose words the words have most of, the rarer the better; two at least. */
function byLikeness(entries: readonly Entry[], words: string, name: string): Entry | undefined {
  const own = new Set(tokens(name));
  const said = tokens(words).filter((t) => !plain.has(t) && !own.has(t));
  const lines = entries.map((entry) => ({ entry, tokens: tokens(`${entry.key} ${entry.value ?? ""}`) }));
  const seen = new Map<string, number>();
  for (const l of lines) for (const t of l.tokens) seen.set(t, (seen.get(t) ?? 0) + 1);
  let found: Entry | undefined;
  let most = 0;
  for (const { entry, tokens: has } of lines) {
    const shared = has.filter((t) => said.includes(t));
    const score = shared.reduce((sum, t) => sum + 1 / (seen.get(t) ?? 1), 0);
    if (shared.length >= 2 && score > most) {
      most = score;
      found = entry;
    }
  }
  return found;
}

function tokens(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[a-z0-9]{2,}/g) ?? [])];
}
