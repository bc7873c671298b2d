package resource_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

func refs(c resource.Compiled) (out []string) {
	for _, r := range c.Derived.Refs {
		out = append(out, r.Type.Slug()+" "+r.Name)
	}
	return out
}

func TestReferencesOfAListener(t *testing.T) {
	t.Parallel()
	want := []string{"clusters als", "clusters authz", "secrets www", "routes main", "extensions inspector", "extensions remote"}
	if diff := cmp.Diff(want, refs(mustCompile(t, testdata(t, "listener.yaml")))); diff != "" {
		t.Error(diff)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	tcp := func(s string) string {
		return "type: listeners, name: a, body: {name: a, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, filter_chains: [{filters: [{name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: s, " + s + "}}]}]}"
	}
	tls := func(source string) string {
		return "type: clusters, name: a, body: {name: a, transport_socket: {name: tls, typed_config: {'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, " +
			"common_tls_context: {tls_certificate_sds_secret_configs: [{name: cert, " + source + "}], validation_context_sds_secret_config: {name: ca, " + source + "}}}}}"
	}
	filter := func(source string) string {
		return "type: listeners, name: a, body: {name: a, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, filter_chains: [{filters: [{name: f, config_discovery: {" + source +
			", type_urls: [type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy]}}]}]}"
	}
	for doc, want := range map[string][]string{
		"type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}":                                                                                          {"endpoints a"},
		"type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {service_name: s, eds_config: {self: {}}}}":                                                                        {"endpoints s"},
		"type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {service_name: s, eds_config: {path_config_source: {path: /x}}}}":                                                  nil,
		"type: clusters, name: a, body: {name: a, type: STATIC, eds_cluster_config: {service_name: s, eds_config: {ads: {}}}}":                                                                      nil,
		"type: clusters, name: a, body: {name: a, cluster_type: {name: x, typed_config: {'@type': type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [c, b, c]}}}": {"clusters b", "clusters c"},
		"type: scoped-routes, name: a, body: {name: a, route_configuration_name: r, key: {fragments: [{string_key: x}]}}":                                                                           {"routes r"},
		"type: routes, name: a, body: {name: a, virtual_hosts: [{name: v, domains: ['*'], routes: [" +
			"{match: {prefix: /a}, route: {cluster: one, request_mirror_policies: [{cluster: mirror}]}}," +
			"{match: {prefix: /b}, route: {cluster_header: x-c}}," +
			"{match: {prefix: /c}, route: {weighted_clusters: {clusters: [{name: w1, weight: 1}, {name: w2, weight: 1}]}}}]}]}": {"clusters mirror", "clusters one", "clusters w1", "clusters w2"},
		"type: clusters, name: a, body: {name: a, load_assignment: {cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {envoy_internal_address: {server_listener_name: l}}}}]}]}}": {"listeners l"},
		"type: endpoints, name: a, body: {cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {envoy_internal_address: {server_listener_name: l, endpoint_id: x}}}}]}]}":            {"listeners l"},
		tcp("cluster: t"):                                   {"clusters t"},
		tls("sds_config: {ads: {}}"):                        {"secrets ca", "secrets cert"},
		tls("sds_config: {self: {}}"):                       {"secrets ca", "secrets cert"},
		tls("sds_config: {path_config_source: {path: /x}}"): nil,
		tls("sds_config: {api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: sds}}]}}"): {"clusters sds"},
		filter("config_source: {ads: {}}"):                                                   {"extensions f"},
		filter("config_source: {path_config_source: {path: /x}}"):                            nil,
		tcp("weighted_clusters: {clusters: [{name: t1, weight: 1}, {name: t2, weight: 2}]}"): {"clusters t1", "clusters t2"},
	} {
		if diff := cmp.Diff(want, refs(mustCompile(t, "{"+doc+"}"))); diff != "" {
			t.Errorf("%s: %s", doc, diff)
		}
	}
}

func TestDerived(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]fleet.Derived{
		"{type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {service_name: s, eds_config: {api_config_source: {api_type: GRPC, grpc_services: [{envoy_grpc: {cluster_name: xds}}]}}}}}": {EDSName: "s", Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "xds"}}},
		"{type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}":                                                                                                  {EDSName: "a", Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: "a"}}},
		"{type: clusters, name: a, body: {name: a, type: EDS, eds_cluster_config: {eds_config: {api_config_source: {api_type: REST, cluster_names: [fairlead_xds], refresh_delay: 1s}}}}}":                    {EDSName: "a", Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "fairlead_xds"}}, Polled: []fleet.Ref{{Type: fleet.Endpoint, Name: "a"}}},
		"{type: routes, name: a, body: {name: a, vhds: {config_source: {ads: {}}}}}":                                                                                                                          {VHDS: true},
		"{type: routes, name: a, body: {name: a, vhds: {config_source: {path_config_source: {path: /x}}}}}":                                                                                                   {},
		"{type: virtual-hosts, name: a/b, body: {name: a/b, domains: [b, '*.b']}}":                                                                                                                            {Domains: []string{"b", "*.b"}},
		"{type: listeners, name: a, body: {name: a, address: {socket_address: {address: 127.0.0.1, port_value: 1}}, filter_chains: [{filters: [{name: hcm, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: router, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}], scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, rds_config_source: {ads: {}}, scoped_rds: {scoped_rds_config_source: {ads: {}}}}}}]}]}}":                        {Scopes: true},
		"{type: listeners, name: a, body: {name: a, address: {socket_address: {address: 127.0.0.1, port_value: 1}}, filter_chains: [{filters: [{name: hcm, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, http_filters: [{name: router, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}], scoped_routes: {name: s, scope_key_builder: {fragments: [{header_value_extractor: {name: x, index: 0}}]}, rds_config_source: {ads: {}}, scoped_rds: {scoped_rds_config_source: {path_config_source: {path: /x}}}}}}]}]}}": {},
		testdata(t, "listener.yaml"): mustCompile(t, testdata(t, "listener.yaml")).Derived,
	} {
		c := mustCompile(t, doc)
		again, err := resource.Derive(c.Type, c.Value)
		if err != nil {
			t.Errorf("%.40s: %v", doc, err)
		}
		for _, got := range []fleet.Derived{c.Derived, again} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%.40s: %s", doc, diff)
			}
		}
	}
	if _, err := resource.Derive(fleet.Cluster, []byte{0xff}); !errorsIs(err, fleet.ErrInvalid) {
		t.Errorf("bytes that are no cluster: %v", err)
	}
}

// TestReferencesFitTheDatabase: what cannot be a resource's name is refused where it is
// written, not by the database.
func TestReferencesFitTheDatabase(t *testing.T) {
	t.Parallel()
	doc := func(name string) string {
		return `{type: clusters, name: a, body: {name: a, cluster_type: {name: x, typed_config: {"@type": type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig, clusters: [b, "` + name + `"]}}}}`
	}
	for name, want := range map[string]string{`a\0b`: "invalid_value", strings.Repeat("a", 513): "limit"} {
		_, err := compile(doc(name))
		if got := found(t, err); len(got) != 1 || got[0] != want+" /body/cluster_type/typed_config/clusters/1" {
			t.Errorf("%.10s: %v", name, got)
		}
	}
	_, err := compile(`{type: virtual-hosts, name: a/b, body: {name: a/b, domains: ["a\0"]}}`)
	if got := found(t, err); len(got) != 1 || got[0] != "invalid_value /body/domains/0" {
		t.Errorf("a domain with NUL: %v", got)
	}
}

// notReferences are the fields that look like a reference and are none, each with the
// reason. A new version of Envoy's API that brings another fails
// TestEveryReferenceIsClassified: look at what the field means and put it here or into
// the table of references.
var notReferences = map[protoreflect.FullName]string{
	"envoy.config.cluster.v3.Cluster.name":                                                               "the resource's own name",
	"envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name":                                        "the resource's own name",
	"envoy.extensions.transport_sockets.tls.v3.Secret.name":                                              "the resource's own name",
	"envoy.config.cluster.v3.Cluster.CustomClusterType.name":                                             "names an extension of the binary",
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name":                                      "read by deriver.cluster: it defaults to the cluster's name",
	"envoy.config.cluster.v3.Cluster.eds_cluster_config":                                                 "read by deriver.cluster",
	"envoy.config.core.v3.Node.cluster":                                                                  "a label of a node",
	"envoy.config.route.v3.RouteAction.cluster_header":                                                   "the name is in a request",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster_header":                               "the name is in a request",
	"envoy.config.route.v3.RouteAction.cluster_specifier_plugin":                                         "names a plugin of the same route",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header":                                 "the name is in a request",
	"envoy.config.route.v3.VirtualCluster.name":                                                          "a name for statistics",
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_collection_name":                            "a type that is not served",
	"envoy.config.endpoint.v3.ClusterStats.cluster_name":                                                 "a load report",
	"envoy.config.endpoint.v3.ClusterStats.cluster_service_name":                                         "a load report",
	"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.resource_name":                      "a type that is not served",
	"envoy.extensions.transport_sockets.tls.v3.GenericSecret.secrets":                                    "a secret's values by names of its own",
	"envoy.extensions.formatter.generic_secret.v3.GenericSecret.secret_configs":                          "the Secrets are named in its values",
	"envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig.cluster_name":                            "names code in a module",
	"envoy.extensions.common.aws.v3.InlineCredentialProvider.secret_access_key":                          "a secret's value, not its name",
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key":                          "a secret's value, not its name",
	"envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute.per_route_config_name": "names code in a module",
	"envoy.extensions.filters.http.fault.v3.HTTPFault.upstream_cluster":                                  "a condition on the cluster that a route chose",
	"envoy.extensions.filters.network.dubbo_proxy.v3.Drds.route_config_name":                             "a type that is not served",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericRds.route_config_name":                     "a type that is not served",
	"envoy.extensions.filters.network.thrift_proxy.v3.Trds.route_config_name":                            "a type that is not served",
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster_header":                        "the name is in a request",
	"envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel.required_cluster_name":             "a condition on the peer's node.cluster",
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format":                    "a format of the peer's identity",
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.name":                      "a name for statistics",
	"envoy.config.listener.v3.Listener.FcdsConfig.name":                                                  "a type that is not served",
	"envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket.resource_name":      "a type that is not served",
	"envoy.service.load_stats.v3.LoadStatsResponse.clusters":                                             "a load report",

	"envoy.extensions.filters.network.kafka_mesh.v3alpha.ForwardingRule.target_cluster":                        "one of Kafka's, in the same message",
	"envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name":                  "one of Kafka's, in the same message",
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.TunnelInitiatorIdentity.cluster_id": "a label of a node, in a report",
}

// sources are the fields that say where something comes from and go with no name that
// is a reference, each with the reason.
var sources = map[protoreflect.FullName]string{
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    "read by deriver.cluster",
	"envoy.config.cluster.v3.Cluster.lrs_server":                                                     "load reports",
	"envoy.config.core.v3.ExtensionConfigSource.config_source":                                       "read with the message around it",
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_config":                                 "a type that is not served",
	"envoy.config.listener.v3.Listener.FcdsConfig.config_source":                                     "a type that is not served",
	"envoy.config.route.v3.Vhds.config_source":                                                       "asks for all virtual hosts of a route: Derived.VHDS",
	"envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket.config_source":  "a type that is not served",
	"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.config_source":                  "a type that is not served",
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  "the names are in requests",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   "the names are in connections",
	"envoy.extensions.filters.network.dubbo_proxy.v3.Drds.config_source":                             "a type that is not served",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericRds.config_source":                     "a type that is not served",
	"envoy.extensions.filters.network.thrift_proxy.v3.Trds.config_source":                            "a type that is not served",
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": "asks for all scopes: Derived.Scopes",
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":     "of routes that the scopes name",
}

// notOfResources are packages whose messages are no part of a resource.
var notOfResources = []string{"envoy.admin.", "envoy.config.bootstrap.", "envoy.data.", "envoy.service.status.", "envoy.service.health.", "envoy.service.discovery."}

// TestEveryReferenceIsClassified walks all of Envoy's API.
func TestEveryReferenceIsClassified(t *testing.T) {
	t.Parallel()
	seen := map[protoreflect.FullName]bool{}
	eachOfAResource(func(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		seen[fd.FullName()] = true
		if source, isRef := resource.ReferrersForTest()[fd.FullName()]; isRef {
			if source != "" && md.Fields().ByName(source) == nil {
				t.Errorf("%s has no sibling %s", fd.FullName(), source)
			}
			return
		}
		if strings.HasSuffix(string(fd.Name()), "cluster_header") && !slices.Contains(resource.ChoosersForTest()[md.FullName()], fd.Name()) {
			t.Errorf("%s names a field of requests that names a cluster: put it into choosers", fd.FullName())
		}
		if looksLikeReference(md, fd) && notReferences[fd.FullName()] == "" {
			t.Errorf("%s names a resource, or does it? put it into referrers or into notReferences", fd.FullName())
		}
		if isSource(fd) && sources[fd.FullName()] == "" && !sourceOfReferrer(md, fd) {
			t.Errorf("%s says where something comes from: put it into referrers or into sources", fd.FullName())
		}
	})
	for _, table := range []map[protoreflect.FullName]string{notReferences, sources} {
		for name := range table {
			if !seen[name] {
				t.Errorf("%s is listed and does not exist", name)
			}
		}
	}
	for message, fields := range resource.ChoosersForTest() {
		if mt, err := protoregistry.GlobalTypes.FindMessageByName(message); err != nil {
			t.Errorf("the chooser %s does not exist", message)
		} else {
			for _, field := range fields {
				if mt.Descriptor().Fields().ByName(field) == nil {
					t.Errorf("the chooser %s has no field %s", message, field)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(resource.ReferrersForTest())) {
		if !seen[name] {
			t.Errorf("the referrer %s does not exist", name)
		}
	}
}

// eachOfAResource calls f with each field of Envoy's API that may be a part of a resource.
func eachOfAResource(f func(protoreflect.MessageDescriptor, protoreflect.FieldDescriptor)) {
	var messages func(protoreflect.MessageDescriptors)
	messages = func(mds protoreflect.MessageDescriptors) {
		for i := range mds.Len() {
			md := mds.Get(i)
			for j := range md.Fields().Len() {
				f(md, md.Fields().Get(j))
			}
			messages(md.Messages())
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for _, p := range notOfResources {
			if strings.HasPrefix(string(file.Package())+".", p) {
				return true
			}
		}
		if strings.HasPrefix(string(file.Package()), "envoy.") {
			messages(file.Messages())
		}
		return true
	})
}

func looksLikeReference(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) bool {
	if fd.Kind() != protoreflect.StringKind && (!fd.IsMap() || fd.MapKey().Kind() != protoreflect.StringKind) {
		return false
	}
	field, message := string(fd.Name()), string(md.Name())
	for _, word := range []string{"cluster", "secret", "route_config"} {
		if strings.Contains(field, word) && field != "lrs_report_endpoint_metrics" {
			return true
		}
	}
	if field != "name" && !strings.HasSuffix(field, "resource_name") && field != "service_name" {
		return false
	}
	if strings.Contains(message, "Cluster") || strings.Contains(message, "Secret") {
		return true
	}
	for i := range md.Fields().Len() {
		if isSource(md.Fields().Get(i)) {
			return true
		}
	}
	return false
}

func isSource(fd protoreflect.FieldDescriptor) bool {
	if fd.Message() == nil {
		return false
	}
	name := fd.Message().FullName()
	return name == "envoy.config.core.v3.ConfigSource" || name == "envoy.config.core.v3.ExtensionConfigSource"
}

func sourceOfReferrer(md protoreflect.MessageDescriptor, source protoreflect.FieldDescriptor) bool {
	for i := range md.Fields().Len() {
		if s, ok := resource.ReferrersForTest()[md.Fields().Get(i).FullName()]; ok && s == source.Name() {
			return true
		}
	}
	return false
}

// TestPointer: what a resource names can be pointed at in the document that was sent, in
// its own spelling; what it does not name is the document's own place.
func TestPointer(t *testing.T) {
	t.Parallel()
	c := mustCompile(t, "{type: clusters, name: a, body: {name: a, type: EDS, edsClusterConfig: {edsConfig: {ads: {}}, serviceName: s}}}")
	for ref, want := range map[fleet.Ref]string{
		{Type: fleet.Endpoint, Name: "s"}: "/body/edsClusterConfig/serviceName",
		{Type: fleet.Secret, Name: "s"}:   "",
	} {
		if got := c.Pointer(ref); got != want {
			t.Errorf("%v at %q, want %q", ref, got, want)
		}
	}
}

// throughServices are the fields inside of what another field leads to: that one says what becomes of it.
var throughServices = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.ConfigSource.api_config_source":            true,
	"envoy.config.core.v3.GrpcService.envoy_grpc":                    true,
	"envoy.config.core.v3.HttpService.http_uri":                      true,
	"envoy.config.core.v3.RemoteDataSource.http_uri":                 true,
	"envoy.extensions.dynamic_modules.v3.DynamicModuleConfig.module": true,
	"envoy.extensions.wasm.v3.VmConfig.code":                         true,
}

// TestEveryServiceIsClassified: of each field of Envoy's API that leads to a service by way of a cluster it is said what becomes of it without.
func TestEveryServiceIsClassified(t *testing.T) {
	t.Parallel()
	kinds := []protoreflect.FullName{
		"envoy.config.core.v3.GrpcService", "envoy.config.core.v3.GrpcService.EnvoyGrpc", "envoy.config.core.v3.HttpUri", "envoy.config.core.v3.HttpService",
		"envoy.config.core.v3.ApiConfigSource", "envoy.config.core.v3.RemoteDataSource", "envoy.config.core.v3.AsyncDataSource",
	}
	seen, missing := map[protoreflect.FullName]bool{}, resource.MissingForTest()
	eachOfAResource(func(_ protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		seen[fd.FullName()] = true
		md := fd.Message()
		if fd.IsMap() {
			md = fd.MapValue().Message()
		}
		if md == nil || !slices.Contains(kinds, md.FullName()) {
			return
		}
		if _, said := missing[fd.FullName()]; said == throughServices[fd.FullName()] {
			t.Errorf("%s leads to a service: put it into services or into throughServices, and not into both", fd.FullName())
		}
	})
	for _, table := range []map[protoreflect.FullName]bool{throughServices, resource.CheckedForTest()} {
		for name := range table {
			if !seen[name] {
				t.Errorf("%s is listed and does not exist", name)
			}
		}
	}
	for name := range missing {
		if !seen[name] {
			t.Errorf("%s is listed and does not exist", name)
		}
	}
	for name := range resource.CheckedForTest() {
		if _, ok := resource.ReferrersForTest()[name]; !ok {
			t.Errorf("%s is checked and names no cluster", name)
		}
	}
}
