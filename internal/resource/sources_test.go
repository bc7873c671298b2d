package resource_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/resource"
)

const (
	listenerHead = "type: listeners, name: a, body: {name: a, address: {socket_address: {address: 127.0.0.1, port_value: 1}}, "
	googleapis   = "'@type': type.googleapis.com/"
)

// network is a listener with a network filter.
func network(message, fields string) string {
	return listenerHead + "filter_chains: [{filters: [{name: f, typed_config: {" + googleapis + message + ", stat_prefix: s, " + fields + "}}]}]}"
}

// unserved are documents that lead a proxy to this control plane for a type that it does not serve, with SOURCE in the place of
// the source and the place where that is refused.
var unserved = map[string]struct{ doc, at string }{
	"workloads": {
		"type: extensions, name: x, body: {name: x, typed_config: {" + googleapis + "istio.workload.BootstrapExtension, config_source: SOURCE}}",
		"/body/typed_config/config_source",
	},
	"thrift": {
		network("envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy", "trds: {route_config_name: r, config_source: SOURCE}"),
		"/body/filter_chains/0/filters/0/typed_config/trds/config_source",
	},
	"dubbo": {
		network("envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy", "drds: {route_config_name: r, config_source: SOURCE}"),
		"/body/filter_chains/0/filters/0/typed_config/drds/config_source",
	},
	"generic": {
		network("envoy.extensions.filters.network.generic_proxy.v3.GenericProxy", "codec_config: {name: c, typed_config: {"+googleapis+
			"envoy.extensions.filters.network.generic_proxy.codecs.dubbo.v3.DubboCodecConfig}}, generic_rds: {route_config_name: r, config_source: SOURCE}"),
		"/body/filter_chains/0/filters/0/typed_config/generic_rds/config_source",
	},
	"a TypedStruct": {
		listenerHead + "filter_chains: [{filters: [{name: f, typed_config: {" + googleapis + "xds.type.v3.TypedStruct, type_url: type.googleapis.com/" +
			"envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy, value: {stat_prefix: s, trds: {route_config_name: r, config_source: SOURCE}}}}]}]}",
		"/body/filter_chains/0/filters/0/typed_config/value/trds/config_source",
	},
	"filter chains": {
		listenerHead + "filter_chain_matcher: {on_no_match: {action: {name: a, typed_config: {" + googleapis + "google.protobuf.StringValue, value: c1}}}}, " +
			"fcds_config: {name: chains, config_source: SOURCE}}",
		"/body/fcds_config/config_source",
	},
	"endpoints of a locality": {
		"type: endpoints, name: a, body: {cluster_name: a, endpoints: [{locality: {region: r}, load_balancing_weight: 1, " +
			"leds_cluster_locality_config: {leds_config: SOURCE, leds_collection_name: 'xdstp://e/envoy.config.endpoint.v3.LbEndpoint/s/*'}}]}",
		"/body/endpoints/0/leds_cluster_locality_config/leds_config",
	},
	"an aggregate": {
		"type: clusters, name: a, body: {name: a, cluster_type: {name: envoy.clusters.aggregate_resource, typed_config: {" + googleapis +
			"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource, resource_name: r, config_source: SOURCE}}}",
		"/body/cluster_type/typed_config/config_source",
	},
	"a token bucket": {
		listenerHead + "access_log: [{name: l, filter: {extension_filter: {name: f, typed_config: {" + googleapis +
			"envoy.extensions.access_loggers.filters.process_ratelimit.v3.ProcessRateLimitFilter, dynamic_config: {resource_name: r, config_source: SOURCE}}}}, " +
			"typed_config: {" + googleapis + "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog}}]}",
		"/body/access_log/0/filter/extension_filter/typed_config/dynamic_config/config_source",
	},
}

// TestATypeThatIsNotServedIsRefused: a proxy would ask for it in vain, and wait. From elsewhere it may come.
func TestATypeThatIsNotServedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range unserved {
		for _, source := range []string{"{ads: {}}", "{self: {}}", "{ads: {}, resource_api_version: V3}"} {
			_, err := compile("{" + strings.Replace(c.doc, "SOURCE", source, 1) + "}")
			if got := found(t, err); len(got) != 1 || got[0] != "type_not_served "+c.at {
				t.Errorf("%s from %s: %v", name, source, err)
			} else if !strings.Contains(err.Error(), ": write ") && !strings.Contains(err.Error(), ": take ") {
				t.Errorf("%s: %q does not say what else to write", name, err)
			}
		}
		if _, err := compile("{" + strings.Replace(c.doc, "SOURCE", "{path_config_source: {path: /etc/envoy/r.yaml}}", 1) + "}"); err != nil {
			t.Errorf("%s from a file: %v", name, err)
		}
	}
}

// TestEverySourceIsServedOrRefused walks all of Envoy's API: a field of a later version that is not known to be served is refused.
func TestEverySourceIsServedOrRefused(t *testing.T) {
	t.Parallel()
	refused := map[protoreflect.FullName]bool{}
	eachField(func(_ protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) {
		if fd.Message() == nil || fd.Message().FullName() != "envoy.config.core.v3.ConfigSource" {
			return
		}
		switch served, instead := resource.SourcesForTest(fd.FullName()); {
		case served && instead != "":
			t.Errorf("%s is served, and it is said what else to write", fd.FullName())
		case !served:
			refused[fd.FullName()] = true
			if instead == "" {
				t.Errorf("%s is refused: say what else to write, or serve it", fd.FullName())
			}
		}
	})
	if len(refused) != len(resource.UnservedForTest()) || len(unserved) < len(refused) {
		t.Errorf("%d fields are refused, %d are listed, and %d are tried", len(refused), len(resource.UnservedForTest()), len(unserved))
	}
}
