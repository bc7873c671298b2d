package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
)

// TestWhatIsMissingDoesWhatEnvoyDoes: what Envoy 1.36 and 1.40 were seen to do of each field where the cluster "gone" is not there.
func TestWhatIsMissingDoesWhatEnvoyDoes(t *testing.T) {
	t.Parallel()
	const (
		byName   = ", rds: {route_config_name: r, config_source: {ads: {}}}"
		filters  = "type.googleapis.com/envoy.extensions.filters."
		grpc     = "grpc_service: {envoy_grpc: {cluster_name: gone}}"
		uri      = "{uri: 'http://x/y', timeout: 1s, cluster: gone}"
		source   = "{api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: gone}}]}}"
		vhosts   = "virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {%s}}]}]"
		refused  = "error Envoy refuses listeners/l "
		fails    = "error what is sent there fails, requests with 503"
		asked    = "error what is asked there is not answered"
		logs     = "warning the logs that go there are lost"
		traces   = "warning the traces that go there are lost"
		copies   = "warning the copies that go there are lost"
		oneOfMem = "error the cluster does without it"
	)
	routes := func(action, more string) string {
		return listener("l", hcmType+", route_config: {name: r, "+fmt.Sprintf(vhosts, action)+more+"}")
	}
	http := func(typ, fields string) string {
		return listener("l", hcmType+byName+", http_filters: [{name: f, typed_config: {'@type': "+filters+"http."+typ+", "+fields+"}}]")
	}
	network := func(typ, fields string) string { return listener("l", "'@type': "+filters+"network."+typ+", "+fields) }
	tracer := func(typ, fields string) string {
		return listener("l", hcmType+byName+", tracing: {provider: {name: t, typed_config: {'@type': type.googleapis.com/envoy."+typ+", "+fields+"}}}")
	}
	log := func(typ, fields string) string {
		return listener("l", hcmType+byName+", access_log: [{name: a, typed_config: {'@type': type.googleapis.com/envoy.extensions.access_loggers."+typ+", "+fields+"}}]")
	}
	thrift := func(more string) string {
		return network("thrift_proxy.v3.ThriftProxy", "stat_prefix: s, route_config: {name: r, "+more+"routes: [{match: {method_name: ''}, route: {cluster: gone}}]}")
	}
	for name, c := range map[string]struct{ doc, want string }{
		"a listener's own route":               {routes("cluster: gone", ""), refused},
		"a weighted one":                       {routes("weighted_clusters: {clusters: [{name: gone, weight: 1}]}", ""), refused},
		"a mirror":                             {routes("cluster: c, request_mirror_policies: [{cluster: gone}]", ""), refused},
		"a mirror of all routes":               {routes("cluster: c", ", request_mirror_policies: [{cluster: gone}]"), refused},
		"one that is not checked":              {routes("cluster: gone", ", validate_clusters: false"), fails},
		"a mirror that is not checked":         {routes("cluster: c, request_mirror_policies: [{cluster: gone}]", ", validate_clusters: false"), copies},
		"a route in a matcher":                 {listener("l", hcmType+", route_config: {name: r, virtual_hosts: [{name: v, domains: ['*'], matcher: {on_no_match: {action: {name: route, typed_config: {'@type': type.googleapis.com/envoy.config.route.v3.Route, match: {prefix: /}, route: {cluster: gone}}}}}}]}"), fails},
		"what a plugin falls back to":          {routes("inline_cluster_specifier_plugin: {extension: {name: p, typed_config: {'@type': type.googleapis.com/envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig, source_code: {inline_string: x}, default_cluster: gone}}}", ""), fails},
		"a scope's own route":                  {listener("l", hcmType+", scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, scoped_route_configurations_list: {scoped_route_configurations: [{name: a, key: {fragments: [{string_key: k}]}, route_configuration: {name: r, "+fmt.Sprintf(vhosts, "cluster: gone")+"}}]}}"), refused},
		"a route that is fetched":              {route("r", "cluster: gone"), fails},
		"one that is checked":                  {strings.Replace(route("r", "cluster: gone"), "virtual_hosts", "validate_clusters: true, virtual_hosts", 1), "error Envoy refuses routes/r "},
		"a mirror of a route that is fetched":  {route("r", "cluster: c, request_mirror_policies: [{cluster: gone}]"), copies},
		"an extension that has routes":         {"{type: extensions, name: e, body: {name: e, typed_config: {" + hcmType + ", route_config: {name: r, " + fmt.Sprintf(vhosts, "cluster: gone") + "}}}}", "error Envoy refuses extensions/e "},
		"zipkin":                               {tracer("config.trace.v3.ZipkinConfig", "collector_cluster: gone, collector_endpoint: /x"), refused},
		"zipkin by a service":                  {tracer("config.trace.v3.ZipkinConfig", "collector_service: {http_uri: "+uri+"}"), refused},
		"datadog":                              {tracer("config.trace.v3.DatadogConfig", "collector_cluster: gone, service_name: s"), refused},
		"skywalking":                           {tracer("config.trace.v3.SkyWalkingConfig", grpc), traces},
		"opentelemetry":                        {tracer("config.trace.v3.OpenTelemetryConfig", grpc), traces},
		"opentelemetry over HTTP":              {tracer("config.trace.v3.OpenTelemetryConfig", "http_service: {http_uri: "+uri+"}"), traces},
		"fluentd traces":                       {tracer("extensions.tracers.fluentd.v3.FluentdConfig", "cluster: gone, tag: t, stat_prefix: s"), traces},
		"logs over gRPC":                       {log("grpc.v3.HttpGrpcAccessLogConfig", "common_config: {log_name: l, transport_api_version: V3, "+grpc+"}"), logs},
		"opentelemetry logs":                   {log("open_telemetry.v3.OpenTelemetryAccessLogConfig", grpc), logs},
		"opentelemetry logs over HTTP":         {log("open_telemetry.v3.OpenTelemetryAccessLogConfig", "http_service: {http_uri: "+uri+"}"), logs},
		"fluentd logs":                         {log("fluentd.v3.FluentdAccessLogConfig", "cluster: gone, tag: t, stat_prefix: s, record: {a: b}"), refused + "unless it stands in its bootstrap"},
		"ext_authz":                            {http("ext_authz.v3.ExtAuthz", grpc+", transport_api_version: V3"), asked},
		"ext_authz over HTTP":                  {http("ext_authz.v3.ExtAuthz", "http_service: {server_uri: "+uri+"}, transport_api_version: V3"), asked},
		"ratelimit":                            {http("ratelimit.v3.RateLimit", "domain: d, rate_limit_service: {transport_api_version: V3, "+grpc+"}"), asked},
		"ext_proc":                             {http("ext_proc.v3.ExternalProcessor", grpc), asked},
		"keys of tokens":                       {http("jwt_authn.v3.JwtAuthentication", "providers: {p: {issuer: i, remote_jwks: {http_uri: "+uri+"}}}"), asked},
		"ext_authz of connections":             {network("ext_authz.v3.ExtAuthz", "stat_prefix: s, transport_api_version: V3, "+grpc), asked},
		"a health check that looks at it":      {http("health_check.v3.HealthCheck", "pass_through_mode: false, cluster_min_healthy_percentages: {gone: {value: 10}}"), "error the health check that the filter answers fails"},
		"connections":                          {network("tcp_proxy.v3.TcpProxy", "stat_prefix: s, cluster: gone"), fails},
		"redis":                                {network("redis_proxy.v3.RedisProxy", "stat_prefix: s, settings: {op_timeout: 1s}, prefix_routes: {catch_all_route: {cluster: gone}}"), fails},
		"a mirror of redis":                    {network("redis_proxy.v3.RedisProxy", "stat_prefix: s, settings: {op_timeout: 1s}, prefix_routes: {catch_all_route: {cluster: c, request_mirror_policy: [{cluster: gone}]}}"), copies},
		"thrift":                               {thrift(""), refused},
		"thrift that is not checked":           {thrift("validate_clusters: false, "), fails},
		"a source":                             {listener("l", hcmType+", rds: {route_config_name: r, config_source: "+source+"}"), refused + "unless it stands in its bootstrap"},
		"a source of a secret":                 {"{type: clusters, name: x, body: {name: x, transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {validation_context_sds_secret_config: {name: ca, sds_config: " + source + "}}}}}}", "error the secret is not fetched"},
		"a source of endpoints":                {"{type: clusters, name: x, body: {name: x, type: EDS, eds_cluster_config: {eds_config: " + source + "}}}", "error Envoy refuses clusters/x unless it stands in its bootstrap"},
		"a source by the name of its clusters": {listener("l", hcmType+", rds: {route_config_name: r, config_source: {api_config_source: {api_type: REST, cluster_names: [gone], refresh_delay: 1s}}}"), refused + "unless it stands in its bootstrap"},
		"one of an aggregate":                  {aggregate("x", "gone"), oneOfMem},
		"code of Wasm":                         {http("wasm.v3.Wasm", "config: {vm_config: {runtime: envoy.wasm.runtime.v8, code: {remote: {sha256: x, http_uri: "+uri+"}}}}"), "error the code is not fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := false
			for _, f := range check(findings.Fleet{Resources: stored(t, c.doc, cluster("c")), Now: now}) {
				if f.Code != findings.MissingReference || f.To != (fleet.Ref{Type: fleet.Cluster, Name: "gone"}) {
					continue
				}
				found = true
				severity, says, _ := strings.Cut(c.want, " ")
				if string(f.Severity) != severity || !strings.Contains(f.Detail, ": "+says) {
					t.Errorf("%s: %s, want %s: ... %q", f.Severity, f.Detail, severity, says)
				}
				if bootstrap := strings.Contains(c.want, "bootstrap"); bootstrap == strings.Contains(f.Detail, "write it") {
					t.Errorf("what to do: %s", f.Detail)
				}
			}
			if !found {
				t.Error("nothing is found")
			}
		})
	}
}

// TestARefusedListenerForSomeNodes: what is said of a listener that Envoy refuses, of a cluster that is deleted, and of one that some nodes have not.
func TestARefusedListenerForSomeNodes(t *testing.T) {
	t.Parallel()
	own := listener("l", hcmType+", route_config: {name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}}]}]}")
	for want, f := range map[string]findings.Fleet{
		"listeners/l names clusters/c, which this deletes: what is sent there fails, and a proxy that starts refuses listeners/l, but in nodes that keep something withheld or deleted that uses it; keep it, or let nothing name it": {
			Resources: stored(t, own), Deletes: map[fleet.Ref]bool{{Type: fleet.Cluster, Name: "c"}: true},
		},
		"listeners/l names clusters/c, of which there are variants alone: 1 node, \"b\", has none of them, and there Envoy refuses listeners/l while it is not there; nodes keep what they have of it, or go without, and are offered it again when the cluster comes; those that took it before have it still, and what they send there fails; write a default variant, or let a selector match them too": {
			Resources: stored(t, own, variant(cluster("c"), "a", "node.id=a")), Nodes: nodes("a", "b"),
		},
	} {
		f.Now = now
		var got []string
		for _, x := range check(f) {
			if x.To.Name == "c" {
				got = append(got, x.Detail)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("said is %q, want %q", got, want)
		}
	}
}
