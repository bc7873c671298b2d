package xds

import (
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// service is one of the discovery services: the aggregated one, or that of one type.
type service struct {
	name, file  string
	sotw, delta string // methods; "" has none
	only        fleet.Type
	aggregated  bool
}

// services are all that there are. Their unary methods, for polling over gRPC, which no
// client uses, are not served: see refuseUnknown.
var services = []service{
	{name: "discovery.v3.AggregatedDiscoveryService", file: "discovery/v3/ads.proto", sotw: "StreamAggregatedResources", delta: "DeltaAggregatedResources", aggregated: true},
	{name: "cluster.v3.ClusterDiscoveryService", file: "cluster/v3/cds.proto", sotw: "StreamClusters", delta: "DeltaClusters", only: fleet.Cluster},
	{name: "endpoint.v3.EndpointDiscoveryService", file: "endpoint/v3/eds.proto", sotw: "StreamEndpoints", delta: "DeltaEndpoints", only: fleet.Endpoint},
	{name: "secret.v3.SecretDiscoveryService", file: "secret/v3/sds.proto", sotw: "StreamSecrets", delta: "DeltaSecrets", only: fleet.Secret},
	{name: "listener.v3.ListenerDiscoveryService", file: "listener/v3/lds.proto", sotw: "StreamListeners", delta: "DeltaListeners", only: fleet.Listener},
	{name: "route.v3.RouteDiscoveryService", file: "route/v3/rds.proto", sotw: "StreamRoutes", delta: "DeltaRoutes", only: fleet.Route},
	{name: "route.v3.ScopedRoutesDiscoveryService", file: "route/v3/srds.proto", sotw: "StreamScopedRoutes", delta: "DeltaScopedRoutes", only: fleet.ScopedRoute},
	{name: "route.v3.VirtualHostDiscoveryService", file: "route/v3/rds.proto", delta: "DeltaVirtualHosts", only: fleet.VirtualHost},
	{name: "runtime.v3.RuntimeDiscoveryService", file: "runtime/v3/rtds.proto", sotw: "StreamRuntime", delta: "DeltaRuntime", only: fleet.Runtime},
	{name: "extension.v3.ExtensionConfigDiscoveryService", file: "extension/v3/ecds.proto", sotw: "StreamExtensionConfigs", delta: "DeltaExtensionConfigs", only: fleet.Extension},
}

// protocol is how a stream speaks: by which service, and which of the two ways: delta or SotW.
type protocol struct {
	delta      bool
	singleType bool // only one type's service
	polled     bool // a session of polls over REST; of a single type
	only       fleet.Type
}

// String is what people read: "delta ADS", "SotW CDS", "REST CDS".
func (p protocol) String() string {
	s := "SotW "
	switch {
	case p.polled:
		s = "REST "
	case p.delta:
		s = "delta "
	}
	if p.singleType {
		return s + p.only.Service()
	}
	return s + "ADS"
}

// measured is how metrics tell it apart.
func (p protocol) measured() metrics.Protocol {
	switch {
	case p.polled:
		return metrics.REST
	case p.delta:
		return metrics.Delta
	}
	return metrics.SotW
}

// Register offers the services.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	for _, x := range services {
		desc := &grpc.ServiceDesc{ServiceName: "envoy.service." + x.name, Metadata: "envoy/service/" + x.file}
		p := protocol{singleType: !x.aggregated, only: x.only}
		for _, m := range []struct {
			name  string
			delta bool
		}{{x.sotw, false}, {x.delta, true}} {
			if m.name == "" {
				continue
			}
			p.delta = m.delta
			desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: m.name, ServerStreams: true, ClientStreams: true, Handler: s.handler(p)})
		}
		r.RegisterService(desc, nil)
	}
	s.registerStatus(r)
	s.registerLoad(r)
	s.registerHealth(r)
	s.registerReflection(r)
}

func (s *Server) handler(p protocol) grpc.StreamHandler {
	return func(_ any, ss grpc.ServerStream) error {
		id, ok := identityOf(ss.Context())
		if !ok {
			return statusOf(ss.Context(), errNoIdentity)
		}
		st := newStream(s, ss, id, p)
		known, ok := ss.(*identified)
		st.relayed = ok && known.relayed
		return statusOf(ss.Context(), st.run())
	}
}

// refuseUnknown answers calls of services that there are none of. A client of xDS v2 is
// told what to change: all that it shows to a person is this text.
func refuseUnknown(_ any, ss grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(ss)
	if strings.HasPrefix(method, "/envoy.api.v2.") || strings.Contains(method, ".v2.") {
		return status.Errorf(codes.Unimplemented, "%s is of xDS v2, which is gone: set transport_api_version and resource_api_version to V3", method)
	}
	if name, fetch, _ := strings.Cut(strings.TrimPrefix(method, "/envoy.service."), "/"); strings.HasPrefix(fetch, "Fetch") {
		for _, x := range services {
			if path := restPath(x.only); x.name == name && !x.aggregated && path != "" {
				return status.Errorf(codes.Unimplemented, "%s is not served: poll with POST %s over HTTP/1.1 on this port (api_type: REST), or open %s (api_type: GRPC)", method, path, x.sotw)
			}
		}
	}
	return status.Errorf(codes.Unimplemented, "%s is not served", method)
}
