package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// BenchmarkFreshNodeIDs is how long a change takes to a node while another credential of its
// fleet brings a fresh node id with every stream, from four connections: the 99th percentile,
// alone, beside them while they are let in, and while they are refused. What the flood has to do for itself is in it.
func BenchmarkFreshNodeIDs(b *testing.B) {
	w := setup(b)
	w.Apply(world.Together(static("a", "1s")))
	server := w.XDS()
	arrivals := w.listen(server.Address)
	for b.Loop() {
		alone := w.p99(arrivals)
		brought, end := w.flood(server.Address)
		for _, x := range []struct {
			phase string
			from  int64
		}{{"let-in", 1000}, {"refused", 20_000}} {
			world.Eventually(b, 2*time.Minute, "the flood is slow", func() bool { return brought.Load() >= x.from })
			began, before := time.Now(), brought.Load()
			beside := w.p99(arrivals)
			b.ReportMetric(float64(brought.Load()-before)/time.Since(began).Seconds(), x.phase+"-ids/s")
			b.ReportMetric(beside, x.phase+"-p99-ms")
			b.ReportMetric(beside/alone, x.phase+"-ratio")
		}
		end()
		b.ReportMetric(alone, "alone-p99-ms")
	}
}

// BenchmarkHostileRequests is the same beside requests that are small to send and would be dear to take:
// all that one connection with another credential of the fleet sends, one after the other.
func BenchmarkHostileRequests(b *testing.B) {
	w := setup(b)
	w.Apply(world.Together(static("a", "1s")))
	server := w.XDS()
	arrivals := w.listen(server.Address)
	for b.Loop() {
		alone := w.p99(arrivals)
		b.ReportMetric(alone, "alone-p99-ms")
		for _, attack := range []struct {
			name string
			send func(context.Context, *grpc.ClientConn) error
		}{
			{"names", discover(make([]string, 1_900_000))},
			{"too-large", discover(make([]string, 5<<20))},
			{"matchers", askStatus(1000, "")},
			{"regex", askStatus(1, strings.Repeat(`.{1000}`, 73))},
		} {
			sent, end := w.repeat(server.Address, attack.send)
			began, before := time.Now(), sent.Load()
			beside := w.p99(arrivals)
			b.ReportMetric(float64(sent.Load()-before)/time.Since(began).Seconds(), attack.name+"/s")
			b.ReportMetric(beside/alone, attack.name+"-ratio")
			end()
		}
	}
}

// p99 is of 1,000 changes, from the answer to the write to the node's arrival, in ms.
func (w *installation) p99(arrivals <-chan time.Time) float64 {
	waits := make([]float64, 0, 1000)
	for i := range cap(waits) {
		w.Put(static("a", fmt.Sprint(2+i%2, "s")))
		answered := time.Now()
		waits = append(waits, (<-arrivals).Sub(answered).Seconds()*1000)
	}
	slices.Sort(waits)
	return waits[len(waits)*99/100]
}

// discover subscribes to the names on a stream of its own, and waits for the stream's end.
func discover(names []string) func(context.Context, *grpc.ClientConn) error {
	r := &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "hostile"}, TypeUrl: fleet.Cluster.URL(), ResourceNamesSubscribe: names}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
		if err != nil {
			return err
		}
		_ = stream.Send(r) // the reason comes with Recv
		for err == nil {
			_, err = stream.Recv()
		}
		return err
	}
}

// askStatus asks for the status of clients with so many matchers.
func askStatus(n int, expr string) func(context.Context, *grpc.ClientConn) error {
	r := &statusv3.ClientStatusRequest{}
	for range n {
		m := &matcherv3.NodeMatcher{}
		if expr != "" {
			m.NodeId = &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expr}}}
		}
		r.NodeMatchers = append(r.NodeMatchers, m)
	}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		_, err := statusv3.NewClientStatusDiscoveryServiceClient(conn).FetchClientStatus(ctx, r)
		return err
	}
}

// repeat sends one after the other over one connection until end is called. All must be refused.
func (w *installation) repeat(address string, send func(context.Context, *grpc.ClientConn) error) (sent *atomic.Int64, end func()) {
	w.T.Helper()
	token, _ := w.Credential()
	ctx, cancel := context.WithCancel(world.WithToken(context.Background(), token))
	conn := w.Dial(address)
	sent = new(atomic.Int64)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if err := send(ctx, conn); ctx.Err() == nil && status.Code(err) != codes.ResourceExhausted {
				w.T.Errorf("a hostile request ended with %v, want ResourceExhausted", err)
				return
			}
			sent.Add(1)
		}
	})
	return sent, func() { cancel(); running.Wait() }
}

// listen is a node that ACKs all clusters, and says when each response came.
func (w *installation) listen(address string) <-chan time.Time {
	w.T.Helper()
	stream := w.deltaStream(address, w.NodeToken)
	world.Must(w.T, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "listens", UserAgentName: "envoy"}, TypeUrl: fleet.Cluster.URL()}))
	first, err := stream.Recv()
	world.Must(w.T, err)
	ack := func(r *discoveryv3.DeltaDiscoveryResponse) error {
		return stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()})
	}
	world.Must(w.T, ack(first))
	arrivals := make(chan time.Time, 1000)
	go func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				return
			}
			arrivals <- time.Now()
			_ = ack(r)
		}
	}()
	return arrivals
}

// deltaStream ends with the test.
func (w *installation) deltaStream(address, token string) discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient {
	w.T.Helper()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Dial(address)).DeltaAggregatedResources(world.WithToken(context.Background(), token))
	world.Must(w.T, err)
	return stream
}

// flood opens one stream after the other, each with a node id of its own, until end is called.
func (w *installation) flood(address string) (brought *atomic.Int64, end func()) {
	w.T.Helper()
	token, _ := w.Credential()
	ctx, cancel := context.WithCancel(world.WithToken(context.Background(), token))
	brought = new(atomic.Int64)
	var running sync.WaitGroup
	for range 4 {
		c := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Dial(address))
		running.Go(func() {
			for ctx.Err() == nil {
				one, done := context.WithCancel(ctx)
				stream, err := c.DeltaAggregatedResources(one)
				if err == nil {
					_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: fmt.Sprint("fresh-", brought.Add(1))}, TypeUrl: fleet.Cluster.URL()})
					_, _ = stream.Recv()
				}
				done()
			}
		})
	}
	return brought, func() { cancel(); running.Wait() }
}
