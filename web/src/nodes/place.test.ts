import { describe, expect, test } from "vitest";
import { placeOf, snake } from "./place";

const cluster = `name: web
type: STATIC
connect_timeout: 3s
lb_policy: CLUSTER_PROVIDED
health_checks:
  - timeout: 1s
    interval: 1s
    custom_health_check:
      name: envoy.health_checkers.nope
transport_socket:
  name: tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    common_tls_context:
      validation_context:
        trusted_ca:
          filename: nope.pem
load_assignment:
  cluster_name: web
  endpoints:
    - lb_endpoints:
        - endpoint:
            address:
              socket_address:
                address: 127.0.0.1
                port_value: 9001
        - endpoint:
            address:
              socket_address:
                address: 127.0.0.1
                port_value: 9002
`;

const listener = `name: shop
address:
  socket_address:
    address: 127.0.0.1
    port_value: 18080
filter_chains:
  - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          codec_type: AUTO
          access_log:
            - name: file
              typed_config:
                path: /nope/log
          http_filters:
            - name: envoy.filters.http.router
`;

const routes = `name: r
virtual_hosts:
  - name: nope
    domains:
      - "*"
    routes:
      - match:
          prefix: /a
        route:
          cluster: a
      - match:
          prefix: /b
        route:
          cluster: nope
      - match:
          prefix: /c
        route:
          weighted_clusters:
            clusters:
              - name: b
                weight: 0
`;

function lineOf(text: string, words: string, name: string) {
  const p = placeOf(text, words, name);
  return { line: text.slice(p.from, p.to), number: p.line, by: p.by };
}

describe("what Envoy says of a cluster", () => {
  const cases: [what: string, words: string, line: string, by: string][] = [
    ["a field of its own check", "Proto constraint validation failed (ClusterValidationError.LbPolicy: value must be one of the defined enum values)", "lb_policy: CLUSTER_PROVIDED", "field"],
    ["a field with digits of time", "ClusterValidationError.ConnectTimeout: value must be greater than 0s", "connect_timeout: 3s", "field"],
    [
      "a path of fields with places in lists",
      "(ClusterValidationError.LoadAssignment: embedded message failed validation | caused by ClusterLoadAssignmentValidationError.Endpoints[0]: embedded message failed validation | caused by LocalityLbEndpointsValidationError.LbEndpoints[1]: embedded message failed validation | caused by EndpointValidationError.Address: x | caused by SocketAddressValidationError.PortValue: too large)",
      "port_value: 9002",
      "field",
    ],
    ["a field that is not there, at what lacks it", "ClusterValidationError.HealthChecks[0]: embedded message failed validation | caused by HealthCheckValidationError.UnhealthyThreshold: value is required", "- timeout: 1s", "field"],
    ["the older form", 'caused by field: "connect_timeout", reason: value must be greater than 0s', "connect_timeout: 3s", "field"],
    ["a file", "Invalid path: nope.pem", "filename: nope.pem", "value"],
    ["a quoted name, with an apostrophe before it", "Didn't find a registered implementation for 'envoy.health_checkers.nope' with type URL: ''", "name: envoy.health_checkers.nope", "value"],
    ["an address", "cannot connect to '127.0.0.1:9002'", "port_value: 9002", "value"],
    ["a constant", "the type STATIC is ... CLUSTER_PROVIDED", "lb_policy: CLUSTER_PROVIDED", "value"],
    ["a field's name", "the lb_policy is not for this", "lb_policy: CLUSTER_PROVIDED", "field"],
    ["words alone", "cluster manager: cluster provided LB specified but cluster 'web' did not provide one. Check cluster documentation.", "lb_policy: CLUSTER_PROVIDED", "likeness"],
    ["nothing that stands there", "no luck today", "name: web", "name"],
  ];
  test.each(cases)("%s", (_, words, line, by) => {
    expect(lineOf(cluster, words, "web")).toMatchObject({ line, by });
  });
});

test("a part of a value, where no value is the whole of it", () => {
  expect(lineOf(cluster, "no such type 'transport_sockets.tls.v3.UpstreamTlsContext'", "web").line).toContain('"@type"');
});

test("a listener's port, log and filter", () => {
  expect(lineOf(listener, "cannot bind '127.0.0.1:18080': Address already in use", "shop")).toEqual({ line: "port_value: 18080", number: 5, by: "value" });
  expect(lineOf(listener, "unable to open file '/nope/log': No such file or directory", "shop").line).toBe("path: /nope/log");
  expect(lineOf(listener, "HttpConnectionManagerValidationError.CodecType: value must be one of the defined enum values", "shop").line).toBe("codec_type: AUTO");
});

test("a field that a message inside lacks is at the message", () => {
  expect(lineOf(listener, "HttpConnectionManagerValidationError.StatPrefix: value length must be at least 1 characters", "shop").line).toContain("v3.HttpConnectionManager");
});

test("of the places with the same value the one whose key is said", () => {
  expect(lineOf(routes, "route: unknown cluster 'nope'", "r")).toEqual({ line: "cluster: nope", number: 14, by: "value" });
  expect(lineOf(routes, "Sum of weights in the weighted_cluster must be greater than 0.", "r").line).toBe("weighted_clusters:");
});

test("what is quoted counts as a whole, after an apostrophe too; of equal fields the first", () => {
  const text = "name: x\na:\n  path: one\nb:\n  path: two\n";
  expect(lineOf(text, "Didn't find 'two'", "x").line).toBe("path: two");
  expect(lineOf(text, "XValidationError.Path: no", "x").number).toBe(3);
});

test("JSON is read as well", () => {
  const json = JSON.stringify({ name: "web", lb_policy: "CLUSTER_PROVIDED", type: "STATIC" }, null, 2);
  expect(lineOf(json, "ClusterValidationError.LbPolicy: no", "web")).toMatchObject({ line: '"lb_policy": "CLUSTER_PROVIDED",', number: 3 });
});

test("text that is no YAML, or none, has a first line", () => {
  expect(placeOf("", "anything", "x")).toEqual({ from: 0, to: 0, line: 1, by: "start" });
  expect(placeOf("{{{ : [", "anything at all", "x").line).toBe(1);
});

test("snake", () => {
  expect(snake("LbPolicy")).toBe("lb_policy");
  expect(snake("Http2ProtocolOptions")).toBe("http2_protocol_options");
  expect(snake("TLSCertificates")).toBe("tls_certificates");
});
