import { expect, test } from "vitest";
import { Refused, type Plan } from "../api/client";
import { toldOf } from "./check";
import { asVariant, documentOf, fieldOf, identityMarks, inLanguage, veiled } from "./document";
import { backend, cert } from "./fixture";

test("the document of a resource, without what only the server says", () => {
  expect(documentOf(backend)).toBe("type: clusters\nname: backend\nlabels:\n  team: shop\nbody:\n  name: backend\n  type: EDS\n  connect_timeout: 1s\n");
  expect(documentOf({ ...backend, variant: "eu", selector: "a=b", priority: 2, ttl: "30s", description: "d" })).toMatch(/^type: clusters\nname: backend\nvariant: eu\nselector: a=b\npriority: 2\nttl: 30s\nlabels:\n {2}team: shop\ndescription: d\nbody:/);
});

test("the document of a secret keeps what is stored", () => {
  expect(documentOf(cert)).toBe("type: secrets\nname: cert\nkeep: true\n");
});

test("to JSON and back is the same", () => {
  const yaml = documentOf(backend);
  const json = inLanguage(yaml, "json");
  expect(JSON.parse(json)).toMatchObject({ body: { connect_timeout: "1s" } });
  expect(inLanguage(json, "yaml")).toBe(yaml);
  expect(inLanguage(yaml, "yaml")).toBe(yaml);
});

test("another name, type or variant is another resource", () => {
  const id = { type: "clusters", name: "backend" } as const;
  expect(identityMarks(documentOf(backend), id)).toEqual([]);
  const text = "type: clusters\nname: other\nvariant: eu\n";
  expect(identityMarks(text, id).map((m) => [text.slice(m.from, m.to), m.message])).toEqual([
    ["other", "The name of this resource is backend. For another one make a new resource."],
    ["eu", "This resource is the default one, and has no variant."],
  ]);
});

test("a variant has the same content, and no etag", () => {
  const text = asVariant("type: clusters\nname: a\nvariant: old\netag: x\nlabels: {a: b}\nbody: {num: 18446744073709551615} # why\n", "eu", "locality.region=eu", 3);
  expect(text).toBe("type: clusters\nname: a\nvariant: eu\nselector: locality.region=eu\npriority: 3\nlabels:\n  a: b\nbody:\n  num: 18446744073709551615\n  # why\n");
  expect(fieldOf(text, "priority")).toBe("3");
  expect(fieldOf(text, "ttl")).toBeUndefined();
});

test("the keys of a secret are not on the screen", () => {
  const text = "type: secrets\nbody:\n  tls_certificate:\n    certificate_chain: {inline_string: C}\n    private_key:\n      inline_string: |\n        -----BEGIN PRIVATE KEY-----\n        TOPSECRET\n  generic_secret: {secret: {inline_string: TOPSECRET}}\n  tlsx: {privateKey: TOPSECRET}\n";
  for (const t of [text, inLanguage(text, "json")]) {
    expect(veiled(t)).not.toContain("TOPSECRET");
    expect(veiled(t)).toContain("certificate_chain");
  }
  expect(veiled("private_key: [TOPSECRET")).not.toContain("TOPSECRET");
});

const problem = (status: number, pointer: string) => new Refused({ type: "", title: "", status, code: "invalid_resource", detail: "1 field is not acceptable", request_id: "r", errors: [{ code: "unknown_field", detail: "Cluster has no such field", pointer }] });

test("the server's faults stand at their lines", () => {
  const text = "type: clusters\nname: a\nbody:\n  foo: 1\n";
  const told = toldOf(text, undefined, problem(422, "/resources/0/body/foo"));
  expect(told.state).toBe("refused");
  expect(told.marks.map((m) => [text.slice(m.from, m.to), m.message])).toEqual([["foo", "Cluster has no such field"]]);
  expect(toldOf(text, undefined, problem(429, "")).state).toBe("unknown");
});

test("so do findings, and the reach is told", () => {
  const plan: Plan = {
    revision: 1, counts: { create: 1, update: 0, delete: 0, unchanged: 0 }, limits: [], confirm: [], token: "t",
    resources: [{ type: "routes", name: "a", action: "create" }],
    reach: { nodes: 300, reached: 3, views: [], ids: [] },
    findings: { errors: 0, warnings: 2, infos: 0, items: [
      { code: "missing_reference", severity: "warning", type: "routes", name: "a", pointer: "/body/c", at: "/resources/0/body/c", detail: "no such cluster" },
      { code: "missing_reference", severity: "warning", type: "listeners", name: "other", pointer: "/body/x", detail: "of another" },
    ] },
  };
  const text = "type: routes\nbody: {c: nowhere}\n";
  const told = toldOf(text, plan, null);
  expect(told.words).toBe("The server takes it. It would reach 3 of 300 nodes.");
  expect(told.marks.map((m) => [text.slice(m.from, m.to), m.severity, m.message])).toEqual([["nowhere", "warning", "no such cluster"]]);
});
