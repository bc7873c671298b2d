package resource

import (
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// servedSources are the fields that say from where a proxy subscribes to something that this control plane serves, besides those of
// referrers. Every other field of that kind makes the proxy ask for a type that is not served, those of a later API too.
var servedSources = func() map[protoreflect.FullName]bool {
	out := map[protoreflect.FullName]bool{
		"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    true, // endpoints
		"envoy.config.cluster.v3.Cluster.lrs_server":                                                     true, // load reports, on a stream of their own
		"envoy.config.core.v3.ExtensionConfigSource.config_source":                                       true, // extensions
		"envoy.config.route.v3.Vhds.config_source":                                                       true, // virtual hosts
		"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  true, // clusters
		"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   true, // clusters
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": true, // scoped routes
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":     true, // routes
	}
	for name, r := range referrers {
		if r.source != "" {
			out[name.Parent().Append(r.source)] = true
		}
	}
	return out
}()

// unservedInstead says what to write in the place of a source that leads to a type that is not served.
var unservedInstead = map[protoreflect.FullName]string{
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_config":                                "write the endpoints as lb_endpoints",
	"envoy.config.listener.v3.Listener.FcdsConfig.config_source":                                    "write the filter chains as filter_chains",
	"envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket.config_source": "take a file as the source (path_config_source)",
	"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.config_source":                 "write the clusters in a ClusterConfig",
	"envoy.extensions.filters.network.dubbo_proxy.v3.Drds.config_source":                            "write the routes as multiple_route_config",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericRds.config_source":                    "write the routes as route_config",
	"envoy.extensions.filters.network.thrift_proxy.v3.Trds.config_source":                           "write the routes as route_config",
	"istio.workload.BootstrapExtension.config_source":                                               "write it into the bootstrap of the proxies, with a source that serves workloads",
}

// sources refuses a source that leads to this control plane for a type that it does not serve: the proxy would ask in vain, and what it waits
// for would hold up all else for as long as its initial_fetch_timeout.
func (r *report) sources(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	if fd.Message() == nil || fd.IsMap() || fd.Message().FullName() != "envoy.config.core.v3.ConfigSource" || servedSources[fd.FullName()] || !m.Has(fd) {
		return
	}
	each(m.Get(fd), fd, p.to(m, fd.Name()), func(v protoreflect.Value, at place) {
		if s, ok := v.Message().Interface().(*core.ConfigSource); !ok || !fromUs(s) {
			return
		}
		instead := unservedInstead[fd.FullName()]
		if instead == "" {
			instead = "name another source"
		}
		r.add(at.at, codeUnserved, "this makes the proxy ask this control plane for a type of resource that it does not serve: %s", instead)
	})
}
