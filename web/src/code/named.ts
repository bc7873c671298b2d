// The line that an address leads to: it is in sight, the cursor stands in it, and it is marked until somebody types.
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

const name = StateEffect.define<number>();
const line = Decoration.line({ class: "cm-named" });

export const named = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marked, t) => {
    for (const e of t.effects) if (e.is(name)) return Decoration.set(line.range(t.state.doc.lineAt(e.value).from));
    return t.docChanged && !t.isUserEvent("set") ? Decoration.none : marked.map(t.changes);
  },
  provide: (f) => EditorView.decorations.from(f),
});

/** Goes to a place, counted from 0. */
export function goTo(v: EditorView, at: number) {
  const pos = Math.min(at, v.state.doc.length);
  v.dispatch({ selection: { anchor: pos }, effects: [name.of(pos), EditorView.scrollIntoView(pos, { y: "center" })] });
}
