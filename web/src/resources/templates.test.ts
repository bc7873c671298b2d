import { expect, test } from "vitest";
import { parse } from "yaml";
import { blank, fieldFault, initialOf, kinds, textOf, tlsSecret } from "./templates";

const kind = (name: string) => {
  const found = kinds.find((k) => k.kind === name);
  if (!found) throw new Error(name);
  return found;
};
const made = (name: string, values: Record<string, string>): unknown => parse(textOf(kind(name), initialOf(kind(name), values)));

test("a listener, with TLS where a secret is named", () => {
  const plain = made("listener", { name: "in", route: "main" });
  expect(plain).toMatchObject({ type: "listeners", name: "in", body: { address: { socket_address: { address: "0.0.0.0", port_value: 8080 } }, filter_chains: [{ filters: [{ typed_config: { rds: { route_config_name: "main" } } }] }] } });
  expect(JSON.stringify(plain)).not.toContain("transport_socket");
  expect(made("listener", { name: "in", route: "main", secret: "cert" })).toMatchObject({
    body: { filter_chains: [{ transport_socket: { typed_config: { common_tls_context: { tls_certificate_sds_secret_configs: [{ name: "cert" }] } } } }] },
  });
});

test("a route, with a domain a line", () => {
  expect(made("route", { name: "main", domains: "a.example\n b.example \n\n", cluster: "c" })).toMatchObject({ body: { virtual_hosts: [{ domains: ["a.example", "b.example"], routes: [{ match: { prefix: "/" }, route: { cluster: "c" } }] }] } });
});

test("a cluster by endpoints or by addresses", () => {
  expect(made("cluster", { name: "c" })).toMatchObject({ body: { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } }, connect_timeout: "1s" } });
  const dns = made("cluster", { name: "c", discovery: "STRICT_DNS", addresses: "a.internal:80, [::1]:81", http2: "yes", sni: "a" });
  expect(dns).toMatchObject({ body: { load_assignment: { cluster_name: "c", endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: "a.internal", port_value: 80 } } } }, { endpoint: { address: { socket_address: { address: "::1", port_value: 81 } } } }] }] }, transport_socket: { typed_config: { sni: "a" } } } });
  expect(JSON.stringify(dns)).toContain("http2_protocol_options");
});

test("a text that looks like a number stays a text", () => {
  expect(made("route", { name: "123", cluster: "true" })).toMatchObject({ name: "123", body: { virtual_hosts: [{ routes: [{ route: { cluster: "true" } }] }] } });
});

test("endpoints, secrets and blank documents", () => {
  expect(made("endpoints", { name: "c", addresses: "10.0.0.1:80" })).toMatchObject({ type: "endpoints", body: { cluster_name: "c" } });
  expect(tlsSecret("s", "CERT", "KEY")).toMatchObject({ body: { tls_certificate: { private_key: { inline_string: "KEY" } } } });
  expect(parse(blank("endpoints", "x"))).toEqual({ type: "endpoints", name: "x", body: { cluster_name: "x" } });
});

test("faults of fields, in words; what is not filled in is no error yet", () => {
  const field = (k: string, f: string) => {
    const found = kind(k).fields.find((x) => x.name === f);
    if (!found) throw new Error(f);
    return found;
  };
  expect(fieldFault(field("listener", "port"), "0")).toBe("A port is 1 to 65535.");
  expect(fieldFault(field("listener", "port"), "80")).toBeUndefined();
  expect(fieldFault(field("listener", "name"), " ")).toBe("");
  expect(fieldFault(field("listener", "secret"), "")).toBeUndefined();
  expect(fieldFault(field("cluster", "addresses"), "a:80\nb")).toBe("b is not host:port.");
  expect(fieldFault(field("cluster", "addresses"), "a:99999")).toBe("a:99999 is not host:port.");
});
