import { expect, test } from "vitest";
import { read, valueOf } from "./document";
import { get, place, routerUrl } from "./fixture";
import { check, nearest } from "./schema-check";

const faults = (yaml: string) => check(place, valueOf(read(yaml)), get).map((f) => `${f.path.join(".")}: ${f.message}`);

test("a sound document has no faults", () => {
  expect(faults(`name: a\ntype: EDS\nconnect_timeout: 0.25s\neds_cluster_config: {ads: {}, serviceName: b}\nper_connection_buffer_limit_bytes: 5\nhealth_checks: [{timeout: 1s, kind: a-b}]\nrespect_dns_ttl: true`)).toEqual([]);
  expect(faults("name: a\nconnectTimeout: 1s\ntype: 3\nper_connection_buffer_limit_bytes: '5'\neds_cluster_config:\n")).toEqual([]);
  expect(faults("name: ${fleet.values.NAME}\ntype: ${fleet.values.T}\nconnect_timeout: ${fleet.values.X}")).toEqual([]);
});

test("an unknown field, with the one that is meant", () => {
  expect(faults("name: a\nconect_timeout: 1s")).toEqual(["conect_timeout: Cluster has no field conect_timeout. Is connect_timeout meant?"]);
  expect(faults("name: a\neds_cluster_config: {zzz: 1}")).toEqual(["eds_cluster_config.zzz: EdsClusterConfig has no field zzz."]);
  expect(check(place, { name: "a", zzz: 1 }, get)[0]?.atKey).toBe(true);
});

test("a wrong type", () => {
  expect(faults("name: 1")).toEqual(["name: Here must be a text, not a whole number."]);
  expect(faults("name: a\nrespect_dns_ttl: maybe")).toEqual(["respect_dns_ttl: Here must be true or false, not a text."]);
  expect(faults("name: a\nhealth_checks: {}")).toEqual(["health_checks: Here must be a list, not a map of fields."]);
  expect(faults("name: a\nper_connection_buffer_limit_bytes: 1.5")).toEqual(["per_connection_buffer_limit_bytes: Here must be a whole number, not a number."]);
  expect(faults("- a")).toEqual([": Here must be a map of fields, not a list."]);
});

test("a word that is not in the list", () => {
  expect(faults("name: a\ntype: ED")).toEqual(["type: ED is not known here. Is EDS meant?"]);
  expect(faults("name: a\ntype: WHATEVER")).toEqual(["type: WHATEVER is not one of STATIC, STRICT_DNS, EDS."]);
  expect(faults("name: a\nhealth_checks: [{timeout: 1s, kind: xyz}]")).toEqual(["health_checks.0.kind: xyz is not one of a-b, c-d."]);
});

test("what must be set, bounds, forms and what excludes each other", () => {
  expect(faults("type: EDS")).toEqual([": name must be set."]);
  expect(faults("name: a\nhealth_checks: [{}]")).toEqual(["health_checks.0: timeout must be set."]);
  expect(faults("name: ''")).toEqual(["name: This may not be empty."]);
  expect(faults("name: a\nper_connection_buffer_limit_bytes: -1")).toEqual(["per_connection_buffer_limit_bytes: This must be at least 0."]);
  expect(faults("name: a\nper_connection_buffer_limit_bytes: 18446744073709551615")).toEqual(["per_connection_buffer_limit_bytes: This may be 4294967295 at most."]);
  expect(faults("name: a\nconnect_timeout: 5")).toEqual(["connect_timeout: Here must be a text, not a whole number."]);
  expect(faults("name: a\nconnect_timeout: 5m")).toEqual([`connect_timeout: Here must be seconds, such as "0.25s" or "30s".`]);
  expect(faults(`name: a\ntype: EDS\ncluster_type: {"@type": ${routerUrl}}`)).toEqual([": Only one of these may be set: type, cluster_type."]);
  expect(faults("name: a\nhealth_checks: [{timeout: a}, {timeout: a}, {timeout: a}]")).toEqual(["health_checks: At most 2 elements may be here."]);
});

test("an extension is checked by its @type, listed or not; an unknown one is taken as it is", () => {
  const held = (inner: string) => faults(`name: a\ntyped_extension_protocol_options: {x: ${inner}}\nother: ${inner}`);
  expect(held(`{"@type": ${routerUrl}, dynamicStats: true}`)).toEqual([]);
  expect(held(`{"@type": ${routerUrl}, dynamic_stats: 1, z: 2}`)).toEqual([
    "typed_extension_protocol_options.x.dynamic_stats: Here must be true or false, not a whole number.",
    "typed_extension_protocol_options.x.z: Router has no field z.",
    "other.dynamic_stats: Here must be true or false, not a whole number.",
    "other.z: Router has no field z.",
  ]);
  expect(held(`{"@type": type.googleapis.com/own.Thing, z: 2}`)).toEqual([]);
  expect(held("{z: 2}")).toEqual(["typed_extension_protocol_options.x: @type must be set.", "other: @type must be set."]);
});

test("a slip of the finger", () => {
  expect(nearest("lb_polcy", ["lb_policy", "name"])).toBe("lb_policy");
  expect(nearest("zzz", ["lb_policy", "name"])).toBeUndefined();
});
