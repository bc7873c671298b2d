package xdstest

import (
	"slices"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

func (r Request) url() string {
	if r.TypeURL != "" {
		return r.TypeURL
	}
	return r.Type.URL()
}

func (r Request) status() *rpcstatus.Status {
	if r.Error == "" {
		return nil
	}
	return &rpcstatus.Status{Code: int32(codes.Internal), Message: r.Error}
}

type deltaWire struct {
	ss discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
}

func (w *deltaWire) send(r Request) error {
	return w.ss.Send(&discoveryv3.DeltaDiscoveryRequest{
		Node: r.Node, TypeUrl: r.url(), ResourceNamesSubscribe: r.Names, ResourceNamesUnsubscribe: r.Unsubscribe,
		InitialResourceVersions: r.Versions, ResponseNonce: r.Nonce, ErrorDetail: r.status(),
	})
}

func (w *deltaWire) recv() (*Response, error) {
	m, err := w.ss.Recv()
	if err != nil {
		return nil, err
	}
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	r := &Response{Type: t, Version: m.GetSystemVersionInfo(), Nonce: m.GetNonce(), Removed: m.GetRemovedResources()}
	for _, x := range m.GetResources() {
		r.Resources = append(r.Resources, named(x.GetName(), x.GetVersion()))
	}
	slices.Sort(r.Resources)
	return r, nil
}

// again: a name that is subscribed to is answered, even if the client has it.
func (w *deltaWire) again(*Response) []Request {
	return []Request{{Type: fleet.Extension, Names: []string{barrier}}}
}

type sotwWire struct {
	ss discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
}

func (w *sotwWire) send(r Request) error {
	return w.ss.Send(&discoveryv3.DiscoveryRequest{
		Node: r.Node, TypeUrl: r.url(), ResourceNames: r.Names, VersionInfo: r.Version,
		ResponseNonce: r.Nonce, ErrorDetail: r.status(),
	})
}

func (w *sotwWire) recv() (*Response, error) {
	m, err := w.ss.Recv()
	if err != nil {
		return nil, err
	}
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	r := &Response{Type: t, Version: m.GetVersionInfo(), Nonce: m.GetNonce()}
	for _, x := range m.GetResources() {
		r.Resources = append(r.Resources, described(t, x.GetValue()))
	}
	slices.Sort(r.Resources)
	return r, nil
}

// again: a name that was given up and is asked for again is sent again.
func (w *sotwWire) again(last *Response) []Request {
	ask := Request{Type: fleet.Extension, Names: []string{barrier}}
	if last == nil {
		return []Request{ask}
	}
	none := Request{Type: fleet.Extension, Version: last.Version, Nonce: last.Nonce}
	ask.Version, ask.Nonce = last.Version, last.Nonce
	return []Request{none, ask}
}

// described reads a body of Resource, or an empty ClusterLoadAssignment.
func described(t fleet.Type, value []byte) string {
	var cla endpointv3.ClusterLoadAssignment
	if t == fleet.Endpoint && proto.Unmarshal(value, &cla) == nil && cla.GetClusterName() != "" {
		return named(cla.GetClusterName(), "empty")
	}
	return string(value)
}
