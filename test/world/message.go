package world

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// Sent is one response of the server, as a tap saw it.
type Sent struct {
	Stream  int
	Type    fleet.Type
	Nonce   string
	Names   []string // delta; in state of the world, where only bodies tell, as many ""
	Removed []string
	// Heartbeats are, of Names, those without a body and without an alias: heartbeats. TTLs are
	// those that are to expire.
	Heartbeats []string
	TTLs       []string
	Wrapped    int // resources in a wrapper, in state of the world: only there can a TTL stand
	// Content is of each resource, in order: in delta the name and the version, in state of
	// the world, which has no versions of resources, what its bytes come to.
	Content []string
}

func (s Sent) String() string {
	out := fmt.Sprintf("%d:%s %s", s.Stream, s.Type, strings.Join(s.Names, ","))
	if len(s.Removed) > 0 {
		out += " -" + strings.Join(s.Removed, ",-")
	}
	if len(s.Heartbeats) > 0 {
		out += " heartbeats " + strings.Join(s.Heartbeats, ",")
	}
	return out + " nonce " + s.Nonce
}

// Empty says that the response only answers.
func (s Sent) Empty() bool { return len(s.Names) == 0 && len(s.Removed) == 0 }

// Asked is one request of a client, as a tap saw it.
type Asked struct {
	Stream   int
	Method   string // the last part of its path, such as "DeltaClusters"
	Type     fleet.Type
	Node     *corev3.Node // nil: it does not say who it is
	Names    []string     // subscribed to
	Reported []string     // delta: what the client says that it holds
	Version  string       // state of the world
	Nonce    string
	Refusal  string // the text of a NACK
	Size     int    // in bytes
}

func (a Asked) String() string {
	out := fmt.Sprintf("%d:%s %s", a.Stream, a.Type, strings.Join(a.Names, ","))
	for _, x := range []struct{ word, value string }{
		{"node", a.Node.GetId()}, {"has", strings.Join(a.Reported, ",")}, {"version", a.Version}, {"nonce", a.Nonce}, {"REFUSED", a.Refusal},
	} {
		if x.value != "" {
			out += " " + x.word + " " + x.value
		}
	}
	return out
}

// askedDelta and the three after it read a message of a discovery service.
func askedDelta(b []byte) (a Asked, err error) {
	var m discoveryv3.DeltaDiscoveryRequest
	err = proto.Unmarshal(b, &m)
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	return Asked{
		Type: t, Node: m.GetNode(), Names: m.GetResourceNamesSubscribe(), Reported: slices.Sorted(maps.Keys(m.GetInitialResourceVersions())),
		Nonce: m.GetResponseNonce(), Refusal: m.GetErrorDetail().GetMessage(), Size: len(b),
	}, err
}

func askedSotW(b []byte) (a Asked, err error) {
	var m discoveryv3.DiscoveryRequest
	err = proto.Unmarshal(b, &m)
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	return Asked{
		Type: t, Node: m.GetNode(), Names: m.GetResourceNames(), Version: m.GetVersionInfo(),
		Nonce: m.GetResponseNonce(), Refusal: m.GetErrorDetail().GetMessage(), Size: len(b),
	}, err
}

func sentDelta(b []byte) (s Sent, err error) {
	var m discoveryv3.DeltaDiscoveryResponse
	err = proto.Unmarshal(b, &m)
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	s = Sent{Type: t, Nonce: m.GetNonce(), Removed: m.GetRemovedResources()}
	for _, r := range m.GetResources() {
		s.add(r)
		s.Content = append(s.Content, r.GetName()+" at "+r.GetVersion())
	}
	slices.Sort(s.Names)
	slices.Sort(s.Content)
	return s, err
}

func sentSotW(b []byte) (s Sent, err error) {
	var m discoveryv3.DiscoveryResponse
	err = proto.Unmarshal(b, &m)
	t, _ := fleet.TypeFromURL(m.GetTypeUrl())
	s = Sent{Type: t, Nonce: m.GetNonce()}
	for _, a := range m.GetResources() {
		s.Content = append(s.Content, fmt.Sprintf("%x", sha256.Sum256(a.GetValue())))
		var r discoveryv3.Resource
		if !a.MessageIs(&r) || a.UnmarshalTo(&r) != nil {
			s.Names = append(s.Names, "")
			continue
		}
		s.Wrapped++
		s.add(&r)
	}
	slices.Sort(s.Content)
	return s, err
}

func (s *Sent) add(r *discoveryv3.Resource) {
	s.Names = append(s.Names, r.GetName())
	if r.GetTtl() != nil {
		s.TTLs = append(s.TTLs, r.GetName())
	}
	// Without a body but with an alias it says that the name resolves to nothing.
	if r.GetResource() == nil && len(r.GetAliases()) == 0 {
		s.Heartbeats = append(s.Heartbeats, r.GetName())
	}
}
