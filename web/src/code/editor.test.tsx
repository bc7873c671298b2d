import { MantineProvider } from "@mantine/core";
import { EditorView } from "@codemirror/view";
import { undo } from "@codemirror/commands";
import { forEachDiagnostic } from "@codemirror/lint";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { CodeEditor, type EditorProps } from "./editor";
import { theme } from "../app/theme";

const shown = (props: Partial<EditorProps>) => (
  <MantineProvider theme={theme} env="test">
    <CodeEditor label="document" text="a: 1" language="yaml" {...props} />
  </MantineProvider>
);
function editor() {
  const view = EditorView.findFromDOM(screen.getByRole("textbox", { name: "document" }));
  if (!view) throw new Error("there is no editor");
  return view;
}
const type = (text: string) => act(() => editor().dispatch({ changes: { from: editor().state.doc.length, insert: text } }));
const text = () => editor().state.doc.toString();

test("what is typed is told, and a text from outside is taken without being told back", () => {
  const told = vi.fn();
  const { rerender } = render(shown({ onChange: told }));
  type("2");
  expect(told.mock.calls).toEqual([["a: 12"]]);
  rerender(shown({ onChange: told, text: "b: 1" }));
  expect(text()).toBe("b: 1");
  expect(told).toHaveBeenCalledTimes(1);
});

test("a text that comes back late does not undo what was typed since", () => {
  const { rerender } = render(shown({ onChange: () => undefined }));
  type("2");
  type("3");
  rerender(shown({ onChange: () => undefined, text: "a: 12" }));
  expect(text()).toBe("a: 123");
  rerender(shown({ onChange: () => undefined, text: "a: 123" }));
  rerender(shown({ onChange: () => undefined, text: "a: 12" })); // now it is meant
  expect(text()).toBe("a: 12");
});

test("marks that come while one types do not bring an older text along", () => {
  const props = { onChange: () => undefined, marks: [] };
  const { rerender } = render(shown(props));
  type("2");
  rerender(shown({ ...props, text: "a: 12" }));
  type("3");
  rerender(shown({ ...props, text: "a: 12", marks: [{ from: 0, to: 1, severity: "error", message: "no" }] }));
  expect(text()).toBe("a: 123");
});

test("marks stand at their places, also past the end of the text", () => {
  const { rerender } = render(shown({ marks: [{ from: 0, to: 1, severity: "error", message: "no" }, { from: 99, to: 120, severity: "info", message: "far" }] }));
  const found = () => {
    const all: [number, number, string][] = [];
    forEachDiagnostic(editor().state, (d, from, to) => all.push([from, to, d.message]));
    return all;
  };
  expect(found()).toEqual([[0, 1, "no"], [4, 4, "far"]]);
  rerender(shown({ marks: [] }));
  expect(found()).toEqual([]);
});

test("Ctrl S goes on, and the way out is told", async () => {
  const saved = vi.fn();
  render(shown({ onSave: saved }));
  const box = screen.getByRole("textbox", { name: "document" });
  box.focus();
  await userEvent.keyboard("{Control>}s{/Control}");
  expect(saved).toHaveBeenCalledOnce();
  const help = document.getElementById(box.getAttribute("aria-describedby") ?? "");
  expect(help?.textContent).toContain("Tab: leave the editor");
});

test("what is read only can be reached and not changed", () => {
  render(shown({ readOnly: true }));
  const box = screen.getByRole("textbox", { name: "document" });
  expect(box.getAttribute("contenteditable")).toBe("false");
  expect(box.getAttribute("aria-readonly")).toBe("true");
  expect(box.tabIndex).toBe(0);
});

test("another language leaves the editor, and what can be undone, as they are", () => {
  const { rerender } = render(shown({ onChange: () => undefined }));
  const first = editor();
  type("2");
  rerender(shown({ onChange: () => undefined, text: "a: 12", language: "json" }));
  expect(editor()).toBe(first);
  act(() => void undo(first));
  expect(text()).toBe("a: 1");
  act(() => void undo(first));
  expect(text()).toBe("a: 1"); // what it began with cannot be undone
});

test("Tab leads on and changes nothing; Ctrl ] indents", async () => {
  const told = vi.fn();
  render(<>{shown({ onChange: told })}<button type="button">next</button></>);
  await userEvent.tab();
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "document" }));
  await userEvent.tab();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "next" }));
  expect(told).not.toHaveBeenCalled();
  editor().focus();
  await userEvent.keyboard("{Control>}]{/Control}");
  expect(text()).toBe("  a: 1");
});

test("the place that is asked for has the cursor and a mark, until somebody types", () => {
  const marked = () => document.querySelector(".cm-named")?.textContent;
  const props = { text: "a: 1\nb: 2\nc: 3", onChange: () => undefined };
  const { rerender } = render(shown({ ...props, at: 5 }));
  expect(marked()).toBe("b: 2");
  expect(editor().state.selection.main.head).toBe(5);
  rerender(shown({ ...props, at: 10 }));
  expect(marked()).toBe("c: 3");
  type("3");
  expect(marked()).toBeUndefined();
});
