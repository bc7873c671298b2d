package fleet

import (
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	listenerName = "listener-0"
	routeName    = "route-0"
	hosts        = 3 // of a load assignment
)

// cluster has the marker as a name for statistics, where a client does not use it.
func cluster(i int, marker string) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name:                 ClusterName(i),
		AltStatName:          marker,
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
		EdsClusterConfig:     &clusterv3.Cluster_EdsClusterConfig{EdsConfig: adsSource()},
		ConnectTimeout:       durationpb.New(5 * time.Second),
		LbPolicy:             clusterv3.Cluster_LEAST_REQUEST,
		CircuitBreakers: &clusterv3.CircuitBreakers{
			Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
				MaxConnections:     wrapperspb.UInt32(4096),
				MaxPendingRequests: wrapperspb.UInt32(4096),
				MaxRequests:        wrapperspb.UInt32(4096),
			}},
		},
	}
}

// assignment has the marker as a host's name, where a client does not use it.
func assignment(i int, marker string) *endpointv3.ClusterLoadAssignment {
	eps := make([]*endpointv3.LbEndpoint, hosts)
	for j := range eps {
		eps[j] = &endpointv3.LbEndpoint{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
				Address: address(fmt.Sprintf("10.%d.%d.%d", j, i>>8, i&255), 8080),
			}},
			HealthStatus:        corev3.HealthStatus_HEALTHY,
			LoadBalancingWeight: wrapperspb.UInt32(1),
		}
	}
	eps[0].GetEndpoint().Hostname = marker
	return &endpointv3.ClusterLoadAssignment{
		ClusterName: ClusterName(i),
		Endpoints: []*endpointv3.LocalityLbEndpoints{{
			Locality:            &corev3.Locality{Region: "region-1", Zone: "zone-a"},
			LbEndpoints:         eps,
			LoadBalancingWeight: wrapperspb.UInt32(1),
		}},
	}
}

func listener() *listenerv3.Listener {
	manager := &hcmv3.HttpConnectionManager{
		StatPrefix: "ingress",
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{
			ConfigSource:    adsSource(),
			RouteConfigName: routeName,
		}},
		HttpFilters: []*hcmv3.HttpFilter{{
			Name:       "envoy.filters.http.router",
			ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: wrapped(&routerv3.Router{})},
		}},
	}
	return &listenerv3.Listener{
		Name:    listenerName,
		Address: address("0.0.0.0", 10000),
		FilterChains: []*listenerv3.FilterChain{{
			Filters: []*listenerv3.Filter{{
				Name:       "envoy.filters.network.http_connection_manager",
				ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: wrapped(manager)},
			}},
		}},
	}
}

func routes(r int) *routev3.RouteConfiguration {
	rs := make([]*routev3.Route, r)
	for i := range rs {
		rs[i] = &routev3.Route{
			Match: &routev3.RouteMatch{
				PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: fmt.Sprintf("/service-%05d/", i)},
			},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{
				ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: ClusterName(i)},
			}},
		}
	}
	return &routev3.RouteConfiguration{
		Name:         routeName,
		VirtualHosts: []*routev3.VirtualHost{{Name: "all", Domains: []string{"*"}, Routes: rs}},
	}
}

func address(host string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{
		SocketAddress: &corev3.SocketAddress{
			Address:       host,
			PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
		},
	}}
}

func adsSource() *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion:    corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}
}

func wrapped(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err) // a message of this file
	}
	return a
}
