package xdstest

import (
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	runtimev3 "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
)

// body is Envoy's message of the type, with the version in a field that says nothing to
// a proxy.
func (s *spec) body() proto.Message {
	name := s.row.Name
	switch s.row.Type {
	case fleet.Cluster:
		return s.cluster()
	case fleet.Endpoint:
		return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{
			{Locality: &corev3.Locality{Region: s.version}},
		}}
	case fleet.Secret:
		return &tlsv3.Secret{Name: name, Type: &tlsv3.Secret_GenericSecret{GenericSecret: &tlsv3.GenericSecret{
			Secret: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: s.version}},
		}}}
	case fleet.Listener:
		return &listenerv3.Listener{Name: name, StatPrefix: s.version, Metadata: s.weight()}
	case fleet.Route:
		return s.route()
	case fleet.ScopedRoute:
		return &routev3.ScopedRouteConfiguration{Name: name, RouteConfigurationName: s.ref(fleet.Route), Key: &routev3.ScopedRouteConfiguration_Key{
			Fragments: []*routev3.ScopedRouteConfiguration_Key_Fragment{
				{Type: &routev3.ScopedRouteConfiguration_Key_Fragment_StringKey{StringKey: s.version}},
			},
		}}
	case fleet.VirtualHost:
		return &routev3.VirtualHost{Name: name, Domains: s.row.Derived.Domains, RequestHeadersToRemove: []string{s.version}, Routes: s.routes()}
	case fleet.Runtime:
		return &runtimev3.Runtime{Name: name, Layer: &structpb.Struct{Fields: map[string]*structpb.Value{
			"version": structpb.NewStringValue(s.version),
		}}}
	case fleet.Extension:
		config, err := anypb.New(wrapperspb.String(s.version))
		if err != nil {
			panic(err) // never: the message is well known
		}
		return &corev3.TypedExtensionConfig{Name: name, TypedConfig: config}
	}
	panic("no body for " + s.row.Type.String())
}

func (s *spec) cluster() proto.Message {
	c := &clusterv3.Cluster{Name: s.row.Name, AltStatName: s.version, Metadata: s.weight()}
	if s.eds {
		c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS}
		c.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{
			EdsConfig: &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}},
		}
		if eds := s.row.Derived.EDSName; eds != s.row.Name {
			c.EdsClusterConfig.ServiceName = eds
		}
	}
	return c
}

func (s *spec) route() proto.Message {
	r := &routev3.RouteConfiguration{Name: s.row.Name, InternalOnlyHeaders: []string{s.version}}
	if len(s.clusters) > 0 {
		r.VirtualHosts = []*routev3.VirtualHost{{Name: "all", Domains: []string{"*"}, Routes: s.routes()}}
	}
	if s.row.Derived.VHDS {
		r.Vhds = &routev3.Vhds{ConfigSource: &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}}
	}
	return r
}

func (s *spec) routes() []*routev3.Route {
	routes := make([]*routev3.Route, len(s.clusters))
	for i, c := range s.clusters {
		routes[i] = &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/" + c}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: c}}},
		}
	}
	return routes
}

func (s *spec) ref(t fleet.Type) string {
	for _, r := range s.row.Derived.Refs {
		if r.Type == t {
			return r.Name
		}
	}
	return ""
}

func (s *spec) weight() *corev3.Metadata {
	if s.padding == 0 {
		return nil
	}
	return &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{"padding": {
		Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(strings.Repeat("x", s.padding))},
	}}}
}

// read finds in a body what body put into it. A ClusterLoadAssignment without endpoints
// is of the version "empty".
func read(body *anypb.Any) (name, version string, clusters []string) {
	m, err := body.UnmarshalNew()
	if err != nil {
		return "", err.Error(), nil
	}
	switch m := m.(type) {
	case *clusterv3.Cluster:
		return m.GetName(), m.GetAltStatName(), nil
	case *endpointv3.ClusterLoadAssignment:
		if len(m.GetEndpoints()) == 0 {
			return m.GetClusterName(), "empty", nil
		}
		return m.GetClusterName(), m.GetEndpoints()[0].GetLocality().GetRegion(), nil
	case *tlsv3.Secret:
		return m.GetName(), m.GetGenericSecret().GetSecret().GetInlineString(), nil
	case *listenerv3.Listener:
		return m.GetName(), m.GetStatPrefix(), nil
	case *routev3.RouteConfiguration:
		for _, vh := range m.GetVirtualHosts() {
			clusters = append(clusters, named(vh.GetRoutes())...)
		}
		return m.GetName(), strings.Join(m.GetInternalOnlyHeaders(), ","), clusters
	case *routev3.ScopedRouteConfiguration:
		return m.GetName(), m.GetKey().GetFragments()[0].GetStringKey(), nil
	case *routev3.VirtualHost:
		return m.GetName(), strings.Join(m.GetRequestHeadersToRemove(), ","), named(m.GetRoutes())
	case *runtimev3.Runtime:
		return m.GetName(), m.GetLayer().GetFields()["version"].GetStringValue(), nil
	case *corev3.TypedExtensionConfig:
		var text wrapperspb.StringValue
		if err := m.GetTypedConfig().UnmarshalTo(&text); err != nil {
			return m.GetName(), err.Error(), nil
		}
		return m.GetName(), text.GetValue(), nil
	}
	return "", "of a type that is not known: " + body.GetTypeUrl(), nil
}

// named are the clusters that routes route to.
func named(routes []*routev3.Route) []string {
	var clusters []string
	for _, r := range routes {
		clusters = append(clusters, r.GetRoute().GetCluster())
	}
	return clusters
}
