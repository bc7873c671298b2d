import { expect, test } from "vitest";
import { readDocument } from "./document";

const jsonOf = (text: string) => {
  const read = readDocument(text);
  expect(read.faults).toEqual([]);
  return `{${Array.from(read.fields, ([k, v]) => `${JSON.stringify(k)}:${v}`).join(",")}}`;
};

test("numbers keep all their digits, from YAML and from JSON", () => {
  expect(jsonOf("body:\n  id: 18446744073709551615\n  share: 1.50\n  big: 1e400\n")).toBe('{"body":{"id":18446744073709551615,"share":1.50,"big":1e400}}');
  expect(jsonOf('{"body": {"id": 9007199254740993}}')).toBe('{"body":{"id":9007199254740993}}');
});

test("texts stay texts", () => {
  expect(jsonOf('body: {a: "on", b: "1", c: 1s, d: 2026-01-02, e: "\\ud83d\\ude00", f: 10.0.0.1}')).toBe('{"body":{"a":"on","b":"1","c":"1s","d":"2026-01-02","e":"😀","f":"10.0.0.1"}}');
  expect(jsonOf("body: {a: ~, b: true, c: 0x10, d: .inf}")).toBe('{"body":{"a":null,"b":true,"c":16,"d":"Infinity"}}');
});

test.each([
  ["name: a\nbody: {x: on}", 2, /boolean/],
  ["name: a\nbody: {x: 0644}", 2, /decimal/],
  ["name: a\nbody: {x: 1_000}", 2, /decimal/],
  ["name: a\nbody:\n  x: &one 1\n", 3, /anchors/],
  ["name: a\nbody:\n  x: !!str 1\n", 3, /tags/],
  ["a: &x {b: 1}\nbody: {<<: {}}", 1, /anchors/],
  ["name: a\nbody: {<<: {a: 1}}", 2, /merge/],
  ["name: a\nname: b", 2, /unique/],
  ["name: a\n---\nname: b", 2, /documents/],
  ["name: a\n body: {}", 1, /./],
])("what readers take differently is told at its line: %j", (text, line, words) => {
  const { faults } = readDocument(text);
  expect(faults[0]?.detail).toMatch(words);
  expect(faults[0]?.place?.line).toBe(line);
});

test("a pointer leads to its line, or to the nearest that there is", () => {
  const read = readDocument("name: a\nbody:\n  list:\n    - x: 1\n    - a/b: 2\n");
  expect(read.placeOf("/body/list/1/a~1b")?.line).toBe(5);
  expect(read.placeOf("/body/list/1/a~1b")?.source).toBe("    - a/b: 2");
  expect(read.placeOf("/body/list/7")?.line).toBe(3);
  expect(read.placeOf("/etag")).toBeUndefined();
});

test("what is no object is told", () => {
  expect(readDocument("").faults[0]?.detail).toMatch(/empty/);
  expect(readDocument("- a").faults[0]?.detail).toMatch(/object/);
});
