package xds_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"fairlead/internal/load"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// methods are all that the server offers. A new one has to be added here, and is then
// tested for asking who calls.
var methods = strings.Fields(`
	envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters
	envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters
	envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources
	envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources
	envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints
	envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints
	envoy.service.extension.v3.ExtensionConfigDiscoveryService/DeltaExtensionConfigs
	envoy.service.extension.v3.ExtensionConfigDiscoveryService/StreamExtensionConfigs
	envoy.service.listener.v3.ListenerDiscoveryService/DeltaListeners
	envoy.service.listener.v3.ListenerDiscoveryService/StreamListeners
	envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats
	envoy.service.route.v3.RouteDiscoveryService/DeltaRoutes
	envoy.service.route.v3.RouteDiscoveryService/StreamRoutes
	envoy.service.route.v3.ScopedRoutesDiscoveryService/DeltaScopedRoutes
	envoy.service.route.v3.ScopedRoutesDiscoveryService/StreamScopedRoutes
	envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts
	envoy.service.runtime.v3.RuntimeDiscoveryService/DeltaRuntime
	envoy.service.runtime.v3.RuntimeDiscoveryService/StreamRuntime
	envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets
	envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets
	envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus
	envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus
	grpc.reflection.v1.ServerReflection/ServerReflectionInfo
	grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo
`)

// TestT03_EveryMethodAsksWhoCalls: the set of methods is closed, and none of them but the
// health check answers a call without a good credential. None is unary: grpc decodes the
// request of such a one first.
func TestT03_EveryMethodAsksWhoCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, reflective, func(c *xds.Config) {
			c.Load = xds.LoadReports{Add: addTo(load.New(load.Bounds{})), Interval: time.Second}
		})
		offered := w.Server.NewGRPC()
		known := map[string]bool{"grpc.health.v1.Health/Check": true}
		for _, m := range methods {
			known[m] = true
		}
		n := 0
		for name, info := range offered.GetServiceInfo() {
			for _, m := range info.Methods {
				n++
				if !m.IsClientStream && !m.IsServerStream {
					t.Errorf("%s/%s is unary", name, m.Name)
				}
				if !known[name+"/"+m.Name] {
					t.Errorf("%s/%s is offered and not in the list", name, m.Name)
				}
			}
		}
		if n != len(methods)+1 {
			t.Errorf("%d methods are offered, want %d", n, len(methods)+1)
		}
		for _, m := range append(methods, "envoy.service.trace.v3.TraceService/StreamTraces") {
			for _, token := range []string{"", "bad"} {
				ss, err := w.Conn().NewStream(xdstest.As(t.Context(), token), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/"+m)
				if err != nil {
					t.Fatal(err)
				}
				_ = ss.SendMsg(&emptypb.Empty{}) // may come too late: the reason comes with RecvMsg
				_ = ss.CloseSend()
				if err := ss.RecvMsg(&emptypb.Empty{}); status.Code(err) != codes.Unauthenticated {
					t.Errorf("%s with token %q ended with %v, want Unauthenticated", m, token, err)
				}
			}
		}
	})
}

// TestFetchNamesWhatIsServed: the unary methods are answered with what to use in their place.
func TestFetchNamesWhatIsServed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		for method, want := range map[string][]string{
			"envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters":                   {"/v3/discovery:clusters", "StreamClusters"},
			"envoy.service.route.v3.ScopedRoutesDiscoveryService/FetchScopedRoutes":            {"/v3/discovery:scoped-routes", "StreamScopedRoutes"},
			"envoy.service.extension.v3.ExtensionConfigDiscoveryService/FetchExtensionConfigs": {"/v3/discovery:extension_configs", "StreamExtensionConfigs"},
			"envoy.service.discovery.v3.AggregatedDiscoveryService/FetchAggregatedResources":   {"is not served"},
			"envoy.service.route.v3.VirtualHostDiscoveryService/FetchVirtualHosts":             {"is not served"},
			"envoy.service.cluster.v3.AnotherDiscoveryService/FetchClusters":                   {"is not served"},
		} {
			err := w.Conn().Invoke(xdstest.As(t.Context(), "*"), "/"+method, &emptypb.Empty{}, &emptypb.Empty{})
			if status.Code(err) != codes.Unimplemented {
				t.Errorf("%s: %v", method, err)
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: %v, want %q in it", method, err, part)
				}
			}
		}
	})
}
