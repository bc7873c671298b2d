package resource

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"fairlead/internal/fleet"
)

// removedFields are fields of older versions of Envoy's API that the message does not have any more, with what is written today.
// Below a message that has typed_config, config need not be told.
var removedFields = map[protoreflect.FullName]string{
	"envoy.config.bootstrap.v3.Bootstrap.runtime":                                                                        "layered_runtime",
	"envoy.config.cluster.v3.Cluster.extension_protocol_options":                                                         "typed_extension_protocol_options",
	"envoy.config.cluster.v3.Cluster.hosts":                                                                              "load_assignment, with an endpoint for each host",
	"envoy.config.cluster.v3.Cluster.tls_context":                                                                        tlsSocket + "UpstreamTlsContext",
	"envoy.config.cluster.v3.LoadBalancingPolicy.Policy.config":                                                          "typed_extension_config",
	"envoy.config.cluster.v3.LoadBalancingPolicy.Policy.name":                                                            "typed_extension_config",
	"envoy.config.cluster.v3.LoadBalancingPolicy.Policy.typed_config":                                                    "typed_extension_config",
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck.service_name":                                                      "service_name_matcher",
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck.use_http2":                                                         "codec_client_type: HTTP2",
	"envoy.config.core.v3.Node.build_version":                                                                            "user_agent_name with user_agent_version",
	"envoy.config.endpoint.v3.ClusterLoadAssignment.Policy.disable_overprovisioning":                                     "overprovisioning_factor",
	"envoy.config.listener.v3.FilterChain.tls_context":                                                                   tlsSocket + "DownstreamTlsContext",
	"envoy.config.route.v3.CorsPolicy.allow_origin":                                                                      "allow_origin_string_match",
	"envoy.config.route.v3.CorsPolicy.allow_origin_regex":                                                                "allow_origin_string_match",
	"envoy.config.route.v3.CorsPolicy.enabled":                                                                           "filter_enabled",
	"envoy.config.route.v3.HeaderMatcher.regex_match":                                                                    "string_match, with safe_regex",
	"envoy.config.route.v3.QueryParameterMatcher.regex":                                                                  "string_match, with safe_regex",
	"envoy.config.route.v3.QueryParameterMatcher.value":                                                                  "string_match, with exact",
	"envoy.config.route.v3.Route.per_filter_config":                                                                      "typed_per_filter_config",
	"envoy.config.route.v3.RouteAction.auto_host_rewrite_header":                                                         "host_rewrite_header",
	"envoy.config.route.v3.RouteAction.request_mirror_policy":                                                            "request_mirror_policies",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.runtime_key":                                                  "runtime_fraction",
	"envoy.config.route.v3.RouteMatch.regex":                                                                             "safe_regex",
	"envoy.config.route.v3.VirtualCluster.method":                                                                        "headers, with the name :method",
	"envoy.config.route.v3.VirtualCluster.pattern":                                                                       "headers, with the name :path",
	"envoy.config.route.v3.VirtualHost.per_filter_config":                                                                "typed_per_filter_config",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.per_filter_config":                                              "typed_per_filter_config",
	"envoy.extensions.filters.http.gzip.v3.Gzip.content_length":                                                          "compressor",
	"envoy.extensions.filters.http.gzip.v3.Gzip.content_type":                                                            "compressor",
	"envoy.extensions.filters.http.gzip.v3.Gzip.disable_on_etag_header":                                                  "compressor",
	"envoy.extensions.filters.http.gzip.v3.Gzip.remove_accept_encoding_header":                                           "compressor",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.idle_timeout":                     "common_http_protocol_options, with idle_timeout",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.operation_name":           "traffic_direction at the listener",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.request_headers_for_tags": "custom_tags",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.cluster":                                                 "prefix_routes, with catch_all_route",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.catch_all_cluster":                          "catch_all_route",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.deprecated_v1":                                               "filter_chain_match at the filter chain",
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.verify_subject_alt_name":                     "match_typed_subject_alt_names",
	"envoy.type.matcher.v3.StringMatcher.regex":                                                                          "safe_regex",
}

// deprecatedFields are fields that Envoy takes still, with what is written today.
var deprecatedFields = map[protoreflect.FullName]string{
	"envoy.config.bootstrap.v3.Admin.access_log_path":                                                "access_log",
	"envoy.config.bootstrap.v3.Bootstrap.dns_resolution_config":                                      "typed_dns_resolver_config",
	"envoy.config.bootstrap.v3.Bootstrap.tracing":                                                    "tracing at the HttpConnectionManager",
	"envoy.config.bootstrap.v3.Bootstrap.use_tcp_for_dns_lookups":                                    "typed_dns_resolver_config",
	"envoy.config.bootstrap.v3.Bootstrap.watchdog":                                                   "watchdogs",
	"envoy.config.cluster.v3.Cluster.common_http_protocol_options":                                   httpOptions,
	"envoy.config.cluster.v3.Cluster.dns_resolution_config":                                          "typed_dns_resolver_config",
	"envoy.config.cluster.v3.Cluster.dns_resolvers":                                                  "typed_dns_resolver_config",
	"envoy.config.cluster.v3.Cluster.http2_protocol_options":                                         httpOptions,
	"envoy.config.cluster.v3.Cluster.http_protocol_options":                                          httpOptions,
	"envoy.config.cluster.v3.Cluster.max_requests_per_connection":                                    httpOptions,
	"envoy.config.cluster.v3.Cluster.protocol_selection":                                             httpOptions,
	"envoy.config.cluster.v3.Cluster.track_timeout_budgets":                                          "track_cluster_stats, with timeout_budgets",
	"envoy.config.cluster.v3.Cluster.upstream_http_protocol_options":                                 httpOptions,
	"envoy.config.cluster.v3.Cluster.use_tcp_for_dns_lookups":                                        "typed_dns_resolver_config",
	"envoy.config.core.v3.ConfigSource.path":                                                         "path_config_source",
	"envoy.config.core.v3.HeaderValueOption.append":                                                  "append_action",
	"envoy.config.core.v3.HealthCheck.event_log_path":                                                "event_logger",
	"envoy.config.core.v3.SubstitutionFormatString.text_format":                                      "text_format_source",
	"envoy.config.listener.v3.FilterChain.use_proxy_proto":                                           "the listener filter envoy.filters.listener.proxy_protocol",
	"envoy.config.listener.v3.Listener.reuse_port":                                                   "enable_reuse_port",
	"envoy.config.rbac.v3.Principal.source_ip":                                                       "direct_remote_ip or remote_ip",
	"envoy.config.route.v3.HeaderMatcher.contains_match":                                             "string_match",
	"envoy.config.route.v3.HeaderMatcher.exact_match":                                                "string_match",
	"envoy.config.route.v3.HeaderMatcher.prefix_match":                                               "string_match",
	"envoy.config.route.v3.HeaderMatcher.safe_regex_match":                                           "string_match",
	"envoy.config.route.v3.HeaderMatcher.suffix_match":                                               "string_match",
	"envoy.config.route.v3.RouteAction.cors":                                                         "typed_per_filter_config, with envoy.filters.http.cors",
	"envoy.config.route.v3.RouteAction.grpc_timeout_offset":                                          "max_stream_duration",
	"envoy.config.route.v3.RouteAction.internal_redirect_action":                                     "internal_redirect_policy",
	"envoy.config.route.v3.RouteAction.max_grpc_timeout":                                             "max_stream_duration",
	"envoy.config.route.v3.RouteAction.max_internal_redirects":                                       "internal_redirect_policy",
	"envoy.config.route.v3.VirtualHost.cors":                                                         "typed_per_filter_config, with envoy.filters.http.cors",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.format":                                   "log_format",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.json_format":                              "log_format",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.typed_json_format":                        "log_format",
	"envoy.extensions.filters.http.lua.v3.Lua.inline_code":                                           "default_source_code",
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.match_subject_alt_names": "match_typed_subject_alt_names",
}

const (
	tlsSocket   = "transport_socket, with the name envoy.transport_sockets.tls and a typed_config of envoy.extensions.transport_sockets.tls.v3."
	httpOptions = "typed_extension_protocol_options, with envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
)

// removedValues are those of enums, with what is written today.
var removedValues = map[protoreflect.FullName]map[string]string{
	"envoy.config.cluster.v3.Cluster.LbPolicy": {"ORIGINAL_DST_LB": "CLUSTER_PROVIDED"},
}

// removed tells of a field that the message had once.
func removed(md protoreflect.MessageDescriptor, key string) (say string, ok bool) {
	name := protoreflect.Name(SnakeCase(key))
	today, known := removedFields[md.FullName().Append(name)]
	if !known && name == "config" && md.Fields().ByName("typed_config") != nil {
		today, known = `typed_config, with the "@type" of its message`, true
	}
	switch {
	case known:
		return "Envoy's API has this field no more: write " + today, true
	case md.ReservedNames().Has(name):
		return "Envoy's API has this field no more: leave it out", true
	}
	return "", false
}

// deprecated tells of a field that Envoy takes still, though another one has its place.
func deprecated(fd protoreflect.FieldDescriptor) (say string, ok bool) {
	if o, is := fd.Options().(*descriptorpb.FieldOptions); !is || !o.GetDeprecated() {
		return "", false
	}
	if today, known := deprecatedFields[fd.FullName()]; known {
		return "Envoy's API has deprecated this field: write " + today, true
	}
	return "Envoy's API has deprecated this field: its documentation has what to write", true
}

// OldField tells what is to be written in the place of a field of a message that is older than today's API.
func OldField(message, key string) (say string, ok bool) {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(message))
	if err != nil {
		return "", false
	}
	if fd := fieldByKey(mt.Descriptor(), key); fd != nil {
		return deprecated(fd)
	}
	return removed(mt.Descriptor(), key)
}

// NoField tells of a key that is no field of a message, and never was; is is false of all others.
func NoField(message, key string) (say string, is bool) {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(message))
	if err != nil {
		return "", false
	}
	md := mt.Descriptor()
	if _, was := removed(md, key); was || fieldByKey(md, key) != nil {
		return "", false
	}
	hint := ""
	if best := Closest(key, fieldList(md.Fields())); best != "" {
		hint = ": is " + best + " meant?"
	}
	return fmt.Sprintf("%s has no such field%s", md.Name(), hint), true
}

// SnakeCase is a field's name as the proto files have it, of one as protobuf's JSON has it.
func SnakeCase(key string) string {
	var out strings.Builder
	for _, c := range key {
		if c >= 'A' && c <= 'Z' {
			out.WriteByte('_')
			c += 'a' - 'A'
		}
		out.WriteRune(c)
	}
	return out.String()
}

// Normal writes a message of Envoy's in the forms that every parser takes, as far as nothing is wrong with it. What old fields it has is
// told beside; pointers are into body. The error is Errors.
func Normal(t fleet.Type, body []byte) (normal []byte, old []FieldError, err error) {
	root, err := scanStored(body)
	if err != nil {
		return nil, nil, err
	}
	s := shape{hide: t == fleet.Secret, tellOld: true}
	s.message(newMessage(t).Descriptor(), root, nil)
	if s.changed {
		body = written(root, body)
	}
	return body, s.old, s.err()
}

// IsOf reports whether a type URL names the messages of a type, as Envoy reads it.
func IsOf(t fleet.Type, url string) bool { return knownURL(url) == t.URL() }

// SameField is the error of a field that stands in one object by both of its names.
func SameField(pointer, other string) error {
	return Errors{{Pointer: pointer, Code: codeDuplicateKey, Detail: "this is the same field as " + other + ": write it once"}}
}

// Twice reports whether the error is of a field that stands in one object twice.
func (e FieldError) Twice() bool { return e.Code == codeDuplicateKey }
