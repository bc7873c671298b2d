// The help of a schema for the editor: completion at every key, words on hover, marks.
import type { Completion, CompletionSource } from "@codemirror/autocomplete";
import type { EditorView, HoverTooltipSource } from "@codemirror/view";
import { read, syntaxMarks, valueOf } from "./document";
import type { Mark } from "./editor";
import { rangeIn } from "./pointer";
import { check } from "./schema-check";
import { suggest, type Suggestion } from "./schema-complete";
import { cursorAt, pathAt } from "./schema-cursor";
import { describe, type About } from "./schema-hover";
import type { Schemas } from "./schema-load";
import type { Place } from "./schema-types";

/** What cannot be read, or what the schema refuses. */
export async function marksOf(text: string, root: Place, schemas: Schemas): Promise<Mark[]> {
  const doc = read(text);
  const unreadable = syntaxMarks(doc);
  if (unreadable.length > 0) return unreadable;
  const value = valueOf(doc);
  const faults = await schemas.with((get) => check(root, value, get));
  return faults.map((f) => ({ ...rangeIn(text, doc, f.path, f.atKey), severity: "error", message: f.message }));
}

export function completer(root: Place, schemas: Schemas): CompletionSource {
  return async (context) => {
    const text = context.state.doc.toString();
    const cursor = cursorAt(text, context.pos);
    if (!cursor || (!context.explicit && cursor.word === "" && !atStart(text, context.pos))) return null;
    const options = await schemas.with((get) => suggest(cursor, root, get));
    if (context.aborted || options.length === 0) return null;
    return { from: cursor.from, to: cursor.to, options: options.map(optionOf), validFor: /^["']?[\w@./$+*-]*$/ };
  };
}

/** Where the next field or a value begins, the list opens by itself. */
function atStart(text: string, pos: number): boolean {
  return /(^|\n)\s+$|:\s+$|-\s+$|["']$/.test(text.slice(Math.max(0, pos - 80), pos));
}

function optionOf(s: Suggestion): Completion {
  const { link } = s;
  return {
    label: s.label,
    type: s.kind === "key" ? "property" : "constant",
    detail: s.detail,
    boost: s.rank * 20,
    ...(link === undefined ? {} : { info: () => element({ title: s.label, lines: [s.detail], link }) }),
    apply: (view: EditorView, _: Completion, from: number, to: number) => {
      const after = view.state.doc.sliceString(to, to + 1);
      const end = (s.insert.startsWith(`"`) && after === `"`) ? to + 1 : to;
      view.dispatch({ changes: { from, to: end, insert: s.insert }, selection: { anchor: from + s.caret }, userEvent: "input.complete", scrollIntoView: true });
    },
  };
}

export function teller(root: Place, schemas: Schemas): HoverTooltipSource {
  return async (view, pos) => {
    const text = view.state.doc.toString();
    const at = pathAt(text, pos);
    if (!at) return null;
    const value = valueOf(read(text));
    const about = await schemas.with((get) => describe(root, value, at.path, get));
    return about ? { pos: at.from, end: at.to, above: true, create: () => ({ dom: element(about) }) } : null;
  };
}

function element(about: About): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "code-about";
  const title = document.createElement("strong");
  title.textContent = about.title;
  dom.append(title);
  for (const line of about.lines) {
    const p = document.createElement("div");
    p.textContent = line;
    dom.append(p);
  }
  if (about.link?.startsWith("https://www.envoyproxy.io/")) {
    const a = document.createElement("a");
    a.href = about.link;
    a.target = "_blank";
    a.rel = "noreferrer";
    a.textContent = "Envoy's documentation";
    dom.append(a);
  }
  return dom;
}
