// Schemas of the shape that the server makes, small, for the tests.
import type { Get, Place, SchemaObject } from "./schema-types";

const docs = "https://www.envoyproxy.io/docs/envoy/v1.40.0/api-v3/config/cluster/v3/cluster.proto#envoy-v3-api-msg-config-cluster-v3-cluster";
const router = "envoy.extensions.filters.http.router.v3.Router";
const url = (message: string) => `type.googleapis.com/${message}`;

export const cluster: SchemaObject = {
  $id: "/v1/schemas/clusters",
  title: "Cluster",
  description: docs,
  type: "object",
  additionalProperties: false,
  allOf: [{ oneOf: [{ required: ["type"] }, { anyOf: [{ required: ["cluster_type"] }, { required: ["clusterType"] }] }, { not: { anyOf: [{ required: ["type"] }, { anyOf: [{ required: ["cluster_type"] }, { required: ["clusterType"] }] }] } }] }],
  patternProperties: { "^(connectTimeout|edsClusterConfig|clusterType)$": true },
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1 },
    connect_timeout: { type: "string", pattern: "^(-?[0-9]+(\\.[0-9]{1,9})?s)$|\\$\\{" },
    type: { $ref: "#/$defs/DiscoveryType" },
    cluster_type: { $ref: "#/$defs/any:listed" },
    eds_cluster_config: { $ref: "#/$defs/Eds" },
    per_connection_buffer_limit_bytes: { minimum: 0, maximum: 4294967295, type: ["integer", "string"] },
    max_requests: { deprecated: true, type: ["integer", "string"] },
    respect_dns_ttl: { type: "boolean" },
    health_checks: { type: "array", maxItems: 2, items: { $ref: "#/$defs/HealthCheck" } },
    typed_extension_protocol_options: { type: "object", additionalProperties: { $ref: "#/$defs/any:listed" } },
    other: { properties: { "@type": { type: "string" } }, required: ["@type"], type: "object" },
  },
  $defs: {
    DiscoveryType: { anyOf: [{ enum: ["STATIC", "STRICT_DNS", "EDS"] }, { type: "integer" }, { pattern: "\\$\\{", type: "string" }], title: "DiscoveryType" },
    Eds: { title: "EdsClusterConfig", type: "object", additionalProperties: false, patternProperties: { "^(serviceName)$": true }, properties: { ads: { $ref: "#/$defs/Ads" }, service_name: { type: "string" } } },
    Ads: { title: "AggregatedConfigSource", type: "object", additionalProperties: false },
    HealthCheck: { title: "HealthCheck", type: "object", additionalProperties: false, allOf: [{ required: ["timeout"] }], properties: { timeout: { type: "string" }, interval: { type: "string" }, kind: { anyOf: [{ const: "a-b" }, { const: "c-d" }, { pattern: "\\$\\{" }], type: "string" } } },
    "urls:listed": { enum: [url("xds.type.v3.TypedStruct"), url(router)] },
    "any:listed": {
      type: "object",
      required: ["@type"],
      properties: { "@type": { anyOf: [{ $ref: "#/$defs/urls:listed" }, { type: "string" }] } },
      if: { properties: { "@type": { $ref: "#/$defs/urls:listed" } } },
      then: { anyOf: [{ $ref: `/v1/schemas/type/${router}` }, { properties: { "@type": { const: url("xds.type.v3.TypedStruct") } } }] },
    },
  },
};

const routerSchema: SchemaObject = {
  title: "Router",
  description: "https://www.envoyproxy.io/docs/router.proto#envoy-v3-api-msg-router",
  type: "object",
  additionalProperties: false,
  patternProperties: { "^(dynamicStats)$": true },
  properties: { "@type": { const: url(router) }, dynamic_stats: { type: "boolean" } },
};

export const get: Get = (path) => ({ "/v1/schemas/clusters": cluster, [`/v1/schemas/type/${router}`]: routerSchema })[path];
export const place: Place = { schema: cluster, root: cluster };
export const routerUrl = url(router);
