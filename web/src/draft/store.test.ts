import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { clearDraft, dropEdit, forgetSecrets, holdsSecrets, published, putEdit, readDraft, setAsked, setMessage, useUnkept, type Author, type Edit } from "./store";

const edit = (name: string, more: Partial<Edit> = {}): Edit => ({ action: "write", type: "clusters", name, text: `name: ${name}`, base: "", at: "2026-01-01T00:00:00Z", ...more });
const ann: Author = { tenant: "acme", token: "t-ann" };
const kept = (fleet: string) => localStorage.getItem(`fairlead.draft/acme/t-ann/${fleet}`) ?? "";

test("what was typed while it was published stays", () => {
  putEdit(ann, "s1", edit("a"));
  putEdit(ann, "s1", edit("b"));
  const sent = readDraft(ann, "s1").edits;
  putEdit(ann, "s1", edit("b", { text: "name: b # more" }));
  published(ann, "s1", sent);
  expect(readDraft(ann, "s1").edits.map((e) => e.text)).toEqual(["name: b # more"]);
  expect(kept("s1")).toContain("# more");
});

test("a secret that is typed stays out of the browser's storage, and a request that holds one is not asked again", () => {
  putEdit(ann, "s2", edit("a"));
  setAsked(ann, "s2", { key: "k", token: "t", confirmed: false, at: "" });
  expect(kept("s2")).toContain('"key":"k"');
  putEdit(ann, "s2", edit("tls", { type: "secrets", text: "private" }));
  setAsked(ann, "s2", { key: "k2", token: "t", confirmed: false, at: "" });
  expect(readDraft(ann, "s2").edits).toHaveLength(2);
  expect(kept("s2")).not.toContain("private");
  expect(kept("s2")).not.toContain("k2");
});

test("another request is not a repeat: what is changed forgets what was asked", () => {
  putEdit(ann, "s3", edit("a"));
  setAsked(ann, "s3", { key: "k", token: "t", confirmed: false, at: "" });
  setMessage(ann, "s3", "other words");
  expect(readDraft(ann, "s3").asked).toBeUndefined();
});

test("another tab's draft comes, and a secret that was typed here stays", () => {
  putEdit(ann, "s4", edit("tls", { type: "secrets", text: "private" }));
  dispatchEvent(new StorageEvent("storage", { key: "fairlead.draft/acme/t-ann/s4", newValue: JSON.stringify({ message: "m", edits: [edit("z")] }) }));
  expect(readDraft(ann, "s4").edits.map((e) => e.name)).toEqual(["z", "tls"]);
});

test("a draft is its author's: nobody else who signs in here sees it, and it is there when its author comes back", () => {
  const ben: Author = { tenant: "acme", token: "t-ben" };
  putEdit(ann, "s8", edit("a"));
  expect(readDraft(ben, "s8").edits).toEqual([]);
  putEdit(ben, "s8", edit("b"));
  clearDraft(ben, "s8");
  expect(readDraft(ann, "s8").edits.map((e) => e.name)).toEqual(["a"]);
  expect(readDraft({ tenant: "other", token: "t-ann" }, "s8").edits).toEqual([]);
});

test("a draft whose author is not known is nobody's", () => {
  localStorage.setItem("fairlead.draft/acme/s9", JSON.stringify({ message: "", edits: [edit("a")] }));
  expect(readDraft(ann, "s9").edits).toEqual([]);
});

test("a damaged draft is none", () => {
  localStorage.setItem("fairlead.draft/acme/t-ann/s5", '{"message":"","edits":[3]}');
  expect(readDraft(ann, "s5").edits).toEqual([]);
});

test("that the browser did not take the draft is told, until it does", () => {
  const { result } = renderHook(() => useUnkept(ann, "s6"));
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  act(() => putEdit(ann, "s6", edit("a")));
  expect(result.current).toBe(true);
  expect(readDraft(ann, "s6").edits).toHaveLength(1);
  full.mockRestore();
  act(() => putEdit(ann, "s6", edit("b")));
  expect(result.current).toBe(false);
  act(() => dropEdit(ann, "s6", edit("b")));
});

test("the tab forgets the secrets that were typed into it, and nothing else", () => {
  putEdit(ann, "s7", edit("a"));
  putEdit(ann, "s7", edit("tls", { type: "secrets", text: "private" }));
  putEdit(ann, "s7", edit("old", { type: "secrets", action: "delete", text: "" }));
  expect(holdsSecrets()).toBe(true);
  forgetSecrets();
  expect(readDraft(ann, "s7").edits.map((e) => e.name)).toEqual(["a", "old"]);
  expect(holdsSecrets()).toBe(false);
});
