package resource

import (
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	thrift "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
)

// Missing is what becomes of a mention whose cluster is not there, as Envoy does it.
type Missing int

// What becomes of one; the zero value is that of most fields.
const (
	MissingFails      Missing = iota // what is sent there fails
	MissingUnanswered                // what is asked there is not answered; the filter says what becomes of the request
	MissingCopies                    // what goes there is lost
	MissingStatistics
	MissingTraces
	MissingLogs
	MissingEvents
	MissingSampling  // nobody says what is sampled
	MissingMember    // a cluster of clusters does without it
	MissingHealth    // a filter that answers health checks says that it is not well
	MissingCode      // code is not fetched
	MissingSecret    // a Secret is not fetched
	MissingRefused   // the resource is refused
	MissingBootstrap // it is refused unless the cluster stands in the bootstrap
)

// missing is what becomes of the fields that name a cluster, where it is not MissingFails. A test fails where one of them is none.
var missing = map[protoreflect.FullName]Missing{
	"envoy.config.core.v3.ApiConfigSource.cluster_names":                                                        MissingBootstrap,
	"envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":                                                       MissingStatistics,
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                                             MissingCopies,
	"envoy.config.trace.v3.DatadogConfig.collector_cluster":                                                     MissingRefused,
	"envoy.config.trace.v3.LightstepConfig.collector_cluster":                                                   MissingRefused,
	"envoy.config.trace.v3.ZipkinConfig.collector_cluster":                                                      MissingRefused,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster":                                 MissingBootstrap,
	"envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters":                                             MissingMember,
	"envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name":                                    MissingMember,
	"envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster":                            MissingMember,
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.cluster":                                   MissingUnanswered,
	"envoy.extensions.filters.http.health_check.v3.HealthCheck.cluster_min_healthy_percentages":                 MissingHealth,
	"envoy.extensions.filters.network.client_ssl_auth.v3.ClientSSLAuth.auth_api_cluster":                        MissingRefused, // "unknown cluster '...' in client ssl auth config"
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster": MissingCopies,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":                  MissingCopies,
	"envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client.GrpcClientConfig.cluster":            MissingEvents,
	"envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster":                                                 MissingTraces,
}

// checked are the fields of which Envoy refuses the whole of the routes, where it checks the clusters of these.
var checked = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                            true,
	"envoy.config.route.v3.RouteAction.cluster":                                                true,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                                 true,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster": true,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":                     true,
	"envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name":      true,
}

// unchecked is where it does not: in what a matcher of a virtual host leads to.
const unchecked = "envoy.config.route.v3.VirtualHost.matcher"

// services are the fields that lead to a service whose cluster is named further inside, in a GrpcService, an HttpUri or the like, and what becomes
// of that. A test fails on one of Envoy's API that is missing.
var services = map[protoreflect.FullName]Missing{
	unchecked: MissingFails,

	// What a source is of; of all others see ApiConfigSource.
	"envoy.config.cluster.v3.Cluster.lrs_server":                           MissingStatistics,
	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config": MissingSecret,

	"envoy.config.core.v3.ApiConfigSource.grpc_services":                                          MissingBootstrap,
	"envoy.config.core.v3.AsyncDataSource.remote":                                                 MissingCode,
	"envoy.config.core.v3.EventServiceConfig.grpc_service":                                        MissingEvents,
	"envoy.config.metrics.v3.MetricsServiceConfig.grpc_service":                                   MissingStatistics,
	"envoy.config.ratelimit.v3.RateLimitServiceConfig.grpc_service":                               MissingUnanswered,
	"envoy.config.tap.v3.StreamingGrpcSink.grpc_service":                                          MissingCopies,
	"envoy.config.trace.v3.OpenTelemetryConfig.grpc_service":                                      MissingTraces,
	"envoy.config.trace.v3.OpenTelemetryConfig.http_service":                                      MissingTraces,
	"envoy.config.trace.v3.SkyWalkingConfig.grpc_service":                                         MissingTraces,
	"envoy.config.trace.v3.TraceServiceConfig.grpc_service":                                       MissingTraces,
	"envoy.config.trace.v3.ZipkinConfig.collector_service":                                        MissingRefused,
	"envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig.grpc_service":              MissingLogs,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.grpc_service": MissingLogs,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.http_service": MissingLogs,
	"envoy.extensions.filters.common.jwks.v3.RemoteJwks.http_uri":                                 MissingUnanswered,
	"envoy.extensions.filters.http.ext_authz.v3.CheckSettings.grpc_service":                       MissingUnanswered,
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz.grpc_service":                            MissingUnanswered,
	"envoy.extensions.filters.http.ext_authz.v3.HttpService.server_uri":                           MissingUnanswered,
	"envoy.extensions.filters.http.ext_proc.v3.ExtProcHttpService.http_service":                   MissingUnanswered,
	"envoy.extensions.filters.http.ext_proc.v3.ExtProcOverrides.grpc_service":                     MissingUnanswered,
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor.grpc_service":                    MissingUnanswered,
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.http_uri":                    MissingUnanswered,
	"envoy.extensions.filters.http.jwt_authn.v3.RemoteJwks.http_uri":                              MissingUnanswered,
	"envoy.extensions.filters.http.oauth2.v3.OAuth2Config.token_endpoint":                         MissingUnanswered,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig.rlqs_server":    MissingUnanswered,
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz.grpc_service":                         MissingUnanswered,
	"envoy.extensions.filters.network.ext_proc.v3.NetworkExternalProcessor.grpc_service":          MissingUnanswered,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisExternalAuthProvider.grpc_service":      MissingUnanswered,
	"envoy.extensions.filters.network.sip_proxy.tra.v3alpha.TraServiceConfig.grpc_service":        MissingUnanswered,
	"envoy.extensions.filters.udp.udp_proxy.session.ext_authz.v3.FilterConfig.grpc_service":       MissingUnanswered,
	"envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2.token_endpoint":                  MissingUnanswered,
	"envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig.grpc_service":                       MissingStatistics,
	"envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig.http_service":                       MissingStatistics,
	"envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig.http_service":      MissingSampling,
}

// serviceFields are those fields by the message that has them.
var serviceFields = func() map[protoreflect.FullName][]protoreflect.Name {
	out := map[protoreflect.FullName][]protoreflect.Name{}
	for f := range services {
		out[f.Parent()] = append(out[f.Parent()], f.Name())
	}
	return out
}()

// around is a message on the way to a mention that says what becomes of it.
type around struct {
	message protoreflect.MessageDescriptor
	checks  bool // of routes: their clusters
}

// surroundings are such messages, by their places.
type surroundings map[*path]around

// add takes in a message of a resource of that type; walk brings the outer before the inner.
func (s surroundings) add(t fleet.Type, m protoreflect.Message, at *path) {
	switch v := m.Interface().(type) {
	case *route.RouteConfiguration: // those that are fetched are checked only if they say so
		s[at] = around{m.Descriptor(), said(v.GetValidateClusters(), t != fleet.Route && t != fleet.ScopedRoute)}
	case *thrift.RouteConfiguration:
		s[at] = around{m.Descriptor(), said(v.GetValidateClusters(), true)}
	default:
		if md := m.Descriptor(); serviceFields[md.FullName()] != nil {
			s[at] = around{message: md}
		}
	}
}

func said(v *wrapperspb.BoolValue, byDefault bool) bool {
	if v == nil {
		return byDefault
	}
	return v.GetValue()
}

// missing is what becomes of a mention: the innermost message around it that says so decides, and of a source what it is of.
func (s surroundings) missing(x mention) Missing {
	own := missing[x.field]
	if x.Type != fleet.Cluster || len(s) == 0 {
		return own
	}
	key, found := "", own == MissingBootstrap
	for at := x.at; at != nil; at = at.up {
		if a, ok := s[at]; ok {
			field := fieldCalled(a.message, key)
			m, service := services[field]
			switch {
			case checked[x.field] && field == unchecked:
				return own
			case checked[x.field] && a.checks:
				return MissingRefused
			case service && !checked[x.field] && field != unchecked && (!found || own == MissingBootstrap):
				own, found = m, true
			}
		}
		if at.idx < 0 {
			key = at.key
		}
	}
	return own
}

// fieldCalled is the field of that name in JSON, or in the proto file; "" if there is none.
func fieldCalled(md protoreflect.MessageDescriptor, key string) protoreflect.FullName {
	fd := md.Fields().ByTextName(key)
	if fd == nil {
		fd = md.Fields().ByJSONName(key)
	}
	if fd == nil {
		return ""
	}
	return fd.FullName()
}
