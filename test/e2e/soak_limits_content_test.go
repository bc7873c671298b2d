package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// smallOnes is a file of clusters, and of routes that name them. With another timeout each of them is changed.
func smallOnes(size limitsSize) func(timeout string) []byte {
	return func(timeout string) []byte {
		var docs [][]byte
		add := func(kind, name, body string) {
			docs = append(docs, fmt.Appendf(nil, `{"type":%q,"name":%q,"body":%s}`, kind, name, body))
		}
		service := func(i int) string { return fmt.Sprintf("service-%05d.shop.internal", i) }
		for i := range size.clusters {
			add("clusters", service(i), fmt.Sprintf(`{"name":%q,"type":"STRICT_DNS","connect_timeout":%q,"load_assignment":{"cluster_name":%[1]q,"endpoints":[{"lb_endpoints":[{"endpoint":{"address":{"socket_address":{"address":%[1]q,"port_value":8080}}}}]}]}}`,
				service(i), timeout))
		}
		for i := range size.routes {
			add("routes", fmt.Sprintf("route-%05d", i), fmt.Sprintf(`{"name":"route-%05d","virtual_hosts":[{"name":"all","domains":["*"],"routes":[{"match":{"prefix":"/"},"route":{"cluster":%q,"timeout":%q}}]}]}`,
				i, service(i*size.clusters/size.routes), timeout))
		}
		return asFile(docs)
	}
}

// largeOnes is a file of load assignments and routes, each about as large as a resource may be. With another number each is changed, in many places.
func largeOnes(t testing.TB, size limitsSize) func(number uint32) []byte {
	return func(number uint32) []byte {
		t.Helper()
		var docs [][]byte
		for i := range size.large {
			name, kind := fmt.Sprintf("large-%02d", i), fleet.Endpoint
			m := proto.Message(assignmentOf(name, size.bytes, number))
			if i%2 == 1 {
				kind, m = fleet.Route, routesOf(name, size.bytes, number)
			}
			body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
			world.Must(t, err)
			var compact bytes.Buffer
			world.Must(t, json.Compact(&compact, body))
			docs = append(docs, fmt.Appendf(nil, `{"type":%q,"name":%q,"body":%s}`, kind.Slug(), name, compact.Bytes()))
		}
		return asFile(docs)
	}
}

func asFile(docs [][]byte) []byte {
	return append(append([]byte(`{"resources":[`), bytes.Join(docs, []byte(",\n"))...), "]}\n"...)
}

// assignmentOf is a load assignment of so many bytes, or a little less.
func assignmentOf(name string, most int, port uint32) *endpointv3.ClusterLoadAssignment {
	at := func(i int) *endpointv3.LbEndpoint {
		address := &corev3.SocketAddress{Address: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port}}
		return &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
			Hostname: fmt.Sprintf("pod-%08d.%s.shop.svc.cluster.internal", i, name),
			Address:  &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: address}},
		}}}
	}
	locality := &endpointv3.LocalityLbEndpoints{}
	for i, size := 0, 64; ; i++ {
		e := at(i)
		if size += proto.Size(e) + 3; size > most {
			return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{locality}}
		}
		locality.LbEndpoints = append(locality.LbEndpoints, e)
	}
}

// routesOf is a route configuration of so many bytes, or a little less.
func routesOf(name string, most int, millis uint32) *routev3.RouteConfiguration {
	out := &routev3.RouteConfiguration{Name: name}
	for i, size := 0, 64; ; i++ {
		to := &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: fmt.Sprintf("service-%02d", i%100)}, Timeout: &durationpb.Duration{Nanos: int32(millis) * 1000}} //nolint:gosec // small
		h := &routev3.VirtualHost{Name: fmt.Sprintf("host-%06d", i), Domains: []string{fmt.Sprintf("www-%06d.%s.shop.example.com", i, name)}, Routes: []*routev3.Route{{
			Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}}, Action: &routev3.Route_Route{Route: to},
		}}}
		if size += proto.Size(h) + 3; size > most {
			return out
		}
		out.VirtualHosts = append(out.VirtualHosts, h)
	}
}
