package xds

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/planner"
)

// FuzzRequest: what grpc's own codec reads, the engine's reads alike.
func FuzzRequest(f *testing.F) {
	for _, m := range []proto.Message{
		&discoveryv3.DiscoveryRequest{VersionInfo: "v", Node: &corev3.Node{Id: "n"}, ResourceNames: []string{"a", ""}, TypeUrl: "t", ResponseNonce: "1", ErrorDetail: &rpcstatus.Status{Code: 13, Message: "no"}},
		&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "n"}, TypeUrl: "t", ResourceNamesSubscribe: []string{"a"}, ResourceNamesUnsubscribe: []string{"*"}, InitialResourceVersions: map[string]string{"a": "1", "": ""}, ResponseNonce: "1"},
		&discoveryv3.DeltaDiscoveryRequest{ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: "x"}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sotw, delta := &discoveryv3.DiscoveryRequest{}, &discoveryv3.DeltaDiscoveryRequest{}
		r := request{bounds: bounds{math.MaxInt, new(lists), nil}, raw: b}
		if proto.Unmarshal(b, sotw) == nil {
			if err := r.decode(b); err != nil {
				t.Fatalf("state of the world: %v", err)
			}
			if r.version != sotw.GetVersionInfo() || r.typeURL != sotw.GetTypeUrl() || r.nonce != sotw.GetResponseNonce() ||
				!sameNames(r.subscription(0).Names, r.names, sotw.GetResourceNames()) || r.nack != (sotw.GetErrorDetail() != nil) || r.locators != (len(sotw.GetResourceLocators()) > 0) {
				t.Errorf("got %+v, want %v", r, sotw)
			}
		}
		r = request{delta: true, bounds: r.bounds, raw: b}
		if proto.Unmarshal(b, delta) == nil {
			if err := r.decode(b); err != nil {
				t.Fatalf("delta: %v", err)
			}
			if r.typeURL != delta.GetTypeUrl() || r.nonce != delta.GetResponseNonce() || !sameNames(r.subscription(0).Names, r.names, delta.GetResourceNamesSubscribe()) ||
				!sameNames(r.subscription(0).Dropped, r.dropped, delta.GetResourceNamesUnsubscribe()) || !sameVersions(r.subscription(0).Versions, delta.GetInitialResourceVersions()) || r.nack != (delta.GetErrorDetail() != nil) {
				t.Errorf("got %+v, want %v", r, delta)
			}
		}
	})
}

// sameNames: what is read again is what was sent, but for "*", and so is what was counted.
func sameNames(got planner.Names, c counted, want []string) bool {
	names := slices.DeleteFunc(slices.Clone(want), func(n string) bool { return n == "*" })
	var read []string
	if got.N > 0 {
		for b := range got.Each {
			read = append(read, string(b))
		}
	}
	return slices.Equal(read, names) && got.Count == planner.NamesOf(names...).Count && c.star == (len(names) < len(want))
}

func sameVersions(got planner.Versions, want map[string]string) bool {
	read := map[string]string{}
	if got.N > 0 {
		for name, version := range got.Each {
			read[string(name)] = string(version)
		}
	}
	return maps.Equal(read, want)
}

// TestAListThatIsKnownIsReadAlike: with whatever stands before it and behind it, and not for
// one that only begins or ends like it.
func TestAListThatIsKnownIsReadAlike(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprint("cluster-", i))
	}
	known := new(lists)
	for _, m := range []*discoveryv3.DiscoveryRequest{
		{TypeUrl: "t", ResourceNames: names},
		{TypeUrl: "t", ResourceNames: names, VersionInfo: "1", ResponseNonce: "2"},
		{VersionInfo: "1", ResourceNames: append(slices.Clone(names), "more")},
		{VersionInfo: "1", ResourceNames: names[:199], ResponseNonce: "3"},
		{ResourceNames: names},
		{ResourceNames: append(slices.Clone(names[:199]), "cluster-201"), ResponseNonce: "4"},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r := request{bounds: bounds{math.MaxInt, known, nil}, raw: b}
			if err := r.decode(b); err != nil {
				t.Fatal(err)
			}
			if !sameNames(r.subscription(0).Names, r.names, m.GetResourceNames()) || r.version != m.GetVersionInfo() || r.nonce != m.GetResponseNonce() || r.names.longest == 0 {
				t.Errorf("read %d names, version %q, nonce %q of %d names, %q, %q", r.names.N, r.version, r.nonce, len(m.GetResourceNames()), m.GetVersionInfo(), m.GetResponseNonce())
			}
		}
	}
}
