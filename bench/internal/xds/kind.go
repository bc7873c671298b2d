package xds

import "fmt"

// Kind is one of the four resource types that the bench speaks, in the order in which a
// client needs them.
type Kind uint8

// The kinds.
const (
	Clusters Kind = iota
	Endpoints
	Listeners
	Routes
	Kinds // how many there are
)

var typeURLs = [Kinds]string{
	"type.googleapis.com/envoy.config.cluster.v3.Cluster",
	"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
	"type.googleapis.com/envoy.config.listener.v3.Listener",
	"type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
}

// TypeURL is the kind's name on the wire.
func (k Kind) TypeURL() string { return typeURLs[k] }

// Parent returns the kind whose resources name those of k; Clusters and Listeners have none.
func (k Kind) Parent() (Kind, bool) {
	if k == Endpoints || k == Routes {
		return k - 1, true
	}
	return 0, false
}

// KindOf maps a type URL to its kind.
func KindOf(url []byte) (Kind, bool) {
	for k, u := range typeURLs {
		if string(url) == u {
			return Kind(k), true
		}
	}
	return 0, false
}

// Protocol is a way to subscribe: one of the variants of aggregated xDS, or polls over REST.
type Protocol string

// The protocols.
const (
	SotW  Protocol = "sotw"
	Delta Protocol = "delta"
	REST  Protocol = "rest"
)

// ParseProtocol reads sotw, delta or rest.
func ParseProtocol(s string) (Protocol, error) {
	if p := Protocol(s); p == SotW || p == Delta || p == REST {
		return p, nil
	}
	return "", fmt.Errorf("bad protocol %q: write sotw, delta or rest", s)
}

// Method is the path of the protocol's gRPC method; that of REST, where clusters are polled for.
func (p Protocol) Method() string {
	if p == REST {
		return "/v3/discovery:clusters"
	}
	if p == Delta {
		return "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	}
	return "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
}
