package xds

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
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
		all := new(atomic.Int64)
		all.Store(math.MaxInt64)
		r := request{bounds: bounds{all, math.MaxInt}}
		if proto.Unmarshal(b, sotw) == nil {
			if err := r.decode(b); err != nil {
				t.Fatalf("state of the world: %v", err)
			}
			if r.version != sotw.GetVersionInfo() || r.typeURL != sotw.GetTypeUrl() || r.nonce != sotw.GetResponseNonce() ||
				!slices.Equal(r.names, sotw.GetResourceNames()) || r.nack != (sotw.GetErrorDetail() != nil) || r.locators != (len(sotw.GetResourceLocators()) > 0) {
				t.Errorf("got %+v, want %v", r, sotw)
			}
		}
		r = request{delta: true, bounds: r.bounds}
		if proto.Unmarshal(b, delta) == nil {
			if err := r.decode(b); err != nil {
				t.Fatalf("delta: %v", err)
			}
			if r.typeURL != delta.GetTypeUrl() || r.nonce != delta.GetResponseNonce() || !slices.Equal(r.names, delta.GetResourceNamesSubscribe()) ||
				!slices.Equal(r.dropped, delta.GetResourceNamesUnsubscribe()) || !maps.Equal(r.versions, delta.GetInitialResourceVersions()) || r.nack != (delta.GetErrorDetail() != nil) {
				t.Errorf("got %+v, want %v", r, delta)
			}
		}
	})
}
