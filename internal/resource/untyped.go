package resource

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
)

// untyped are the messages that name an extension, and that Envoy refuses without a typed_config, as seen with 1.36 and 1.40. 1.36 takes
// them by their name where its runtime says so, 1.40 never. What else has a name and a typed_config Envoy takes without, or its
// API's constraints ask for it. The value is where such extensions stand in Envoy's API, below "envoy.".
var untyped = map[protoreflect.FullName]string{
	"envoy.config.accesslog.v3.AccessLog":                                    "access_loggers",
	"envoy.config.accesslog.v3.ExtensionFilter":                              "access_loggers.filters",
	"envoy.config.cluster.v3.Filter":                                         "filters.network",
	"envoy.config.core.v3.HealthCheck.CustomHealthCheck":                     "health_checkers",
	"envoy.config.core.v3.RetryPolicy.RetryHostPredicate":                    "retry.host",
	"envoy.config.core.v3.RetryPolicy.RetryPriority":                         "retry.priority",
	"envoy.config.core.v3.TransportSocket":                                   "transport_sockets",
	"envoy.config.listener.v3.Filter":                                        "filters.network",
	"envoy.config.listener.v3.ListenerFilter":                                "filters.listener",
	"envoy.config.route.v3.RetryPolicy.RetryHostPredicate":                   "retry.host",
	"envoy.config.route.v3.RetryPolicy.RetryPriority":                        "retry.priority",
	"envoy.config.trace.v3.Tracing.Http":                                     "tracers",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": "filters.http",
	"envoy.extensions.filters.network.thrift_proxy.v3.ThriftFilter":          "filters.thrift",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter": "filters.udp.session",
	"envoy.extensions.filters.network.sip_proxy.v3alpha.SipFilter":           "filters.sip",
}

// untyped tells of an extension that is named alone.
func (r *report) untyped(m protoreflect.Message, p place) {
	kind, is := untyped[m.Descriptor().FullName()]
	if !is {
		return
	}
	fields := m.Descriptor().Fields()
	for _, name := range []protoreflect.Name{"typed_config", "config_discovery", "is_optional"} { // what is optional Envoy goes without
		if fd := fields.ByName(name); fd != nil && m.Has(fd) {
			return
		}
	}
	write := "its documentation has the message"
	if md := namedExtension(kind, m.Get(fields.ByName("name")).String()); md != nil {
		write = `write typed_config: {"@type": ` + fleet.URLPrefix + string(md.FullName()) + "}"
	}
	r.add(p.to(m, "typed_config").at, codeRequired, "typed_config is missing: Envoy knows an extension by the message of its typed_config, and refuses one that it has the name of alone: %s", write)
}

// namedExtension is the message of an extension by its name of today, as envoy.filters.http.router, or of old, as envoy.router; nil if it
// cannot be told.
func namedExtension(kind, name string) (found protoreflect.MessageDescriptor) {
	rest, envoy := strings.CutPrefix(name, "envoy.")
	if !envoy {
		return nil
	}
	rest = strings.TrimPrefix(rest, kind+".")
	last := strings.ReplaceAll(rest[strings.LastIndexByte(rest, '.')+1:], "_", "")
	protoregistry.GlobalFiles.RangeFilesByPackage(protoreflect.FullName("envoy.extensions."+kind+"."+rest+".v3"), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			if md := file.Messages().Get(i); strings.EqualFold(string(md.Name()), last) {
				found = md
			}
		}
		return found == nil
	})
	return found
}
