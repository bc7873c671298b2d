package xds

import (
	"fmt"
	"math"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
)

// BenchmarkDecode is of the requests that matter: an ACK, what an Envoy says that comes back
// with 10,000 endpoints, and its ACK of them in state of the world.
func BenchmarkDecode(b *testing.B) {
	var names []string
	versions := map[string]string{}
	for i := range 10_000 {
		name := fmt.Sprintf("outbound|8080||service-%05d.namespace-%02d.svc.cluster.local", i, i%20)
		names, versions[name] = append(names, name), fmt.Sprintf("%016x", i)
	}
	for _, c := range []struct {
		name    string
		message proto.Message
	}{
		{"ACK", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", ResponseNonce: "1"}},
		{"return", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: "t", ResourceNamesSubscribe: names, InitialResourceVersions: versions}},
		{"SotW", &discoveryv3.DiscoveryRequest{TypeUrl: "t", ResourceNames: names, VersionInfo: "1", ResponseNonce: "1"}},
	} {
		body, err := proto.Marshal(c.message)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := request{delta: c.name != "SotW", bounds: bounds{math.MaxInt, nil, nil}}
				if err := r.decode(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
