// From YAML to JSON and back. Nothing changes but the writing: whole numbers of 64 bits keep all their digits, and a text
// that looks like a number, or like what old YAML takes for true, stays a text.
import { Document, isAlias, isMap, isScalar, isSeq, visit, type Scalar } from "yaml";
import { keyText, read, type Text } from "./document";

/** Why a text cannot be converted. */
export class Unreadable extends Error {}

const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

export function readable(text: string): Text {
  const doc = read(text);
  const first = doc.errors[0];
  if (first) throw new Unreadable(first.message);
  return doc;
}

/** The text as JSON, on lines of its own or, with indent 0, on one. */
export function toJson(text: string, indent = 2): string {
  const doc = readable(text);
  return jsonOf(doc, doc.contents, indent, "", { aliases: 100 });
}

function jsonOf(doc: Text, node: unknown, indent: number, margin: string, left: { aliases: number }): string {
  const inner = margin + " ".repeat(indent);
  const list = (open: string, parts: string[], close: string) => {
    if (parts.length === 0) return open + close;
    if (indent === 0) return open + parts.join(",") + close;
    return `${open}\n${parts.map((p) => inner + p).join(",\n")}\n${margin}${close}`;
  };
  if (isAlias(node)) {
    if (left.aliases-- <= 0) throw new Unreadable("The document repeats itself too often.");
    return jsonOf(doc, node.resolve(doc), indent, margin, left);
  }
  if (isMap(node)) {
    const parts = node.items.map((p) => `${JSON.stringify(keyText(p) ?? "")}:${indent === 0 ? "" : " "}${jsonOf(doc, p.value, indent, inner, left)}`);
    return list("{", parts, "}");
  }
  if (isSeq(node)) return list("[", node.items.map((n) => jsonOf(doc, n, indent, inner, left)), "]");
  return isScalar(node) ? scalar(node) : "null";
}

function scalar(node: Scalar): string {
  const { value, source } = node;
  if (typeof value === "bigint" || typeof value === "number") {
    if (source !== undefined && number.test(source)) return source;
    if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
    return String(value);
  }
  return value === undefined ? "null" : JSON.stringify(value);
}

/** The text as YAML. Of a text that is YAML already the comments are kept. */
export function toYaml(text: string): string {
  const doc = readable(text);
  visit(doc, {
    Collection: (_, node) => {
      // What is empty has no other way to be written.
      if (node.items.length > 0) node.flow = false;
    },
    Scalar: (_, node) => {
      if (typeof node.value === "string") delete node.type;
    },
  });
  return write(doc);
}

/** Values as YAML. */
export function yamlOf(value: unknown): string {
  return write(new Document(value));
}

function write(doc: Document | Text): string {
  // compat: what is true or a number to YAML 1.1 alone is quoted too.
  const made = new Document(doc.contents, { version: "1.2", compat: "yaml-1.1" });
  made.commentBefore = doc.commentBefore;
  made.comment = doc.comment;
  return made.toString({ lineWidth: 0, indentSeq: true });
}

/** Whether there are comments, which JSON cannot have. */
export function hasComments(text: string): boolean {
  const doc = read(text);
  let found = Boolean(doc.comment ?? doc.commentBefore);
  visit(doc, {
    Node: (_, node) => {
      if (node.commentBefore ?? node.comment) found = true;
    },
  });
  return found;
}
