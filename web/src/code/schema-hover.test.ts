import { expect, test } from "vitest";
import { read, valueOf } from "./document";
import { get, place, routerUrl } from "./fixture";
import { pathAt } from "./schema-cursor";
import { describe as tell } from "./schema-hover";
import { documentSchema, Schemas } from "./schema-load";
import { marksOf } from "./schema-help";

const yaml = `name: a\ntype: EDS\nhealth_checks:\n  - timeout: 1s\nother:\n  "@type": ${routerUrl}\n  dynamic_stats: true\nzzz: 1\nmax_requests: 1\nper_connection_buffer_limit_bytes: 1\n`;
function over(word: string) {
  const at = pathAt(yaml, yaml.indexOf(word));
  return at && { path: at.path, about: tell(place, valueOf(read(yaml)), at.path, get) };
}

test("a field is told of, with the place in Envoy's documentation", () => {
  expect(over("type")?.about).toEqual({
    title: "type",
    lines: ["DiscoveryType, one of a list", "One of STATIC, STRICT_DNS, EDS."],
    link: "https://www.envoyproxy.io/docs/envoy/v1.40.0/api-v3/config/cluster/v3/cluster.proto#envoy-v3-api-field-config-cluster-v3-cluster-type",
  });
  expect(over("per_connection")?.about?.lines).toEqual(["whole number", "At least 0, at most 4294967295."]);
  expect(over("max_requests")?.about?.lines).toContain("Envoy says that it is deprecated.");
});

test("inside of lists and extensions too", () => {
  expect(over("timeout")).toMatchObject({ path: ["health_checks", 0, "timeout"], about: { title: "timeout", lines: ["text"] } });
  expect(over("dynamic_stats")?.about?.link).toBe("https://www.envoyproxy.io/docs/router.proto#envoy-v3-api-field-router-dynamic-stats");
});

test("nothing of what the schema does not know", () => {
  expect(over("zzz")?.about).toBeUndefined();
  expect(pathAt("# only words", 4)).toBeUndefined();
});

test("schemas are fetched as they are needed, each once, and what cannot be had is left out", async () => {
  const asked: string[] = [];
  const schemas = new Schemas((path) => {
    asked.push(path);
    if (path.includes("gone")) return Promise.resolve(null);
    if (path.includes("down")) return Promise.reject(new Error("down"));
    return Promise.resolve(get(path) ?? null);
  });
  const text = `type: clusters\nname: a\nbody:\n  name: a\n  other: {"@type": ${routerUrl}, bad: 1}\n  cluster_type: {"@type": type.googleapis.com/gone.M, x: 1}\n  typed_extension_protocol_options: {x: {"@type": type.googleapis.com/down.M}}\n`;
  const marks = await marksOf(text, documentSchema("clusters"), schemas);
  expect(marks.map((m) => [text.slice(m.from, m.to), m.message])).toEqual([["bad", "Router has no field bad."]]);
  await marksOf(text, documentSchema("clusters"), schemas);
  expect(asked.filter((p) => p === "/v1/schemas/clusters")).toHaveLength(1);
  expect(asked.filter((p) => p.includes("gone"))).toHaveLength(1);
  expect(asked.filter((p) => p.includes("down"))).toHaveLength(2);
});

test("what cannot be read is marked before anything else", async () => {
  const schemas = new Schemas(() => Promise.reject(new Error("not asked for")));
  const marks = await marksOf("a: [1\nb: 2", documentSchema("clusters"), schemas);
  expect(marks.length).toBeGreaterThan(0);
  expect(marks[0]?.severity).toBe("error");
});

test("the document around the body has a schema of its own", async () => {
  const schemas = new Schemas((path) => Promise.resolve(get(path) ?? null));
  const marks = await marksOf("type: routes\nname: a\nlables: {}\nbody: {name: a}\n", documentSchema("clusters"), schemas);
  expect(marks.map((m) => m.message)).toEqual(["Here must be clusters, not routes.", "A document has no field lables. Is labels meant?"]);
});
