package xds_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// attack is a request that is small to send and large to hold: send returns the error that it is
// answered with.
type attack struct {
	says string
	send func(token string) error
}

func attacks(t *testing.T, w *xdstest.World) []attack {
	t.Helper()
	discover := func(rs ...*discoveryv3.DeltaDiscoveryRequest) func(string) error {
		return func(token string) error {
			ctx, cancel := context.WithCancel(xdstest.As(t.Context(), token))
			defer cancel()
			ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(ctx)
			if err != nil {
				return err
			}
			for _, r := range rs {
				_ = ss.Send(r) // the reason comes with Recv
			}
			for err == nil {
				_, err = ss.Recv()
			}
			return err
		}
	}
	ask := func(n int, expr string) func(string) error {
		r := &statusv3.ClientStatusRequest{}
		for range n {
			m := &matcherv3.NodeMatcher{}
			if expr != "" {
				m.NodeId = &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expr}}}
			}
			r.NodeMatchers = append(r.NodeMatchers, m)
		}
		return func(token string) error {
			ss, err := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn()).StreamClientStatus(xdstest.As(t.Context(), token))
			if err != nil {
				return err
			}
			_ = ss.Send(r)
			_, err = ss.Recv()
			return err
		}
	}
	node, url := xdstest.Envoy("n1"), fleet.Cluster.URL()
	return []attack{
		{"names 1900000 resources", discover(&discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: url, ResourceNamesSubscribe: make([]string, 1_900_000)})},
		{"larger than max", discover(&discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: url, ResourceNamesSubscribe: make([]string, 5<<20)})},
		{"1000 node_matchers", ask(1000, "")},
		{"bytes, 65536 is", ask(1<<19, "")},
		{"too large a program", ask(1, strings.Repeat(`.{1000}`, 73))},
	}
}

// TestSoakT12_HostileRequestsLeaveNothing: refused in words, 200 times or once more, and the heap is back to where it was. It runs alone.
func TestSoakT12_HostileRequestsLeaveNothing(t *testing.T) {
	times := 1
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		times = 200
	}
	w := xdstest.New(t, func(c *xds.Config) { c.Limits.Message = 4 << 20 })
	all := attacks(t, w)
	live := func() uint64 {
		var m runtime.MemStats
		for range 3 { // what lies in pools goes with the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for round := range times + 1 {
		for i, a := range all {
			token := fmt.Sprintf("*#%d-%d", round, i) // one that is refused often has to wait
			if err := a.send(token); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), a.says) {
				t.Fatalf("got %.300v, want ResourceExhausted with %q", err, a.says)
			}
		}
		if round == 0 {
			before = live()
		}
	}
	if after := live(); after > before+8<<20 {
		t.Errorf("the heap grew by %d KiB in %d rounds, want at most 8 MiB", (after-before)>>10, times)
	}
}
