import { expect, test } from "vitest";
import { get, place, routerUrl } from "./fixture";
import { suggest } from "./schema-complete";
import { cursorAt } from "./schema-cursor";

/** The text has a "|" where the cursor is. */
function at(marked: string) {
  const pos = marked.indexOf("|");
  const text = marked.slice(0, pos) + marked.slice(pos + 1);
  const cursor = cursorAt(text, pos);
  return { text, cursor, options: cursor ? suggest(cursor, place, get) : [] };
}
const labels = (marked: string) => at(marked).options.map((o) => o.label);

/** The text after the one of that name was taken. */
function taken(marked: string, label: string) {
  const { text, cursor, options } = at(marked);
  const option = options.find((o) => o.label === label);
  if (!cursor || !option) throw new Error(`${label} is not offered, but ${options.map((o) => o.label).join()}`);
  const caret = cursor.from + option.caret;
  const after = text.slice(0, cursor.from) + option.insert + text.slice(cursor.to);
  return `${after.slice(0, caret)}|${after.slice(caret)}`;
}

test("the fields of a map, without those that are there in either spelling", () => {
  expect(labels("|")).toContain("connect_timeout");
  expect(labels("name: a\nconn|")).toContain("connect_timeout");
  expect(labels("name: a\nconnectTimeout: 1s\n|")).not.toContain("connect_timeout");
  expect(labels("name: a\n|\ntype: EDS")).not.toContain("name");
});

test("deeper ones by the indentation, the list or the braces around", () => {
  expect(labels("name: a\neds_cluster_config:\n  |")).toEqual(["ads", "service_name"]);
  expect(labels("name: a\neds_cluster_config:\n  ads: {}\n  se|\ntype: EDS")).toEqual(["service_name"]);
  expect(labels("eds_cluster_config: {|}")).toEqual(["ads", "service_name"]);
  expect(labels("eds_cluster_config: {ads: {}, s|}")).toEqual(["service_name"]);
  expect(labels("health_checks:\n  - |")).toEqual(["timeout", "interval", "kind"]);
  expect(labels("health_checks:\n  - timeout: 1s\n    |")).toEqual(["interval", "kind"]);
  expect(labels("health_checks:\n  - timeout: 1s\n  - in|")).toContain("interval");
});

test("the values of a list of words, and true and false", () => {
  expect(labels("type: |")).toEqual(["STATIC", "STRICT_DNS", "EDS"]);
  expect(labels("type: ST|\nname: a")).toEqual(["STATIC", "STRICT_DNS", "EDS"]);
  expect(labels("respect_dns_ttl: |")).toEqual(["true", "false"]);
  expect(labels("health_checks: [{kind: |}]")).toEqual(["a-b", "c-d"]);
});

test("@type offers what is known, and what it names offers its own fields", () => {
  expect(labels("cluster_type:\n  |")).toEqual(["@type"]);
  expect(labels("cluster_type:\n  '@type': |")).toContain(routerUrl);
  expect(labels(`cluster_type:\n  '@type': ${routerUrl}\n  |`)).toEqual(["dynamic_stats"]);
  expect(labels(`other:\n  '@type': ${routerUrl}\n  |`)).toEqual(["dynamic_stats"]);
  expect(labels(`typed_extension_protocol_options:\n  any.key:\n    '@type': ${routerUrl}\n    |`)).toEqual(["dynamic_stats"]);
});

test("nothing in comments, behind a value, or where nothing is known", () => {
  expect(labels("name: a # co|")).toEqual([]);
  expect(labels("name: |")).toEqual([]);
  expect(labels("eds_cluster_config: |")).toEqual([]);
  expect(labels("eds_cluster_config:\n  -|")).toEqual([]);
  expect(labels("zzz:\n  |")).toEqual([]);
});

test("what is put in is ready to go on", () => {
  expect(taken("name: a\nconn|", "connect_timeout")).toBe("name: a\nconnect_timeout: |");
  expect(taken("name: a\ned|", "eds_cluster_config")).toBe("name: a\neds_cluster_config:\n  |");
  expect(taken("he|", "health_checks")).toBe("health_checks:\n  - |");
  expect(taken("health_checks:\n  - ti|", "timeout")).toBe("health_checks:\n  - timeout: |");
  expect(taken("eds_cluster_config:\n  a|", "ads")).toBe("eds_cluster_config:\n  ads: {}|");
  expect(taken("cluster_type:\n  |", "@type")).toBe('cluster_type:\n  "@type": |');
  expect(taken("conn|: 1s", "connect_timeout")).toBe("connect_timeout|: 1s");
  expect(taken("type: E|", "EDS")).toBe("type: EDS|");
});

test("JSON", () => {
  expect(labels('{"name": "a", |}')).toContain("connect_timeout");
  expect(labels('{"eds_cluster_config": {"|"}}')).toEqual(["ads", "service_name"]);
  expect(labels('{"type": |}')).toEqual(["STATIC", "STRICT_DNS", "EDS"]);
  expect(labels('{"type": "|"}')).toEqual(["STATIC", "STRICT_DNS", "EDS"]);
  expect(taken('{"name": "a",\n  "conn|"}', "connect_timeout")).toBe('{"name": "a",\n  "connect_timeout": "|"}');
  expect(taken('{"ed|}', "eds_cluster_config")).toBe('{"eds_cluster_config": {|}}');
  expect(taken('{"type": "ST|"}', "STATIC")).toBe('{"type": "STATIC"|}');
  expect(taken('{"he|}', "health_checks")).toBe('{"health_checks": [|]}');
});

test("what must be set comes first, what is deprecated last", () => {
  const ranks = Object.fromEntries(at("|").options.map((o) => [o.label, o.rank]));
  expect(ranks.name).toBeGreaterThan(ranks.connect_timeout ?? 9);
  expect(ranks.max_requests).toBeLessThan(ranks.connect_timeout ?? -9);
});

test("what is one of several is not said to be a must", () => {
  const details = Object.fromEntries(at("|").options.map((o) => [o.label, o.detail]));
  expect(details.type).toBe("DiscoveryType, one of a list");
  expect(details.name).toBe("must be set · text");
  expect(at("health_checks:\n  - |").options[0]?.detail).toBe("must be set · text");
});
