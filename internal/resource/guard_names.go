package resource

import (
	"slices"
	"strings"

	filterstate "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// ownPrefix begins the names of what Fairlead puts into a bootstrap.
const ownPrefix = fleet.BootstrapPrefix

// IsOwn reports whether a cluster's name is one of those that Fairlead gives in a bootstrap.
func IsOwn(cluster string) bool { return strings.HasPrefix(cluster, ownPrefix) }

// clusterNames are the fields that hold a cluster's own name: one that is called like a cluster
// of the bootstrap, or the endpoints of that one.
var clusterNames = map[protoreflect.FullName]bool{
	"envoy.config.cluster.v3.Cluster.name":                        true,
	"envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name": true,
}

// askedClusters are the fields by which a request says the name of the cluster that it goes to.
// A specifier plugin is none: its extension names clusters, or is code, and is judged itself.
// Clusters on demand are none: what names them is judged where it stands.
var askedClusters = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.RouteAction.cluster_header":                            true,
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster_header":        true,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header":          true,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster_header": true,
	// What an earlier filter took out of the request takes the place of the configured groups.
	"envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier.override_metadata_namespace": true,
}

// sniCluster makes the server name that a TLS client asks for the name of the cluster.
const sniCluster = "envoy.extensions.filters.network.sni_cluster.v3.SniCluster"

// reverseTunnel begins an address that is none: the listener dials the cluster behind its last @
// ("rc://node@cluster:tenant@CLUSTER:connections").
const reverseTunnel = "rc://"

// asks looks for a message by which a connection says the name of the cluster that it goes to.
func (g *guard) asks(m protoreflect.Message, p place) {
	switch v := m.Interface().(type) {
	case *filterstate.FilterStateValue:
		if choosesCluster(v) {
			g.add(RuleClusterByRequest, p.at)
		}
	default:
		if m.Descriptor().FullName() == sniCluster {
			g.add(RuleClusterByRequest, p.at)
		}
	}
}

// choosesCluster: the TCP and the UDP proxy read the cluster out of such an object.
func choosesCluster(v *filterstate.FilterStateValue) bool {
	return strings.HasSuffix(v.GetObjectKey(), "_proxy.cluster") || strings.HasSuffix(v.GetFactoryKey(), "_proxy.cluster")
}

// names looks at a field that is set, for names of what stands in the proxies' bootstrap.
func (g *guard) names(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	name := fd.FullName()
	if askedClusters[name] {
		g.add(RuleClusterByRequest, p.to(m, fd.Name()).at)
		return
	}
	if !holdsNames(fd) {
		return
	}
	is := g.private
	ref, refers := referrers[name]
	switch {
	case clusterNames[name], refers && ref.to == fleet.Cluster:
	case refers && ref.to == fleet.Secret:
		is = IsOwn
	case name == "envoy.config.core.v3.SocketAddress.address":
		is = g.dialsPrivate
	default:
		return
	}
	each(m.Get(fd), fd, p.to(m, fd.Name()), func(v protoreflect.Value, at place) {
		if !fd.IsMap() && is(v.String()) {
			g.add(RuleBootstrapNames, at.at)
		}
	})
	if fd.IsMap() { // its keys are the names
		for _, k := range sortedKeys(m.Get(fd).Map()) {
			if is(k.String()) {
				at := p.to(m, fd.Name())
				g.add(RuleBootstrapNames, place{at.n.get(k.String()), at.at.member(k.String())}.at)
			}
		}
	}
}

// private reports whether a cluster of the bootstrap is called so that lends the proxy's identity.
func (g *guard) private(name string) bool {
	return IsOwn(name) || slices.Contains(g.privateClusters, name)
}

func (g *guard) dialsPrivate(address string) bool {
	if !strings.HasPrefix(address, reverseTunnel) {
		return false
	}
	cluster := address[strings.LastIndexByte(address, '@')+1:]
	if i := strings.LastIndexByte(cluster, ':'); i >= 0 {
		cluster = cluster[:i]
	}
	return g.private(cluster)
}
