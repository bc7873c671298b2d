import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { dropEdit, forgetSecrets, holdsSecrets, published, putEdit, readDraft, setAsked, setMessage, useUnkept, type Edit } from "./store";

const edit = (name: string, more: Partial<Edit> = {}): Edit => ({ action: "write", type: "clusters", name, text: `name: ${name}`, base: "", at: "2026-01-01T00:00:00Z", ...more });
const kept = (fleet: string) => localStorage.getItem(`fairlead.draft/acme/${fleet}`) ?? "";

test("what was typed while it was published stays", () => {
  putEdit("acme", "s1", edit("a"));
  putEdit("acme", "s1", edit("b"));
  const sent = readDraft("acme", "s1").edits;
  putEdit("acme", "s1", edit("b", { text: "name: b # more" }));
  published("acme", "s1", sent);
  expect(readDraft("acme", "s1").edits.map((e) => e.text)).toEqual(["name: b # more"]);
  expect(kept("s1")).toContain("# more");
});

test("a secret that is typed stays out of the browser's storage, and a request that holds one is not asked again", () => {
  putEdit("acme", "s2", edit("a"));
  setAsked("acme", "s2", { key: "k", token: "t", confirmed: false, at: "" });
  expect(kept("s2")).toContain('"key":"k"');
  putEdit("acme", "s2", edit("tls", { type: "secrets", text: "private" }));
  setAsked("acme", "s2", { key: "k2", token: "t", confirmed: false, at: "" });
  expect(readDraft("acme", "s2").edits).toHaveLength(2);
  expect(kept("s2")).not.toContain("private");
  expect(kept("s2")).not.toContain("k2");
});

test("another request is not a repeat: what is changed forgets what was asked", () => {
  putEdit("acme", "s3", edit("a"));
  setAsked("acme", "s3", { key: "k", token: "t", confirmed: false, at: "" });
  setMessage("acme", "s3", "other words");
  expect(readDraft("acme", "s3").asked).toBeUndefined();
});

test("another tab's draft comes, and a secret that was typed here stays", () => {
  putEdit("acme", "s4", edit("tls", { type: "secrets", text: "private" }));
  dispatchEvent(new StorageEvent("storage", { key: "fairlead.draft/acme/s4", newValue: JSON.stringify({ message: "m", edits: [edit("z")] }) }));
  expect(readDraft("acme", "s4").edits.map((e) => e.name)).toEqual(["z", "tls"]);
});

test("a damaged draft is none", () => {
  localStorage.setItem("fairlead.draft/acme/s5", '{"message":"","edits":[3]}');
  expect(readDraft("acme", "s5").edits).toEqual([]);
});

test("that the browser did not take the draft is told, until it does", () => {
  const { result } = renderHook(() => useUnkept("acme", "s6"));
  const full = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  act(() => putEdit("acme", "s6", edit("a")));
  expect(result.current).toBe(true);
  expect(readDraft("acme", "s6").edits).toHaveLength(1);
  full.mockRestore();
  act(() => putEdit("acme", "s6", edit("b")));
  expect(result.current).toBe(false);
  act(() => dropEdit("acme", "s6", edit("b")));
});

test("the tab forgets the secrets that were typed into it, and nothing else", () => {
  putEdit("acme", "s7", edit("a"));
  putEdit("acme", "s7", edit("tls", { type: "secrets", text: "private" }));
  putEdit("acme", "s7", edit("old", { type: "secrets", action: "delete", text: "" }));
  expect(holdsSecrets()).toBe(true);
  forgetSecrets();
  expect(readDraft("acme", "s7").edits.map((e) => e.name)).toEqual(["a", "old"]);
  expect(holdsSecrets()).toBe(false);
});
