package xds_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestT40_LongWordsAreNotKept: texts of a megabyte in each field of a request that holds one, for each type, on several streams of both protocols. While the streams
// are open nothing of them stays. It is not parallel: it measures the heap.
func TestT40_LongWordsAreNotKept(t *testing.T) {
	w := xdstest.New(t, func(c *xds.Config) { c.Limits.Burst = 1_000 })
	w.Publish(cluster("a", "1")...)
	const size, streams = 1 << 20, 4
	long := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", size)) }
	urls := []string{"type.googleapis.com/" + strings.Repeat("of.tomorrow.", size/12)}
	for typ := range fleet.Type(fleet.NumTypes) {
		urls = append(urls, typ.URL())
	}
	words := &rpcstatus.Status{Code: 3, Message: long(0)}
	says := map[string]func(node string) error{
		"delta": func(node string) error {
			ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(xdstest.As(t.Context(), "*"))
			for i, url := range urls {
				if err == nil {
					err = ss.Send(&discoveryv3.DeltaDiscoveryRequest{
						Node: xdstest.Envoy(node), TypeUrl: url, ResponseNonce: long(i), ErrorDetail: words,
						ResourceNamesSubscribe: []string{"n"}, InitialResourceVersions: map[string]string{"n": long(i)},
					})
				}
			}
			if err == nil {
				err = ss.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: fleet.Cluster.URL(), ResourceNamesSubscribe: []string{"a"}})
			}
			for err == nil {
				var r *discoveryv3.DeltaDiscoveryResponse
				if r, err = ss.Recv(); err == nil && len(r.GetResources()) > 0 {
					return nil
				}
			}
			return err
		},
		"state of the world": func(node string) error {
			ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).StreamAggregatedResources(xdstest.As(t.Context(), "*"))
			for i, url := range urls {
				if err == nil {
					err = ss.Send(&discoveryv3.DiscoveryRequest{
						Node: xdstest.Envoy(node), TypeUrl: url, ResponseNonce: long(i), VersionInfo: long(i), ErrorDetail: words, ResourceNames: []string{"n"},
					})
				}
			}
			if err == nil {
				err = ss.Send(&discoveryv3.DiscoveryRequest{TypeUrl: fleet.Endpoint.URL(), ResourceNames: []string{"a"}})
			}
			for err == nil {
				var r *discoveryv3.DiscoveryResponse
				if r, err = ss.Recv(); err == nil && len(r.GetResources()) > 0 {
					return nil
				}
			}
			return err
		},
	}
	for protocol, say := range says {
		live := func() uint64 {
			var m runtime.MemStats
			for range 3 { // what lies in pools goes with the second
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		if err := say("first-" + protocol); err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		before := live()
		for i := range streams {
			if err := say(fmt.Sprint(protocol, i)); err != nil {
				t.Fatalf("%s: %.300v", protocol, err)
			}
		}
		if after := live(); after > before+streams*size {
			t.Errorf("%s: %d streams keep %d KiB", protocol, streams, (after-before)>>10)
		}
	}
}
