// The editor itself, on CodeMirror. Styles that it makes carry the nonce of the page's policy.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { foldKeymap, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Transaction, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, hoverTooltip, keymap, type HoverTooltipSource } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useId, useRef } from "react";
import { nonce } from "../app/nonce";
import { base, type Language } from "./look";
import { goTo, named } from "./named";

/** What is to be seen at a line. */
export interface Mark {
  /** Places in the text, counted from 0. */
  from: number;
  to: number;
  severity: "error" | "warning" | "info";
  message: string;
}

export type { Language };

export interface EditorProps {
  label: string;
  text: string;
  language: Language;
  readOnly?: boolean;
  onChange?: (text: string) => void;
  /** Ctrl-S or Cmd-S. */
  onSave?: () => void;
  marks?: readonly Mark[];
  complete?: CompletionSource;
  hover?: HoverTooltipSource;
  /** The place to go to, counted from 0. */
  at?: number | undefined;
  /** In px; it grows with its text up to this. */
  height?: number;
}

// What a property changes is changed in the view that is there: another would forget what can be undone, and the focus.
const settings = new Compartment();

type Latest = Pick<EditorProps, "onChange" | "onSave" | "complete" | "hover">;

export function CodeEditor({ label, text, language, readOnly = false, onChange, onSave, marks, complete, hover, at, height = 480 }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const given = useRef<{ text: string | undefined; marks: readonly Mark[] | undefined }>({ text: undefined, marks: undefined });
  // What was typed and has not come back as text yet. Without it a slow render would undo the last letters.
  const typed = useRef<string[]>([]);
  const latest = useRef<Latest>({});
  const keys = useId();
  const dark = useComputedColorScheme("light") === "dark";
  useEffect(() => {
    latest.current = { ...(onChange && { onChange }), ...(onSave && { onSave }), ...(complete && { complete }), ...(hover && { hover }) };
  });

  useEffect(() => {
    if (!parent.current) return undefined;
    const made = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(nonce), // it is asked for once, when the view is made
          settings.of([]),
          named,
          EditorView.contentAttributes.of({ "aria-describedby": keys }),
          EditorView.updateListener.of((u) => {
            if (!u.docChanged || u.transactions.some((t) => t.isUserEvent("set"))) return;
            const now = u.state.doc.toString();
            typed.current.push(now);
            latest.current.onChange?.(now);
          }),
        ],
      }),
    });
    view.current = made;
    given.current = { text: undefined, marks: undefined };
    typed.current = [];
    return () => made.destroy();
  }, [keys]);

  useEffect(() => {
    view.current?.dispatch({ effects: settings.reconfigure([...base(language, label, readOnly, dark), ...typing(latest, readOnly)]) });
  }, [language, label, readOnly, dark, keys]);

  useEffect(() => {
    const v = view.current;
    if (!v) return;
    // New marks alone come with a text that may be older than what was typed since.
    const first = given.current.text === undefined;
    const replaced = given.current.text !== text && takeText(v, text, typed.current, first);
    const marked = given.current.marks === marks;
    given.current = { text, marks };
    if (marked && !replaced) return;
    v.dispatch(setDiagnostics(v.state, (marks ?? []).map((m) => diagnostic(m, v.state.doc.length))));
  }, [marks, text, keys]);

  useEffect(() => {
    if (view.current && at !== undefined) goTo(view.current, at);
  }, [at, keys]);

  return (
    <div>
      <div ref={parent} className="code" style={{ maxHeight: height }} />
      {!readOnly && (
        <p id={keys} className="code-keys">
          Ctrl Space: what may stand here. {onSave && "Ctrl S: go on. "}F8: the next mark. Ctrl F: search. Ctrl ] and Ctrl [: indent more and less. Tab: leave the editor.
        </p>
      )}
      {readOnly && <p id={keys} hidden>Read only. Ctrl F: search.</p>}
    </div>
  );
}

/** Puts the text in, if it is not what the editor itself has told. Answers whether it did. The first one cannot be undone. */
function takeText(v: EditorView, text: string, typed: string[], first: boolean): boolean {
  const at = typed.lastIndexOf(text);
  if (at >= 0) {
    typed.splice(0, at + 1);
    return false;
  }
  const old = v.state.doc.toString();
  typed.length = 0;
  if (old === text) return false;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) from++;
  let end = 0;
  while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
  v.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) }, userEvent: "set", annotations: Transaction.addToHistory.of(!first) });
  return true;
}

function diagnostic(m: Mark, end: number): Diagnostic {
  return { from: Math.min(m.from, end), to: Math.min(Math.max(m.to, m.from), end), severity: m.severity, message: m.message };
}

/** Keys and what helps to type. Tab leads on through the page, as everywhere: nobody is caught, and nothing is indented unmeant. */
function typing(latest: { current: Latest }, readOnly: boolean): Extension[] {
  const save = { key: "Mod-s", preventDefault: true, run: () => (latest.current.onSave?.(), true) };
  const extensions: Extension[] = [
    lintGutter(),
    keymap.of([
      save,
      ...(readOnly ? [] : [...closeBracketsKeymap, ...completionKeymap, { key: "Tab", run: acceptCompletion }]),
      ...lintKeymap, ...searchKeymap, ...foldKeymap, ...historyKeymap, ...defaultKeymap,
    ]),
    hoverTooltip((v, pos, side) => latest.current.hover?.(v, pos, side) ?? null),
  ];
  if (readOnly) return extensions;
  return [
    ...extensions, history(), indentOnInput(), closeBrackets(), highlightActiveLine(),
    autocompletion({ override: [(context) => latest.current.complete?.(context) ?? null], icons: false }),
  ];
}
