package schema

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// points are the fields whose Any is an extension of a kind, and what the packages of that kind begin
// with. Descriptors do not tell: it stands in comments of the proto files.
var points = map[protoreflect.FullName]string{
	"envoy.config.listener.v3.Filter.typed_config":                                                "envoy.extensions.filters.network.",
	"envoy.config.listener.v3.ListenerFilter.typed_config":                                        "envoy.extensions.filters.listener.",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.typed_config":         "envoy.extensions.filters.http.",
	"envoy.config.route.v3.Route.typed_per_filter_config":                                         "envoy.extensions.filters.http.",
	"envoy.config.route.v3.VirtualHost.typed_per_filter_config":                                   "envoy.extensions.filters.http.",
	"envoy.config.route.v3.RouteConfiguration.typed_per_filter_config":                            "envoy.extensions.filters.http.",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.typed_per_filter_config":                 "envoy.extensions.filters.http.",
	"envoy.config.core.v3.TransportSocket.typed_config":                                           "envoy.extensions.transport_sockets.",
	"envoy.config.accesslog.v3.AccessLog.typed_config":                                            "envoy.extensions.access_loggers.",
	"envoy.config.cluster.v3.Cluster.typed_extension_protocol_options":                            "envoy.extensions.upstreams.",
	"envoy.config.cluster.v3.Cluster.CustomClusterType.typed_config":                              "envoy.extensions.clusters.",
	"envoy.config.cluster.v3.Filter.typed_config":                                                 "envoy.extensions.filters.network.",
	"envoy.config.route.v3.RetryPolicy.RetryPriority.typed_config":                                "envoy.extensions.retry.priority.",
	"envoy.config.route.v3.RetryPolicy.RetryHostPredicate.typed_config":                           "envoy.extensions.retry.host.",
	"envoy.extensions.filters.network.http_connection_manager.v3.RequestIDExtension.typed_config": "envoy.extensions.request_id.",
}

// served are the extensions that are resources of their own.
const served = "envoy.extensions.filters."

// point is what the extensions of a field begin with; "" where that is not known.
func point(fd protoreflect.FieldDescriptor, outermost bool) string {
	if outermost && fd.FullName() == "envoy.config.core.v3.TypedExtensionConfig.typed_config" {
		return served
	}
	return points[fd.FullName()]
}

// wrapped are extensions that another message of their package holds as well.
var wrapped = []string{"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"}

// generic are taken wherever an extension is.
var generic = []string{urlPrefix + "xds.type.v3.TypedStruct", urlPrefix + "udpa.type.v1.TypedStruct"}

// extensions is an Any of a kind: those that are known are listed, and each has a document of its own. Another one
// is taken as it is.
func (w *writer) extensions(prefix string) object {
	known := w.ref("urls:"+prefix, func() object {
		urls := append([]string{}, generic...)
		for _, name := range extensionsBy(prefix) {
			urls = append(urls, urlPrefix+name)
		}
		return object{"enum": urls}
	})
	var each []object
	for _, name := range extensionsBy(prefix) {
		each = append(each, object{"$ref": w.Types + name})
	}
	for _, url := range generic {
		each = append(each, object{"properties": object{"@type": object{"const": url}}})
	}
	return object{
		"type": "object", "required": []string{"@type"}, "properties": object{"@type": object{"anyOf": []object{known, {"type": "string"}}}},
		"if": object{"properties": object{"@type": known}}, "then": object{"anyOf": each},
	}
}

// extensionsBy are the messages of the packages that begin so.
func extensionsBy(prefix string) (names []string) {
	for _, name := range extensions() {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// extensions are the messages that are an extension's configuration, as far as can be told: the outermost ones of the
// packages of extensions that no other message of their package holds.
var extensions = sync.OnceValue(func() (names []string) {
	held := map[protoreflect.FullName]bool{}
	all := map[protoreflect.FullName]bool{}
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		md := mt.Descriptor()
		if !strings.HasPrefix(string(md.FullName()), "envoy.extensions.") {
			return true
		}
		if md.FullName().Parent() == md.ParentFile().Package() {
			all[md.FullName()] = true
		}
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			if fd.IsMap() {
				fd = fd.MapValue()
			}
			if m := fd.Message(); m != nil && m.FullName() != md.FullName() && m.ParentFile().Package() == md.ParentFile().Package() {
				held[m.FullName()] = true
			}
		}
		return true
	})
	for name := range all {
		if !held[name] || slices.Contains(wrapped, string(name)) {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
})
