package resource

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// DeriveVersion moves when Derive reads more, or otherwise, out of a body. What was
// derived by an older version is derived again when it is loaded.
const DeriveVersion = 8

// referrer says that a field names a resource.
type referrer struct {
	to fleet.Type
	// source is the sibling that says where the resource comes from: the name counts only
	// if that is ads or self. "" means that there is none, the name always counts.
	source protoreflect.Name
}

// referrers is every field of Envoy's API that names a resource that xDS serves by name.
// A test fails on a field that looks like one and stands neither here nor in its list of
// those that are none.
var referrers = map[protoreflect.FullName]referrer{
	"envoy.config.core.v3.ApiConfigSource.cluster_names":                                                        {to: fleet.Cluster},
	"envoy.config.core.v3.GrpcService.EnvoyGrpc.cluster_name":                                                   {to: fleet.Cluster},
	"envoy.config.core.v3.EnvoyInternalAddress.server_listener_name":                                            {to: fleet.Listener},
	"envoy.config.core.v3.HttpUri.cluster":                                                                      {to: fleet.Cluster},
	"envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":                                                       {to: fleet.Cluster},
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                                             {to: fleet.Cluster},
	"envoy.config.route.v3.RouteAction.cluster":                                                                 {to: fleet.Cluster},
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                                                  {to: fleet.Cluster},
	"envoy.config.trace.v3.DatadogConfig.collector_cluster":                                                     {to: fleet.Cluster},
	"envoy.config.trace.v3.LightstepConfig.collector_cluster":                                                   {to: fleet.Cluster},
	"envoy.config.trace.v3.ZipkinConfig.collector_cluster":                                                      {to: fleet.Cluster},
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster":                                 {to: fleet.Cluster},
	"envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters":                                             {to: fleet.Cluster},
	"envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name":                                    {to: fleet.Cluster},
	"envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster":                            {to: fleet.Cluster},
	"envoy.extensions.filters.http.cache_v2.v3.CacheV2Config.override_upstream_cluster":                         {to: fleet.Cluster},
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.cluster":                                   {to: fleet.Cluster},
	"envoy.extensions.filters.http.health_check.v3.HealthCheck.cluster_min_healthy_percentages":                 {to: fleet.Cluster}, // its keys
	"envoy.extensions.filters.http.mcp_router.v3.McpRouter.McpCluster.cluster":                                  {to: fleet.Cluster},
	"envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction.cluster":                                       {to: fleet.Cluster},
	"envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.cluster":                              {to: fleet.Cluster},
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.cluster":                     {to: fleet.Cluster},
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name":                 {to: fleet.Cluster},
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster":                                            {to: fleet.Cluster},
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":                  {to: fleet.Cluster},
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":                                      {to: fleet.Cluster},
	"envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name":                       {to: fleet.Cluster},
	"envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster":                                                   {to: fleet.Cluster},
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster":                                          {to: fleet.Cluster},
	"envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig.default_cluster":                               {to: fleet.Cluster},
	"envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction.cluster":                               {to: fleet.Cluster},
	"envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight.cluster_name":                   {to: fleet.Cluster},
	"envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster":                                                 {to: fleet.Cluster},
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster": {to: fleet.Cluster},
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy.cluster":   {to: fleet.Cluster},

	// Of contrib.
	"envoy.extensions.filters.network.client_ssl_auth.v3.ClientSSLAuth.auth_api_cluster":             {to: fleet.Cluster},
	"envoy.extensions.filters.network.rocketmq_proxy.v3.RouteAction.cluster":                         {to: fleet.Cluster},
	"envoy.extensions.filters.network.sip_proxy.v3alpha.RouteAction.cluster":                         {to: fleet.Cluster},
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.GrpcClientConfig.cluster": {to: fleet.Cluster},
	"envoy.extensions.router.cluster_specifier.golang.v3alpha.Config.default_cluster":                {to: fleet.Cluster},

	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.name":                                         {fleet.Secret, "sds_config"},
	"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.prefetch_secret_names": {fleet.Secret, "config_source"},

	"envoy.extensions.filters.network.http_connection_manager.v3.Rds.route_config_name": {fleet.Route, "config_source"},
	// Its source stands in the listener that takes the scopes, not beside it.
	"envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name": {to: fleet.Route},

	// An extension is asked for under the name of the filter that it configures.
	"envoy.config.cluster.v3.Filter.name":                                         {fleet.Extension, "config_discovery"},
	"envoy.config.listener.v3.Filter.name":                                        {fleet.Extension, "config_discovery"},
	"envoy.config.listener.v3.ListenerFilter.name":                                {fleet.Extension, "config_discovery"},
	"envoy.extensions.filters.http.composite.v3.DynamicConfig.name":               {fleet.Extension, "config_discovery"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.name": {fleet.Extension, "config_discovery"},
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter.name": {fleet.Extension, "config_discovery"},
}
