import { expect, test } from "vitest";
import type { Resource } from "../api/client";
import { documentOf, labelsOf, size, textOf } from "./documents";
import { placed, valuesIn } from "./promote-content";
import { yamlOf } from "./yaml";

// What "fairlead export" writes of the same.
const same: readonly (readonly [unknown, string])[] = [
  [{ a: { b: [{ c: 1, d: [] }, [1, 2], {}, "x"] } }, "a:\n  b:\n    - c: 1\n      d: []\n    - - 1\n      - 2\n    - {}\n    - x\n"],
  [{ yes: "no", n: "1s", t: true, z: null }, '"yes": "no"\n"n": "1s"\nt: true\nz: null\n'],
  [{ a: "a: b", b: "a  b", c: "", d: "größe", e: "a b/c.d-e" }, 'a: "a: b"\nb: "a  b"\nc: ""\nd: "größe"\ne: a b/c.d-e\n'],
  [{ a: 'say "hi" \\', b: "x\ty\r" }, 'a: "say \\"hi\\" \\\\"\nb: "x\\ty\\r"\n'],
  [{ a: "a\u0001b\u0085c\u2028d\ufeff", b: "hi 😀" }, 'a: "a\\x01b\\Nc\\Ld\\uFEFF"\nb: "hi \\U0001F600"\n'],
  [{ a: "\u202egnp.x\u00ad\u200d" }, 'a: "\\u202Egnp.x\\xAD\\u200D"\n'],
  [{ s: { i: "f()\n  x\n\nend\n" } }, "s:\n  i: |\n    f()\n      x\n\n    end\n"],
  [{ a: "a \nb\n", b: "  a\n", c: "a\n\n", d: "a\nb" }, 'a: "a \\nb\\n"\nb: "  a\\n"\nc: "a\\n\\n"\nd: "a\\nb"\n'],
  [{ a: 1e21, b: 1e-7, c: -0, d: 1.5 }, "a: 1e+21\nb: 1e-7\nc: -0\nd: 1.5\n"],
  [{ ["k".repeat(129)]: { a: 1 } }, `? ${"k".repeat(129)}\n:\n  a: 1\n`],
];

test.each(same)("%j", (value, text) => {
  expect(yamlOf(value)).toBe(text);
});

const backend: Resource = {
  type: "clusters", name: "backend", labels: { team: "shop" }, body: { name: "backend" }, values: { A: "b" },
  version: "v", revision: 7, etag: '"7"', created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", updated_by: "x",
};

test("a document holds what a tenant writes, in order, and nothing else", () => {
  expect(textOf(backend)).toBe("type: clusters\nname: backend\nlabels:\n  team: shop\nbody:\n  name: backend\n");
});

test("a secret, and what holds a key that is not shown, stand there as what is stored", () => {
  const { body, ...sealed } = backend;
  expect(documentOf({ ...sealed, type: "secrets", secret: { kind: "generic_secret" } })).toEqual({ type: "secrets", name: "backend", labels: { team: "shop" }, keep: true });
  expect(documentOf({ ...backend, body: { body, key: "[redacted]" } })).toEqual({ type: "clusters", name: "backend", labels: { team: "shop" }, keep: true });
});

test("labels are key=value, joined by commas", () => {
  expect(labelsOf(" team=shop, tier= ,")).toEqual(["team=shop", "tier="]);
  expect(labelsOf("team")).toBeUndefined();
  expect(labelsOf("a=b=c")).toBeUndefined();
});

test("sizes are told in what people read", () => {
  expect([size(1), size(2048), size(20_480), size(5 * 1024 * 1024)]).toEqual(["1 byte", "2.0 KiB", "20 KiB", "5.0 MiB"]);
});

test("the values of placeholders are found once each, in order", () => {
  expect(valuesIn([{ body: { a: "${fleet.values.PORT}", b: ["x-${fleet.values.HOST}:${fleet.values.PORT}"] } }])).toEqual(["HOST", "PORT"]);
});

test("a fault is told by the resource, also of a deletion", () => {
  const entries = ["clusters/a", "clusters/b", "routes/old"];
  const fault = (pointer: string) => placed({ code: "x", detail: "y", pointer }, entries, 2).pointer;
  expect(fault("/resources/1/body/type")).toBe("clusters/b /body/type");
  expect(fault("/delete/0")).toBe("routes/old");
  expect(fault("/message")).toBe("/message");
});
