package xdstest

import (
	"context"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
)

// Protocol is one of the four ways in which xDS is spoken over gRPC, or REST.
type Protocol struct {
	Delta   bool // incremental; else state of the world
	PerType bool // a stream of its own for each type; else aggregated
	Polls   bool // over REST
}

// All four, and polls.
var (
	SotW      = Protocol{PerType: true}
	SotWADS   = Protocol{}
	Delta     = Protocol{Delta: true, PerType: true}
	DeltaADS  = Protocol{Delta: true}
	REST      = Protocol{PerType: true, Polls: true}
	Protocols = []Protocol{SotWADS, DeltaADS, SotW, Delta}
	protocols = map[bool]string{false: "SotW", true: "delta"}
)

// String is "SotW ADS", "delta ADS", "SotW", "delta" or "REST".
func (v Protocol) String() string {
	if v.Polls {
		return "REST"
	}
	if v.PerType {
		return protocols[v.Delta]
	}
	return protocols[v.Delta] + " ADS"
}

// service is what a type's own service and its methods are called.
type service struct{ name, methods string }

var services = [fleet.NumTypes]service{
	fleet.Cluster:     {"envoy.service.cluster.v3.ClusterDiscoveryService", "Clusters"},
	fleet.Endpoint:    {"envoy.service.endpoint.v3.EndpointDiscoveryService", "Endpoints"},
	fleet.Secret:      {"envoy.service.secret.v3.SecretDiscoveryService", "Secrets"},
	fleet.Listener:    {"envoy.service.listener.v3.ListenerDiscoveryService", "Listeners"},
	fleet.Route:       {"envoy.service.route.v3.RouteDiscoveryService", "Routes"},
	fleet.ScopedRoute: {"envoy.service.route.v3.ScopedRoutesDiscoveryService", "ScopedRoutes"},
	fleet.VirtualHost: {"envoy.service.route.v3.VirtualHostDiscoveryService", "VirtualHosts"},
	fleet.Runtime:     {"envoy.service.runtime.v3.RuntimeDiscoveryService", "Runtime"},
	fleet.Extension:   {"envoy.service.extension.v3.ExtensionConfigDiscoveryService", "ExtensionConfigs"},
}

// aggregated serves all types.
var aggregated = service{"envoy.service.discovery.v3.AggregatedDiscoveryService", "AggregatedResources"}

// Serves reports whether the protocol has the type: virtual hosts are incremental alone.
func (v Protocol) Serves(t fleet.Type) bool { return v.Delta || t != fleet.VirtualHost }

// Method is the full name of the method that serves the type.
func (v Protocol) Method(t fleet.Type) string {
	s := aggregated
	if v.PerType {
		s = services[t]
	}
	if v.Delta {
		return "/" + s.name + "/Delta" + s.methods
	}
	return "/" + s.name + "/Stream" + s.methods
}

// call opens a stream of any method.
func call(ctx context.Context, conn *grpc.ClientConn, method string) (grpc.ClientStream, error) {
	return conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method,
		grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20))
}

// Call opens a stream of any method and returns the error that it ends with.
func Call(t testing.TB, conn *grpc.ClientConn, method string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(As(t.Context(), "*"), patience())
	defer cancel()
	cs, err := call(ctx, conn, method)
	if err != nil {
		return err
	}
	return cs.RecvMsg(&discoveryv3.DiscoveryResponse{})
}

// Register offers every service as another server's. handle serves a stream of the
// protocol; t is the type of a service that has but one.
func Register(r grpc.ServiceRegistrar, handle func(ss grpc.ServerStream, v Protocol, t fleet.Type) error) {
	offer := func(s service, perType bool, t fleet.Type) {
		desc := &grpc.ServiceDesc{ServiceName: s.name}
		for _, d := range []bool{false, true} {
			v := Protocol{Delta: d, PerType: perType}
			if !v.Serves(t) && v.PerType {
				continue
			}
			_, method, _ := strings.Cut(v.Method(t)[1:], "/")
			desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: method, ServerStreams: true, ClientStreams: true,
				Handler: func(_ any, ss grpc.ServerStream) error { return handle(ss, v, t) }})
		}
		r.RegisterService(desc, nil)
	}
	offer(aggregated, false, 0)
	for t, s := range services {
		offer(s, true, fleet.Type(t))
	}
}
