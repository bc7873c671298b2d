// Sound documents to begin with: from a few words to what Envoy wants.
import type { ResourceType } from "../api/client";
import { yamlOf } from "../code/convert";

export interface Field {
  name: string;
  label: string;
  about?: string;
  /** What stands there at first. */
  initial?: string;
  placeholder?: string;
  kind: "text" | "number" | "lines" | "choice" | "switch";
  /** Of a choice. */
  choices?: readonly { value: string; label: string }[];
  /** Names of this type are offered. */
  offers?: ResourceType;
  optional?: boolean;
  /** Only asked where another field is like this. */
  when?: (values: Values) => boolean;
}

export type Values = Readonly<Record<string, string>>;

export interface Kind {
  kind: string;
  type: ResourceType;
  title: string;
  about: string;
  fields: readonly Field[];
  make: (values: Values) => Doc;
}

interface Doc {
  type: ResourceType;
  name: string;
  body: unknown;
}

const ads = { ads: {}, resource_api_version: "V3" };
const any = (message: string) => `type.googleapis.com/${message}`;
const name = (about: string): Field => ({ name: "name", label: "Name", about, kind: "text" });

const listener: Kind = {
  kind: "listener",
  type: "listeners",
  title: "HTTP listener",
  about: "Takes HTTP requests at an address and hands them to a route configuration.",
  fields: [
    name("Such as ingress."),
    { name: "address", label: "Address", about: "0.0.0.0 is every address of the machine.", kind: "text", initial: "0.0.0.0" },
    { name: "port", label: "Port", kind: "number", initial: "8080" },
    { name: "route", label: "Route configuration", about: "Which one says where requests go.", kind: "text", offers: "routes" },
    { name: "secret", label: "TLS secret", about: "With one it takes HTTPS. Left empty: plain HTTP.", kind: "text", offers: "secrets", optional: true },
  ],
  make: (v) => ({
    type: "listeners",
    name: v.name ?? "",
    body: {
      name: v.name,
      address: { socket_address: { address: v.address, port_value: Number(v.port) } },
      filter_chains: [
        {
          filters: [
            {
              name: "envoy.filters.network.http_connection_manager",
              typed_config: {
                "@type": any("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
                stat_prefix: v.name,
                rds: { route_config_name: v.route, config_source: ads },
                http_filters: [{ name: "envoy.filters.http.router", typed_config: { "@type": any("envoy.extensions.filters.http.router.v3.Router") } }],
              },
            },
          ],
          ...(v.secret && { transport_socket: downstreamTls(v.secret) }),
        },
      ],
    },
  }),
};

function downstreamTls(secret: string) {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": any("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"),
      common_tls_context: { tls_certificate_sds_secret_configs: [{ name: secret, sds_config: ads }] },
    },
  };
}

const route: Kind = {
  kind: "route",
  type: "routes",
  title: "Route",
  about: "Says which requests go to which cluster.",
  fields: [
    name("The one that a listener names."),
    { name: "domains", label: "Domains", about: "One a line; * is any.", kind: "lines", initial: "*" },
    { name: "prefix", label: "Path begins with", kind: "text", initial: "/" },
    { name: "cluster", label: "Cluster", about: "Where the requests go.", kind: "text", offers: "clusters" },
  ],
  make: (v) => ({
    type: "routes",
    name: v.name ?? "",
    body: { name: v.name, virtual_hosts: [{ name: v.name, domains: linesOf(v.domains), routes: [{ match: { prefix: v.prefix }, route: { cluster: v.cluster } }] }] },
  }),
};

const cluster: Kind = {
  kind: "cluster",
  type: "clusters",
  title: "Cluster",
  about: "A service that requests can go to, and how it is reached.",
  fields: [
    name("Such as backend."),
    {
      name: "discovery",
      label: "Its addresses",
      kind: "choice",
      initial: "EDS",
      choices: [
        { value: "EDS", label: "are kept in Fairlead, as endpoints of the same name" },
        { value: "STRICT_DNS", label: "come from DNS, all of them" },
        { value: "LOGICAL_DNS", label: "come from DNS, one at a time" },
        { value: "STATIC", label: "stand in the cluster" },
      ],
    },
    { name: "addresses", label: "Addresses", about: "host:port, one a line.", kind: "lines", placeholder: "backend.internal:8080", when: (v) => v.discovery !== "EDS" },
    { name: "timeout", label: "Connect timeout", kind: "text", initial: "1s" },
    { name: "http2", label: "Speaks HTTP/2 (gRPC)", kind: "switch", initial: "", optional: true },
    { name: "sni", label: "TLS, with this server name", about: "Left empty: no TLS. The server's certificate is checked only when you add a validation context.", kind: "text", optional: true },
  ],
  make: (v) => ({
    type: "clusters",
    name: v.name ?? "",
    body: {
      name: v.name,
      type: v.discovery,
      ...(v.discovery === "EDS" ? { eds_cluster_config: { eds_config: ads } } : { load_assignment: assignment(v.name ?? "", v.addresses) }),
      connect_timeout: v.timeout,
      ...(v.http2 && {
        typed_extension_protocol_options: {
          "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": { "@type": any("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"), explicit_http_config: { http2_protocol_options: {} } },
        },
      }),
      ...(v.sni && { transport_socket: { name: "envoy.transport_sockets.tls", typed_config: { "@type": any("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"), sni: v.sni } } }),
    },
  }),
};

const endpoints: Kind = {
  kind: "endpoints",
  type: "endpoints",
  title: "Endpoints",
  about: "The addresses of a cluster. They change without the cluster.",
  fields: [
    { ...name("The cluster that they are of."), label: "Cluster", offers: "clusters" },
    { name: "addresses", label: "Addresses", about: "host:port, one a line; the host is an IP address.", kind: "lines", placeholder: "10.0.0.1:8080" },
  ],
  make: (v) => ({ type: "endpoints", name: v.name ?? "", body: assignment(v.name ?? "", v.addresses) }),
};

const secret: Kind = {
  kind: "secret",
  type: "secrets",
  title: "TLS secret",
  about: "A certificate and its private key, for a listener. What you type never comes back.",
  fields: [name("The one that a listener names.")],
  make: (v) => tlsSecret(v.name ?? "", "", ""),
};

export const kinds: readonly Kind[] = [listener, route, cluster, endpoints, secret];

export function tlsSecret(secretName: string, certificate: string, key: string): Doc {
  return { type: "secrets", name: secretName, body: { name: secretName, tls_certificate: { certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } } } };
}

/** The beginning of a document of any type. */
export function blank(type: ResourceType, resourceName: string): string {
  const field = type === "endpoints" ? "cluster_name" : "name";
  return yamlOf({ type, name: resourceName, body: { [field]: resourceName } });
}

/** The document that the fields make. */
export function textOf(kind: Kind, values: Values): string {
  return yamlOf(kind.make(values));
}

export function initialOf(kind: Kind, given: Values): Record<string, string> {
  return Object.fromEntries(kind.fields.map((f) => [f.name, given[f.name] ?? f.initial ?? ""]));
}

/** What is wrong with a field, in words. */
export function fieldFault(f: Field, value: string): string | undefined {
  if (value.trim() === "") return f.optional || f.kind === "switch" ? undefined : "";
  if (f.kind === "number" && !(Number.isInteger(Number(value)) && Number(value) >= 1 && Number(value) <= 65535)) return "A port is 1 to 65535.";
  if (f.name === "addresses") {
    const bad = linesOf(value).find((l) => !addressOf(l));
    if (bad !== undefined) return `${bad} is not host:port.`;
  }
  return undefined;
}

function linesOf(text: string | undefined): string[] {
  return (text ?? "").split(/[\n,]/).map((l) => l.trim()).filter((l) => l !== "");
}

function addressOf(line: string): { address: string; port_value: number } | undefined {
  const match = /^\[?([^\]\s]+?)\]?:([0-9]{1,5})$/.exec(line);
  const port = Number(match?.[2]);
  return match?.[1] !== undefined && port >= 1 && port <= 65535 ? { address: match[1], port_value: port } : undefined;
}

function assignment(clusterName: string, addresses: string | undefined) {
  const found = linesOf(addresses).flatMap((l) => addressOf(l) ?? []);
  return { cluster_name: clusterName, endpoints: [{ lb_endpoints: found.map((a) => ({ endpoint: { address: { socket_address: a } } })) }] };
}
