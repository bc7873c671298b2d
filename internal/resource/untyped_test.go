package resource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/resource"
)

const (
	filterURL    = "type.googleapis.com/envoy.extensions.filters."
	managerOf    = "{type: listeners, name: l, body: {name: l, address: {socket_address: {address: 127.0.0.1, port_value: 80}}, filter_chains: [{filters: [{name: h, typed_config: {'@type': " + filterURL + "network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, rds: {route_config_name: r, config_source: {ads: {}}}, PART}}]}]}}"
	listenerOf   = "{type: listeners, name: l, body: {name: l, address: {socket_address: {address: 127.0.0.1, port_value: 80}}, PART}}"
	clusterOf    = "{type: clusters, name: a, body: {name: a, PART}}"
	routeOf      = "{type: routes, name: r, body: {name: r, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c, retry_policy: {PART}}}]}]}}"
	inManager    = "/body/filter_chains/0/filters/0/typed_config/"
	stdoutLogger = "{'@type': type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog}"
)

// TestAnExtensionThatIsNamedAlone: Envoy 1.36 and 1.40 refuse each with "Didn't find a registered implementation for ... with type URL: ”".
func TestAnExtensionThatIsNamedAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, part, at, say string }{
		{managerOf, "http_filters: [{name: envoy.filters.http.router}]", inManager + "http_filters/0/typed_config", "{\"@type\": " + filterURL + "http.router.v3.Router}"},
		{managerOf, "http_filters: [{name: envoy.router}]", inManager + "http_filters/0/typed_config", "{\"@type\": " + filterURL + "http.router.v3.Router}"},
		{managerOf, "http_filters: [{name: mine, disabled: true}]", inManager + "http_filters/0/typed_config", "its documentation"},
		{managerOf, "access_log: [{name: envoy.access_loggers.stdout}]", inManager + "access_log/0/typed_config", "its documentation"},
		{managerOf, "access_log: [{name: s, typed_config: " + stdoutLogger + ", filter: {extension_filter: {name: cel}}}]", inManager + "access_log/0/filter/extension_filter/typed_config", "its documentation"},
		{managerOf, "tracing: {provider: {name: envoy.tracers.zipkin}}", inManager + "tracing/provider/typed_config", "its documentation"},
		{listenerOf, "listener_filters: [{name: envoy.filters.listener.tls_inspector}]", "/body/listener_filters/0/typed_config", "{\"@type\": " + filterURL + "listener.tls_inspector.v3.TlsInspector}"},
		{listenerOf, "filter_chains: [{filters: [{name: envoy.filters.network.echo}]}]", "/body/filter_chains/0/filters/0/typed_config", "network.echo.v3.Echo}"},
		{listenerOf, "filter_chains: [{filters: [{name: t, typed_config: {'@type': " + filterURL + "network.thrift_proxy.v3.ThriftProxy, stat_prefix: x, thrift_filters: [{name: r}]}}]}]", "/body/filter_chains/0/filters/0/typed_config/thrift_filters/0/typed_config", "its documentation"},
		{listenerOf, "listener_filters: [{name: u, typed_config: {'@type': " + filterURL + "udp.udp_proxy.v3.UdpProxyConfig, stat_prefix: x, cluster: c, session_filters: [{name: envoy.filters.udp.session.http_capsule}]}}]", "/body/listener_filters/0/typed_config/session_filters/0/typed_config", "its documentation"},
		{clusterOf, "transport_socket: {name: envoy.transport_sockets.raw_buffer}", "/body/transport_socket/typed_config", "transport_sockets.raw_buffer.v3.RawBuffer}"},
		{clusterOf, "transport_socket_matches: [{name: m, transport_socket: {name: tls}}]", "/body/transport_socket_matches/0/transport_socket/typed_config", "its documentation"},
		{clusterOf, "filters: [{name: envoy.filters.network.echo}]", "/body/filters/0/typed_config", "network.echo.v3.Echo}"},
		{clusterOf, "health_checks: [{timeout: 1s, interval: 1s, unhealthy_threshold: 1, healthy_threshold: 1, custom_health_check: {name: envoy.health_checkers.redis}}]", "/body/health_checks/0/custom_health_check/typed_config", "health_checkers.redis.v3.Redis}"},
		{listenerOf, "filter_chains: [{filters: [{name: h, typed_config: {'@type': type.googleapis.com/xds.type.v3.TypedStruct, type_url: " + filterURL + "network.http_connection_manager.v3.HttpConnectionManager, value: {stat_prefix: x, rds: {route_config_name: r, config_source: {ads: {}}}, http_filters: [{name: envoy.router}]}}}]}]", inManager + "value/http_filters/0/typed_config", "http.router.v3.Router}"},
		{routeOf, "retry_host_predicate: [{name: envoy.retry_host_predicates.previous_hosts}]", "/body/virtual_hosts/0/routes/0/route/retry_policy/retry_host_predicate/0/typed_config", "its documentation"},
		{routeOf, "retry_priority: {name: envoy.retry_priorities.previous_priorities}", "/body/virtual_hosts/0/routes/0/route/retry_policy/retry_priority/typed_config", "its documentation"},
	} {
		_, err := compile(strings.Replace(c.in, "PART", c.part, 1))
		if diff := cmp.Diff([]string{"required " + c.at}, found(t, err)); diff != "" {
			t.Errorf("%s: %s\n%v", c.part, diff, err)
		} else if !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %q is not in %v", c.part, c.say, err)
		}
	}
}

// TestAnExtensionThatMayBeNamedAlone: Envoy 1.36 and 1.40 take each.
func TestAnExtensionThatMayBeNamedAlone(t *testing.T) {
	t.Parallel()
	for in, part := range map[string]string{
		managerOf:  "http_filters: [{name: envoy.filters.http.cors, is_optional: true}, {name: e, config_discovery: {config_source: {ads: {}}, type_urls: [" + filterURL + "http.cors.v3.Cors]}}]",
		listenerOf: "filter_chains: [{filters: [{name: d, typed_config: {'@type': " + filterURL + "network.dubbo_proxy.v3.DubboProxy, stat_prefix: x, dubbo_filters: [{name: envoy.filters.dubbo.router}]}}]}]",
		clusterOf:  "cluster_type: {name: envoy.cluster.static}",
	} {
		mustCompile(t, strings.Replace(in, "PART", part, 1))
	}
}

// TestEveryNamedExtensionIsClassified: what has a name beside a typed_config of a oneof needs one, as far as a resource may hold it.
func TestEveryNamedExtensionIsClassified(t *testing.T) {
	t.Parallel()
	others := map[protoreflect.FullName]bool{
		"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.MetadataCredentialsFromPlugin": true, // refused by the guard of credentials
		"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CertificateProvider":            true, // Envoy does not implement it
		"envoy.config.metrics.v3.StatsSink":                                                         true, // of the bootstrap
		"envoy.config.overload.v3.ResourceMonitor":                                                  true, // of the bootstrap
	}
	seen := map[protoreflect.FullName]bool{}
	eachOfAResource(func(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		if fd.Name() != "typed_config" || fd.ContainingOneof() == nil || md.Fields().ByName("name") == nil {
			return
		}
		if seen[md.FullName()] = true; !resource.NeedsTypeForTest(md.FullName()) && !others[md.FullName()] {
			t.Errorf("does Envoy take a %s that has a name alone?", md.FullName())
		}
	})
	if len(seen) < len(others) {
		t.Errorf("%d messages were looked at", len(seen))
	}
}
