// Writes YAML as "fairlead export" does, to the byte but for keys such as "2", which a browser sorts to the front. It reads none,
// so it needs no library for it.

/** What JSON can hold. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A text that is a text to every reader of YAML without quotes. */
const bare = /^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$/;

/** Those that some readers of YAML take for a boolean, a null or a number. */
const words = new Set(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"]);

/** One document. */
export function yamlOf(value: unknown): string {
  return isMap(value) && Object.keys(value).length > 0 ? map(value, 0) : `${inline(value, 0)}\n`;
}

function map(value: object, depth: number): string {
  const pad = " ".repeat(depth);
  return Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .map(([key, v]) => {
      const name = text(key, 0, true);
      return name.length > 128 ? `${pad}? ${name}\n${pad}:${below(v, depth)}` : `${pad}${name}:${below(v, depth)}`;
    })
    .join("");
}

/** What stands behind a key: on its line, or below it. */
function below(value: unknown, depth: number): string {
  if (Array.isArray(value) && value.length > 0) return `\n${list(value, depth + 2)}`;
  if (isMap(value) && Object.keys(value).length > 0) return `\n${map(value, depth + 2)}`;
  return ` ${inline(value, depth)}\n`;
}

function list(values: readonly unknown[], depth: number): string {
  return values.map((v) => item(v, depth)).join("");
}

function item(value: unknown, depth: number): string {
  const dash = `${" ".repeat(depth)}- `;
  if (Array.isArray(value) && value.length > 0) return dash + list(value, depth + 2).trimStart();
  if (isMap(value) && Object.keys(value).length > 0) return dash + map(value, depth + 2).trimStart();
  return `${dash}${inline(value, depth)}\n`;
}

function inline(value: unknown, depth: number): string {
  if (typeof value === "string") return text(value, depth, false);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (Array.isArray(value)) return "[]";
  if (typeof value === "object" && value !== null) return "{}";
  return String(value);
}

function isMap(value: unknown): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(s: string, depth: number, key: boolean): string {
  if (bare.test(s) && !words.has(s.toLowerCase())) return s;
  if (!key && isBlock(s)) {
    const pad = " ".repeat(depth + 2);
    return `|\n${s.slice(0, -1).split("\n").map((line) => (line === "" ? "" : pad + line)).join("\n")}`;
  }
  return quoted(s);
}

/** A text of several lines, such as a script or a certificate, that can stand as a block: no spaces that a block would take
 * for its own, nothing that needs an escape. */
function isBlock(s: string): boolean {
  if (!s.endsWith("\n") || s.endsWith("\n\n") || /^[ \t\n]/.test(s)) return false;
  if (/[ \t]\n/.test(s) || /\n\t/.test(s)) return false;
  return !/[^\p{L}\p{M}\p{N}\p{P}\p{S} \n]|\ufffd/u.test(s);
}

const short: Readonly<Record<string, string>> = {
  "\0": "\\0", "\x07": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\e",
  '"': '\\"', "\\": "\\\\", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P",
};

function quoted(s: string): string {
  // What YAML calls not printable, what is invisible or turns the direction of writing, and what lies beyond the first plane, which the command writes as an escape too.
  const escaped = s.replace(/["\\\p{Cc}\p{Cf}\u2028\u2029\ufffe\uffff]|[\u{10000}-\u{10ffff}]/gu, (c) => {
    const known = short[c];
    if (known !== undefined) return known;
    const hex = (c.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return hex.length <= 2 ? `\\x${hex.padStart(2, "0")}` : hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  });
  return `"${escaped}"`;
}
