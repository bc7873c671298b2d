package resource

import (
	"cmp"
	"slices"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// DeriveVersion moves when Derive reads more, or otherwise, out of a body. What was
// derived by an older version is derived again when it is loaded.
const DeriveVersion = 3

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

// Derive reads references and the like out of a stored body. Compile does the same;
// this is for bodies that were derived by an older version. The error is ErrInvalid.
func Derive(t fleet.Type, value []byte) (fleet.Derived, error) {
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return fleet.Derived{}, fail(nil, codeValue, "the stored bytes are not a %s", t.Message())
	}
	var d deriver
	if err := walk(m, nil, nil, true, func(m protoreflect.Message, n *node, at *path, _ bool) { d.message(m, place{n, at}) }); err != nil {
		return fleet.Derived{}, err
	}
	return d.derived(m), nil
}

// deriver collects references on a walk.
type deriver struct {
	report
	refs []fleet.Ref
	at   map[fleet.Ref]*path // where each stands first
	eds  string
}

// message takes the references that stand in m itself.
func (d *deriver) message(m protoreflect.Message, p place) {
	if c, ok := m.Interface().(*cluster.Cluster); ok {
		d.cluster(c, p)
	}
	md := m.Descriptor()
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if fd.Kind() != protoreflect.StringKind || fd.IsMap() || !m.Has(fd) {
			continue
		}
		ref, ok := referrers[fd.FullName()]
		if !ok || ref.source != "" && !served(m, ref.source) {
			continue
		}
		at := p.to(m, fd.Name())
		if !fd.IsList() {
			d.add(ref.to, m.Get(fd).String(), at)
			continue
		}
		for j := range m.Get(fd).List().Len() {
			d.add(ref.to, m.Get(fd).List().Get(j).String(), at.item(j))
		}
	}
}

// cluster takes the name under which Envoy asks for the cluster's endpoints: its own
// name, unless service_name says another.
func (d *deriver) cluster(c *cluster.Cluster, p place) {
	eds := c.GetEdsClusterConfig()
	source := eds.GetEdsConfig()
	ours := fromUs(source)
	if c.GetClusterType() != nil || c.GetType() != cluster.Cluster_EDS || !ours && source.GetApiConfigSource() == nil {
		return
	}
	at := p.to(c.ProtoReflect(), "name")
	d.eds = c.GetName()
	if s := eds.GetServiceName(); s != "" {
		d.eds, at = s, p.to(c.ProtoReflect(), "eds_cluster_config", "service_name")
	}
	if ours { // another source may be this server's service of endpoints, or somebody else's
		d.add(fleet.Endpoint, d.eds, at)
	}
}

// add takes one reference. What cannot be the name of a resource can never be served,
// and would not fit into the database.
func (d *deriver) add(t fleet.Type, name string, p place) {
	switch {
	case name == "":
	case len(name) > maxName:
		d.report.add(p.at, codeLimit, "this names a resource: names are at most %d bytes", maxName)
	case strings.ContainsRune(name, 0):
		d.report.add(p.at, codeValue, "this names a resource: names hold no character NUL")
	default:
		ref := fleet.Ref{Type: t, Name: name}
		d.refs = append(d.refs, ref)
		if _, twice := d.at[ref]; !twice && p.at != nil {
			if d.at == nil {
				d.at = map[fleet.Ref]*path{}
			}
			d.at[ref] = p.at
		}
	}
}

// derived returns what was found in the resource m.
func (d *deriver) derived(m protoreflect.Message) fleet.Derived {
	slices.SortFunc(d.refs, func(a, b fleet.Ref) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
	})
	out := fleet.Derived{Refs: slices.Compact(d.refs), EDSName: d.eds}
	switch v := m.Interface().(type) {
	case *cluster.Cluster:
		out.Slow = warmsSlowly(v)
	case *route.RouteConfiguration:
		out.VHDS = fromUs(v.GetVhds().GetConfigSource())
	case *route.VirtualHost:
		out.Domains = v.GetDomains()
	}
	return out
}

// warmsSlowly reports whether a cluster waits for others than the control plane before it
// is warm: for DNS, for its endpoints' health, or for what an extension does.
func warmsSlowly(c *cluster.Cluster) bool {
	t := c.GetType()
	return c.GetClusterType() != nil || len(c.GetHealthChecks()) > 0 || t == cluster.Cluster_STRICT_DNS || t == cluster.Cluster_LOGICAL_DNS
}

// served reports whether the resource that m names comes from this control plane.
func served(m protoreflect.Message, source protoreflect.Name) bool {
	fd := m.Descriptor().Fields().ByName(source)
	if !m.Has(fd) {
		return false
	}
	switch s := m.Get(fd).Message().Interface().(type) {
	case *core.ConfigSource:
		return fromUs(s)
	case *core.ExtensionConfigSource:
		return fromUs(s.GetConfigSource())
	}
	return false
}

// fromUs: only ads and self lead back to the stream that carries the resource.
func fromUs(s *core.ConfigSource) bool { return s.GetAds() != nil || s.GetSelf() != nil }
