import { expect, test } from "vitest";
import { placeIn, prepare, requestOf, sortFaults } from "./prepare";
import type { Edit } from "./store";

const edit = (more: Partial<Edit>): Edit => ({ action: "write", type: "clusters", name: "a", text: "name: a\nbody: {name: a}\n", base: "", at: "2026-01-01T00:00:00Z", ...more });

test("what was read carries its ETag, and what cannot be read stays out", () => {
  const prepared = prepare([
    edit({ action: "delete", name: "old", variant: "eu", text: "" }),
    edit({ etag: '"7-x"', base: "name: a" }),
    edit({ name: "broken", text: "name: [" }),
    edit({ name: "b", variant: "eu", text: "body: {name: b}" }),
  ]);
  expect(requestOf(prepared, { message: "why", plan: "plan-1" })).toBe(
    '{"resources":[{"name":"a","body":{"name":"a"},"type":"clusters","etag":"\\"7-x\\""},{"body":{"name":"b"},"type":"clusters","name":"b","variant":"eu"}],"delete":[{"type":"clusters","name":"old","variant":"eu"}],"message":"why","plan":"plan-1"}',
  );
  expect(prepared.items.map((i) => i.pointer)).toEqual(["/resources/0", undefined, "/resources/1", "/delete/0"]);
  expect(prepared.items[1]?.faults[0]?.place?.line).toBe(1);
});

test("an edit writes no other resource than it is of", () => {
  const { items, resources } = prepare([edit({ text: "name: other\nbody: {name: other}" })]);
  expect(resources).toEqual([]);
  expect(items[0]?.faults[0]?.detail).toMatch(/"other" here, and this edit is of a/);
});

test("an error of the answer leads to its edit and line", () => {
  const { items } = prepare([edit({}), edit({ name: "b", text: "body:\n  name: b\n  x: 1\n" })]);
  expect(placeIn(items, "/resources/1/body/x")?.place?.line).toBe(3);
  expect(placeIn(items, "/resources/10/body/x")).toBeUndefined();
  const { at, rest } = sortFaults(items, [
    { code: "unknown_field", detail: "no such field", pointer: "/resources/1/body/x" },
    { code: "limit", detail: "too many", pointer: "" },
  ]);
  expect([...at.keys()].map((i) => i.edit.name)).toEqual(["b"]);
  expect(rest.map((e) => e.detail)).toEqual(["too many"]);
});
