package xdstest

import (
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
)

// Request is what a client sends, of either protocol.
type Request struct {
	Type fleet.Type
	// Names are all names (state of the world) or those to subscribe to (delta).
	Names       []string
	Unsubscribe []string          // delta
	Version     string            // state of the world
	Versions    map[string]string // delta: initial_resource_versions
	Nonce       string
	Error       string // a NACK
	Node        *corev3.Node
	TypeURL     string // in the place of Type's; "none" sends none
}

func (r Request) url() string {
	switch r.TypeURL {
	case "":
		return r.Type.URL()
	case "none":
		return ""
	}
	return r.TypeURL
}

func (r Request) status() *rpcstatus.Status {
	if r.Error == "" {
		return nil
	}
	return &rpcstatus.Status{Code: int32(codes.Internal), Message: r.Error}
}

// stream is one gRPC stream of a client.
type stream struct {
	grpc.ClientStream
	delta bool
	named bool            // the node was sent
	seen  map[string]bool // nonces
}

func (s *stream) send(r Request) error {
	if s.delta {
		return s.SendMsg(&discoveryv3.DeltaDiscoveryRequest{
			Node: r.Node, TypeUrl: r.url(), ResourceNamesSubscribe: r.Names, ResourceNamesUnsubscribe: r.Unsubscribe,
			InitialResourceVersions: r.Versions, ResponseNonce: r.Nonce, ErrorDetail: r.status(),
		})
	}
	return s.SendMsg(&discoveryv3.DiscoveryRequest{
		Node: r.Node, TypeUrl: r.url(), ResourceNames: r.Names, VersionInfo: r.Version,
		ResponseNonce: r.Nonce, ErrorDetail: r.status(),
	})
}

func (s *stream) recv() (*Response, error) {
	var r *Response
	if s.delta {
		var m discoveryv3.DeltaDiscoveryResponse
		if err := s.RecvMsg(&m); err != nil {
			return nil, err
		}
		r = readDelta(&m)
	} else {
		var m discoveryv3.DiscoveryResponse
		if err := s.RecvMsg(&m); err != nil {
			return nil, err
		}
		r = readSotW(&m)
	}
	r.from = s
	slices.SortFunc(r.Resources, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(r.Removed)
	return r, nil
}

func readDelta(m *discoveryv3.DeltaDiscoveryResponse) *Response {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	r := &Response{Type: t, Version: m.GetSystemVersionInfo(), Nonce: m.GetNonce(), Removed: m.GetRemovedResources(), Errors: errorsOf(m.GetResourceErrors()), Size: proto.Size(m)}
	for _, x := range m.GetResources() {
		r.Resources = append(r.Resources, itemOf(x))
	}
	return r
}

func readSotW(m *discoveryv3.DiscoveryResponse) *Response {
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	r := &Response{Type: t, Version: m.GetVersionInfo(), Nonce: m.GetNonce(), Errors: errorsOf(m.GetResourceErrors()), Size: proto.Size(m)}
	for _, x := range m.GetResources() {
		var wrapper discoveryv3.Resource
		if x.MessageIs(&wrapper) {
			if err := x.UnmarshalTo(&wrapper); err == nil {
				i := itemOf(&wrapper)
				i.Wrapped = true
				r.Resources = append(r.Resources, i)
				continue
			}
		}
		i := bodyOf(x)
		i.Name = i.Inner
		r.Resources = append(r.Resources, i)
	}
	return r
}

func errorsOf(all []*discoveryv3.ResourceError) (es []Error) {
	for _, e := range all {
		es = append(es, Error{e.GetResourceName().GetName(), codes.Code(e.GetErrorDetail().GetCode()), e.GetErrorDetail().GetMessage()}) //nolint:gosec // there are few
	}
	return es
}

func itemOf(x *discoveryv3.Resource) Item {
	i := Item{Bare: true}
	if x.GetResource() != nil {
		i = bodyOf(x.GetResource())
	}
	i.Name, i.Version, i.Aliases = x.GetName(), x.GetVersion(), x.GetAliases()
	i.HasTTL, i.TTL = x.GetTtl() != nil, x.GetTtl().AsDuration()
	return i
}

func bodyOf(x *anypb.Any) Item {
	var i Item
	i.Inner, i.Label, i.Targets = read(x)
	return i
}
