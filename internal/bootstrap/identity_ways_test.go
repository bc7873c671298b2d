package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// marked has a request routed by its x-way header, all by the same path: that of Envoy's own stream.
const marked = `{match: {prefix: /, headers: [{name: x-way, string_match: {exact: %s}}]}, route: {%s}}`

// stripped takes away whatever of a request shows that it was routed, as far as a route can.
const stripped = `, request_headers_to_remove: [x-request-id, x-forwarded-for, x-forwarded-proto, x-envoy-internal, x-envoy-expected-rq-timeout-ms, user-agent]`

// routes are the ways of a route to the cluster fairlead_xds. The cluster elsewhere leads to the same server, and is the
// attacker's own.
var routes = map[string]string{
	"route":           `cluster: fairlead_xds, timeout: 0s`,
	"weighted":        `weighted_clusters: {clusters: [{name: fairlead_xds, weight: 1}]}`,
	"cluster_header":  `cluster_header: x-cluster`,
	"mirror":          `cluster: elsewhere, request_mirror_policies: [{cluster: fairlead_xds, disable_shadow_host_suffix_append: true}]`,
	"mirror_header":   `cluster: elsewhere, request_mirror_policies: [{cluster_header: x-cluster, disable_shadow_host_suffix_append: true}]`,
	"aggregate":       `cluster: aggregate`,
	"to its name":     `cluster: fairlead_xds, host_rewrite_literal: fairlead_xds`,
	"internal listen": `cluster: inward`,
}

// hcm is a listener with HTTP filters before its router, each {name, typed_config}.
func hcm(name, address, connection, routes string, filters ...string) string {
	all := strings.Join(append(filters, `{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`), ",\n    ")
	return fmt.Sprintf(`{name: %s, %s, filter_chains: [{filters: [{name: hcm, typed_config: {
  "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: l, %s
  http_filters: [%s],
  route_config: {name: %s, virtual_hosts: [{name: v, domains: ["*"], routes: [%s]}]}}}]}]}`, name, address, connection, all, name, routes)
}

const anyPort = `address: {socket_address: {address: 127.0.0.1, port_value: 0}}`

// filter is an HTTP filter.
func filter(name, body string) string {
	return fmt.Sprintf(`{name: %s, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.%s, %s}}`, name, name, body)
}

const (
	// service is a gRPC service at the bootstrap's cluster that looks as much like Envoy's own as its configuration can have it.
	service = `grpc_service: {envoy_grpc: {cluster_name: fairlead_xds, skip_envoy_headers: true}, timeout: 1s}`
	luaCode = `function envoy_on_request(h)
  h:httpCall("fairlead_xds", {[":method"] = "POST", [":path"] = "PATH", [":authority"] = "fairlead_xds", ["content-type"] = "application/grpc", te = "trailers", ["x-way"] = "lua",
    ["fairlead-origin"] = "0,,,,PATH"}, "\0\0\0\0\0", {asynchronous = true, timeout_ms = 1000, send_xff = false})
end`
)

// aside is a listener whose requests make Envoy ask the bootstrap's cluster beside them. sees is the way of what arrives then.
type aside struct{ text, sees string }

// asides have names that are their listeners'. path is that of Envoy's own stream.
func asides(path string) map[string]aside {
	direct := `{match: {prefix: /}, direct_response: {status: 200}}`
	uri := `uri: "http://127.0.0.1` + path + `", cluster: fairlead_xds, timeout: 1s`
	grpcLog := func(kind string) string {
		return fmt.Sprintf(`access_log: [{name: als, typed_config: {"@type": type.googleapis.com/envoy.extensions.access_loggers.%s,
    common_config: {log_name: l, transport_api_version: V3, buffer_size_bytes: 1, `+service+`}}}],`, kind)
	}
	return map[string]aside{
		"ext_authz_http": {hcm("ext_authz_http", anyPort, "", direct, filter("ext_authz.v3.ExtAuthz", `http_service: {server_uri: {`+uri+`},
      authorization_request: {headers_to_add: [{key: x-way, value: ext_authz_http}, {key: content-type, value: application/grpc}]}}, with_request_body: {max_request_bytes: 1000},
      allowed_headers: {patterns: [{exact: te}, {prefix: fairlead-}]}`)), "ext_authz_http"},
		"ext_authz_grpc": {hcm("ext_authz_grpc", anyPort, "", direct, filter("ext_authz.v3.ExtAuthz", `transport_api_version: V3, `+service)),
			"POST /envoy.service.auth.v3.Authorization/Check application/grpc"},
		"ext_proc": {hcm("ext_proc", anyPort, "", direct, filter("ext_proc.v3.ExternalProcessor", service)),
			"POST /envoy.service.ext_proc.v3.ExternalProcessor/Process application/grpc"},
		"ratelimit": {hcm("ratelimit", anyPort, "", `{match: {prefix: /}, route: {cluster: elsewhere, rate_limits: [{actions: [{generic_key: {descriptor_value: a}}]}]}}`,
			filter("ratelimit.v3.RateLimit", `domain: d, rate_limit_service: {transport_api_version: V3, `+service+`}`)),
			"POST /envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit application/grpc"},
		"jwks": {hcm("jwks", anyPort, "", direct, filter("jwt_authn.v3.JwtAuthentication", `providers: {p: {issuer: i, remote_jwks: {http_uri: {`+uri+`}, async_fetch: {}}}}, rules: [{match: {prefix: /}, requires: {provider_name: p}}]`)),
			"GET " + path + " "},
		"lua": {hcm("lua", anyPort, "", direct, filter("lua.v3.Lua", fmt.Sprintf("default_source_code: {inline_string: %q}", strings.ReplaceAll(luaCode, "PATH", path)))),
			"lua"},
		"als": {hcm("als", anyPort, grpcLog("grpc.v3.HttpGrpcAccessLogConfig"), direct),
			"POST /envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs application/grpc"},
		"zipkin": {hcm("zipkin", anyPort, `tracing: {random_sampling: {value: 100}, provider: {name: envoy.tracers.zipkin, typed_config: {"@type": type.googleapis.com/envoy.config.trace.v3.ZipkinConfig,
  collector_cluster: fairlead_xds, collector_endpoint: `+path+`, collector_endpoint_version: HTTP_JSON}}},`, direct), "POST " + path + " application/json"},
	}
}

// layer4 are listeners of which all bytes go to the bootstrap's cluster.
func layer4(path string) map[string]string {
	proxy := `{name: %s, ` + anyPort + `, filter_chains: [{filters: [{name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, %s}}]}]}`
	tunnel := `tunneling_config: {hostname: fairlead_xds, use_post: true, post_path: ` + path + `, headers_to_add: [{header: {key: x-way, value: tunnel}}, {header: {key: content-type, value: application/grpc}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}, {header: {key: te, value: trailers}}]}`
	return map[string]string{
		"tcp":          fmt.Sprintf(proxy, "tcp", `cluster: fairlead_xds`),
		"tcp_weighted": fmt.Sprintf(proxy, "tcp_weighted", `weighted_clusters: {clusters: [{name: fairlead_xds, weight: 1}]}`),
		"tunnel":       fmt.Sprintf(proxy, "tunnel", `cluster: fairlead_xds, `+tunnel),
	}
}

// content is what somebody serves who may write everything: each way to the cluster that the bootstrap has.
// Where it has none, server is one of the same name.
func content(t *testing.T, path, socket, server string, withCluster bool) map[string][]*discoveryv3.Resource {
	t.Helper()
	var all []string
	for _, way := range sortedKeys(routes) {
		all = append(all, fmt.Sprintf(marked, `"`+way+`"`, routes[way])[:len(fmt.Sprintf(marked, `"`+way+`"`, routes[way]))-1]+stripped+"}")
	}
	quiet := `generate_request_id: false,`
	listeners := []string{
		hcm("routes", anyPort, quiet, strings.Join(all, ",\n      ")),
		hcm("pipe", `address: {pipe: {path: `+socket+`}}`, quiet, `{match: {prefix: /}, route: {cluster: fairlead_xds}`+stripped+`}`),
		hcm("inward", `internal_listener: {}`, quiet, `{match: {prefix: /}, route: {cluster: fairlead_xds}`+stripped+`}`),
	}
	if !strings.HasPrefix(path, pollPath) { // what a filter asks for over HTTP looks like a poll, and over HTTP/1.1 there is no gRPC: docs/rest.md
		for _, a := range asides(path) {
			listeners = append(listeners, a.text)
		}
	}
	for _, text := range layer4(path) {
		listeners = append(listeners, text)
	}
	clusters := []string{
		strings.ReplaceAll(server, "NAME", "elsewhere"),
		`{name: aggregate, connect_timeout: 1s, lb_policy: CLUSTER_PROVIDED, cluster_type: {name: envoy.clusters.aggregate, typed_config: {"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [fairlead_xds]}}}`,
		`{name: inward, type: STATIC, connect_timeout: 1s, load_assignment: {cluster_name: inward, endpoints: [{lb_endpoints: [{endpoint: {address: {envoy_internal_address: {server_listener_name: inward}}}}]}]}, ` + http2("") + `}`,
	}
	if withCluster {
		clusters = append(clusters, strings.ReplaceAll(server, "NAME", "fairlead_xds"))
	}
	return map[string][]*discoveryv3.Resource{listenerType: resources(t, listenerType, listeners), clusterType: resources(t, clusterType, clusters)}
}

func http2(more string) string {
	return `typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {"@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {}}` + more + `}}`
}

func resources(t *testing.T, typeURL string, texts []string) (all []*discoveryv3.Resource) {
	t.Helper()
	for _, text := range texts {
		all = append(all, resource(t, typeURL, text))
	}
	return all
}
