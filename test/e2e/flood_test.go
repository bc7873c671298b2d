package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/fleet"
)

// BenchmarkFreshNodeIDs is how long a change takes to a node while another credential of its
// fleet brings a fresh node id with every stream, from four connections: the 99th percentile,
// alone, beside them while they are let in, and while they are refused. What the flood has to do for itself is in it.
func BenchmarkFreshNodeIDs(b *testing.B) {
	w := setup(b)
	w.apply(together(static("a", "1s")))
	server := w.xds()
	arrivals := w.listen(server.address)
	measure := func() float64 {
		waits := make([]float64, 0, 200)
		for i := range cap(waits) {
			w.put(static("a", fmt.Sprint(2+i%2, "s")))
			answered := time.Now()
			waits = append(waits, (<-arrivals).Sub(answered).Seconds()*1000)
		}
		slices.Sort(waits)
		return waits[len(waits)*99/100]
	}
	for b.Loop() {
		alone := measure()
		brought, end := w.flood(server.address)
		for _, x := range []struct {
			phase string
			from  int64
		}{{"let-in", 1000}, {"refused", 25_000}} {
			eventually(b, 2*time.Minute, "the flood is slow", func() bool { return brought.Load() >= x.from })
			began, before := time.Now(), brought.Load()
			beside := measure()
			b.ReportMetric(float64(brought.Load()-before)/time.Since(began).Seconds(), x.phase+"-ids/s")
			b.ReportMetric(beside, x.phase+"-p99-ms")
			b.ReportMetric(beside/alone, x.phase+"-ratio")
		}
		end()
		b.ReportMetric(alone, "alone-p99-ms")
	}
}

// listen is a node that ACKs all clusters, and says when each response came.
func (w *world) listen(address string) <-chan time.Time {
	w.t.Helper()
	stream := w.deltaStream(address, w.nodeToken)
	must(w.t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "listens", UserAgentName: "envoy"}, TypeUrl: fleet.Cluster.URL()}))
	_, err := stream.Recv()
	must(w.t, err)
	arrivals := make(chan time.Time, 1000)
	go func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				return
			}
			arrivals <- time.Now()
			_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()})
		}
	}()
	return arrivals
}

// deltaStream ends with the test.
func (w *world) deltaStream(address, token string) discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient {
	w.t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(w.t, err)
	w.whole.Cleanup(func() { _ = conn.Close() })
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token))
	must(w.t, err)
	return stream
}

// flood opens one stream after the other, each with a node id of its own, until end is called.
func (w *world) flood(address string) (brought *atomic.Int64, end func()) {
	w.t.Helper()
	token, _ := w.credential()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token))
	brought = new(atomic.Int64)
	var running sync.WaitGroup
	for range 4 {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		must(w.t, err)
		w.whole.Cleanup(func() { _ = conn.Close() })
		c := discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
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
