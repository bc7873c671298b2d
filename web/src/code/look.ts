// How code looks, and how it is typed: for the editor and the view of differences alike.
import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, HighlightStyle, indentService, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { nonce } from "../app/nonce";
import "./code.css";

export type Language = "yaml" | "json";

// Colours that can be read on both grounds; the values are in code.css.
const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number], color: "var(--code-number)" },
  { tag: [tags.bool, tags.null, tags.keyword, tags.typeName, tags.labelName], color: "var(--code-word)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", lineHeight: "1.5", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--code-comment)", border: "none" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--fl-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--code-selection)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--code-match)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--code-selection)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--fl-line)", border: "1px solid var(--mantine-color-default-border)", color: "var(--code-comment)" },
  ".cm-tooltip": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)", border: "1px solid var(--mantine-color-default-border)", borderRadius: "var(--mantine-radius-sm)", maxWidth: "min(36rem, 94vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mantine-font-family-monospace)", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--mantine-primary-color-filled)", color: "#fff" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--code-comment)", marginLeft: "0.75rem" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-panels": { backgroundColor: "var(--mantine-color-body)", color: "var(--mantine-color-text)", borderColor: "var(--mantine-color-default-border)" },
  ".cm-diagnostic": { padding: "0.35rem 0.6rem", maxWidth: "32rem", overflowWrap: "anywhere", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--code-error)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--code-warning)" },
  ".cm-diagnostic-info": { borderLeft: "4px solid var(--code-info)" },
  // The wave of CodeMirror is an image in a data: address, which the policy refuses.
  ".cm-lintRange": { backgroundImage: "none !important", paddingBottom: "0", textDecorationLine: "underline", textDecorationStyle: "wavy", textDecorationThickness: "1.5px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--code-error)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--code-warning)" },
  ".cm-lintRange-info": { textDecorationColor: "var(--code-info)" },
  ".cm-lint-marker": { content: "none !important", width: "0.7rem", height: "0.7rem", borderRadius: "50%", margin: "0.3rem 0.1rem" },
  ".cm-lint-marker-error": { backgroundColor: "var(--code-error)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--code-warning)", borderRadius: "2px" },
  ".cm-lint-marker-info": { backgroundColor: "var(--code-info)" },
  ".cm-named": { boxShadow: "inset 3px 0 0 var(--mantine-primary-color-filled)", backgroundColor: "var(--code-match)" },
  // Differences.
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--code-removed)" },
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine, .cm-inlineChangedLine": { backgroundColor: "var(--code-added)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "var(--code-removed-text)" },
  "&.cm-merge-b .cm-changedText, .cm-insertedLine .cm-changedText": { background: "var(--code-added-text)" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: `"…"` }, // its own sign is in few fonts
  ".cm-collapsedLines": { background: "var(--fl-line)", color: "var(--code-comment)", border: "1px solid var(--mantine-color-default-border)" },
});

/** A line goes on where the one before it began; deeper below a key that has nothing yet, and beside the key of a list's element. */
const yamlIndent = indentService.of((context, pos) => {
  const { text, from } = context.lineAt(pos, -1);
  const before = text.slice(0, Math.max(0, pos - from));
  const margin = /^\s*/.exec(before)?.[0].length ?? 0;
  const dashes = /^\s*((?:- +)+)/.exec(before)?.[1]?.length ?? 0;
  return margin + dashes + (/:\s*(#.*)?$/.test(before) ? 2 : 0);
});

export function base(language: Language, label: string, readOnly: boolean, dark: boolean): Extension[] {
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.darkTheme.of(dark),
    lineNumbers(),
    foldGutter(),
    drawSelection(),
    highlightSelectionMatches(),
    bracketMatching(),
    indentUnit.of("  "),
    language === "json" ? json() : [yaml(), yamlIndent],
    syntaxHighlighting(colours),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": String(readOnly), spellcheck: "false", autocapitalize: "off", autocorrect: "off", tabindex: "0" }),
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    EditorView.lineWrapping,
    look,
  ];
}
