package resource

import "google.golang.org/protobuf/reflect/protoreflect"

// Tests walk all of Envoy's API and fail on a field that looks as if it belonged into one
// of these tables and is judged nowhere.

// guardedMessages are messages that a rule names by their presence.
var guardedMessages = map[protoreflect.FullName]Rule{
	"envoy.config.trace.v3.DynamicOtConfig":                                  RuleCode, // loads a library
	"envoy.extensions.network.socket_interface.sockmap.v3.Sockmap":           RuleCode, // loads a program into the kernel
	"envoy.config.core.v3.ApiConfigSource":                                   RuleConfigSources,
	"envoy.config.core.v3.Pipe":                                              RulePipes,
	"envoy.config.core.v3.EnvoyInternalAddress":                              RuleInternalListeners,
	"envoy.config.listener.v3.Listener.InternalListenerConfig":               RuleInternalListeners,
	"envoy.extensions.transport_sockets.tls.v3.TlsKeyLog":                    RuleTap,
	"envoy.extensions.matching.common_inputs.environment_variable.v3.Config": RuleEnvironment,
	"envoy.extensions.formatter.generic_secret.v3.GenericSecret":             RuleTap, // writes Secrets, which nobody reads here, into logs and headers
	"envoy.extensions.formatter.file_content.v3.FileContent":                 RuleFiles,
}

// guardedPackages are the beginnings of names of messages.
var guardedPackages = map[string]Rule{
	"envoy.config.bootstrap.":     RuleAdmin,
	"envoy.extensions.bootstrap.": RuleAdmin,
	"envoy.admin.":                RuleAdmin,
}

// guardedWords are parts of the names of packages. Extensions that run code come as
// filters, per-route overrides, access loggers, sinks, matchers, clusters and more, and all
// have one of these.
var guardedWords = map[string]Rule{
	"lua":             RuleCode,
	"wasm":            RuleCode,
	"dynamic_modules": RuleCode,
	"ext_proc":        RuleCode,
	"tap":             RuleTap,
}

// guardedFields are fields that a rule names when they are set.
var guardedFields = map[protoreflect.FullName]Rule{
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.path":                                RuleFileLogs,
	"envoy.config.core.v3.HealthCheck.event_log_path":                                           RuleFileLogs,
	"envoy.extensions.health_check.event_sinks.file.v3.HealthCheckEventFileSink.event_log_path": RuleFileLogs,

	"envoy.config.core.v3.DataSource.environment_variable":                                 RuleEnvironment,
	"envoy.type.tracing.v3.CustomTag.environment":                                          RuleEnvironment,
	"envoy.extensions.common.aws.v3.AwsCredentialProvider.environment_credential_provider": RuleEnvironment,

	"envoy.config.core.v3.ConfigSource.path":                                                                  RuleFiles,
	"envoy.config.core.v3.PathConfigSource.path":                                                              RuleFiles,
	"envoy.config.core.v3.DataSource.filename":                                                                RuleFiles,
	"envoy.config.core.v3.WatchedDirectory.path":                                                              RuleFiles,
	"envoy.config.core.v3.SocketAddress.network_namespace_filepath":                                           RuleFiles,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.StsService.actor_token_path":                 RuleFiles,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.StsService.subject_token_path":               RuleFiles,
	"envoy.config.tap.v3.FilePerTapSink.path_prefix":                                                          RuleFiles,
	"envoy.config.trace.v3.LightstepConfig.access_token_file":                                                 RuleFiles,
	"envoy.extensions.filters.http.file_server.v3.FileServerConfig.PathMapping.file_path_prefix":              RuleFiles,
	"envoy.extensions.filters.http.file_system_buffer.v3.FileSystemBufferFilterConfig.storage_buffer_path":    RuleFiles,
	"envoy.extensions.filters.http.grpc_json_reverse_transcoder.v3.GrpcJsonReverseTranscoder.descriptor_path": RuleFiles,
	"envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder.proto_descriptor":               RuleFiles,
	"envoy.extensions.filters.http.lua.v3.Lua.package_cpaths":                                                 RuleFiles,
	"envoy.extensions.filters.http.lua.v3.Lua.package_paths":                                                  RuleFiles,
	"envoy.extensions.filters.http.lua.v3.LuaPerRoute.package_cpaths":                                         RuleFiles,
	"envoy.extensions.filters.http.lua.v3.LuaPerRoute.package_paths":                                          RuleFiles,
	"envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig.anon_db_path":                                  RuleFiles,
	"envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig.asn_db_path":                                   RuleFiles,
	"envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig.city_db_path":                                  RuleFiles,
	"envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig.country_db_path":                               RuleFiles,
	"envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig.isp_db_path":                                   RuleFiles,
	"envoy.extensions.grpc_service.call_credentials.sts_service.v3.StsServiceCredentials.actor_token_path":    RuleFiles,
	"envoy.extensions.grpc_service.call_credentials.sts_service.v3.StsServiceCredentials.subject_token_path":  RuleFiles,
	"envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig.cache_path":              RuleFiles,
	"envoy.extensions.http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config.cache_path":         RuleFiles,
	"envoy.extensions.key_value.file_based.v3.FileBasedKeyValueStoreConfig.filename":                          RuleFiles,
	"envoy.extensions.network.socket_interface.sockmap.v3.Sockmap.bpf_program_path":                           RuleFiles,
	"envoy.extensions.network.socket_interface.sockmap.v3.Sockmap.cgroup_path":                                RuleFiles,
	"envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig.filename":                 RuleFiles,
	"envoy.extensions.transport_sockets.tls.v3.TlsKeyLog.path":                                                RuleFiles,
	"envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig.profile_path":                            RuleFiles,
	"envoy.extensions.wasm.v3.EnvironmentVariables.host_env_keys":                                             RuleEnvironment,
}

// metadataFields hold values of any form that nothing reads as configuration.
var metadataFields = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.Metadata.typed_filter_metadata":                true,
	"envoy.extensions.filters.http.set_metadata.v3.Metadata.typed_value": true,
}

// notDialled are addresses to which the proxy does not connect.
var notDialled = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.Address.socket_address":                                                                          true, // judged with the message around it
	"envoy.config.listener.v3.Listener.address":                                                                            true,
	"envoy.config.listener.v3.AdditionalAddress.address":                                                                   true,
	"envoy.config.core.v3.BindConfig.source_address":                                                                       true,
	"envoy.config.core.v3.BindConfig.additional_source_addresses":                                                          true,
	"envoy.config.core.v3.ExtraSourceAddress.address":                                                                      true,
	"envoy.config.core.v3.Node.listening_addresses":                                                                        true,
	"envoy.config.endpoint.v3.UpstreamEndpointStats.address":                                                               true,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions.Credential.address":                              true,
	"envoy.extensions.quic.server_preferred_address.v3.FixedServerPreferredAddressConfig.AddressFamilyConfig.address":      true,
	"envoy.extensions.quic.server_preferred_address.v3.FixedServerPreferredAddressConfig.AddressFamilyConfig.dnat_address": true,
}

// dialledTexts are texts that name what the proxy connects to without a cluster.
var dialledTexts = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.GrpcService.GoogleGrpc.target_uri":                                                         true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.StsService.token_exchange_service_uri":              true,
	"envoy.extensions.grpc_service.call_credentials.sts_service.v3.StsServiceCredentials.token_exchange_service_uri": true,
	"envoy.extensions.network.dns_resolver.hickory.v3.DnsOverHttpsConfig.server_urls":                                true,
	"envoy.extensions.transport_sockets.s2a.v3.S2AConfiguration.s2a_address":                                         true,
}
