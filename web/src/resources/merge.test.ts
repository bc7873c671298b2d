import { expect, test } from "vitest";
import { conflictsIn, decide, merge3 } from "./merge";

const lines = (s: string) => s.split(" ").join("\n");
const merged = (b: string, m: string, t: string) => {
  const r = merge3(lines(b), lines(m), lines(t));
  return [r.text.split("\n").join(" "), r.conflicts];
};

test("what one of them changed is taken", () => {
  expect(merged("a b c", "a x c", "a b c")).toEqual(["a x c", 0]);
  expect(merged("a b c", "a b c", "a b y")).toEqual(["a b y", 0]);
  expect(merged("a b c d e", "x b c d e", "a b c d y")).toEqual(["x b c d y", 0]);
  expect(merged("a b c d", "a c d", "a b c new d")).toEqual(["a c new d", 0]);
  expect(merged("a b", "a b mine", "theirs a b")).toEqual(["theirs a b mine", 0]);
});

test("what both changed alike is no conflict", () => {
  expect(merged("a b c", "a x c", "a x c")).toEqual(["a x c", 0]);
  expect(merged("a b c", "a c", "a c")).toEqual(["a c", 0]);
});

test("what both changed is marked, and nothing of either is lost", () => {
  const r = merge3("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
  expect(r).toEqual({ conflicts: 1, text: "a\n<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs\nc\n" });
  expect(merge3("a\nb\nc", "a\nc", "a\nbb\nc").conflicts).toBe(1);
  expect(merge3("", "mine\n", "theirs\n").conflicts).toBe(1);
});

test("a conflict is decided for one side, the others stay", () => {
  const { text } = merge3("a\nb\nc\nd\ne\n", "a\nm1\nc\nm2\ne\n", "a\nt1\nc\nt2\ne\n");
  const found = conflictsIn(text);
  expect(found.map((c) => [c.mine, c.theirs])).toEqual([["m1\n", "t1\n"], ["m2\n", "t2\n"]]);
  const first = found[0];
  if (!first) throw new Error("no conflict");
  const once = decide(text, first, "theirs");
  expect(once).toContain("a\nt1\nc\n<<<<<<< mine\nm2");
  const second = conflictsIn(once)[0];
  if (!second) throw new Error("no conflict");
  expect(decide(once, second, "mine")).toBe("a\nt1\nc\nm2\ne\n");
});

test("a side that has nothing, and an end without a line break", () => {
  const { text } = merge3("a\nb", "a", "a\nx");
  const conflict = conflictsIn(text)[0];
  if (!conflict) throw new Error(`no conflict in ${text}`);
  expect(decide(text, conflict, "theirs")).toBe("a\nx\n");
  expect(decide(text, conflict, "mine")).toBe("a\n");
});

test("large documents are merged in time", () => {
  const base = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
  const mine = base.map((l, i) => (i === 5 ? "mine" : l));
  const theirs = base.map((l, i) => (i === 19_000 ? "theirs" : l));
  const r = merge3(base.join("\n"), mine.join("\n"), theirs.join("\n"));
  expect(r.conflicts).toBe(0);
  expect(r.text).toContain("mine\n");
  expect(r.text).toContain("theirs\n");
});
