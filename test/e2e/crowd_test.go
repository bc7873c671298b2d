package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// perConnection is how many simulated nodes share a connection.
const perConnection = 100

// crowd connects simulated nodes, which take all clusters that come. It returns when all
// have answered the first response.
func (w *installation) crowd(address string, nodes int) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(world.WithToken(context.Background(), w.NodeToken))
	var running, answered sync.WaitGroup
	w.Whole.Cleanup(func() { cancel(); running.Wait() })
	answered.Add(nodes)
	var conn *grpc.ClientConn
	for i := range nodes {
		if i%perConnection == 0 {
			conn = w.Dial(address)
		}
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
		world.Must(w.T, err, stream.Send(&discoveryv3.DeltaDiscoveryRequest{
			Node: &corev3.Node{Id: fmt.Sprint("node-", i), UserAgentName: "envoy"}, TypeUrl: fleet.Cluster.URL(),
		}))
		running.Go(func() {
			first := sync.OnceFunc(answered.Done)
			defer first()
			for {
				r, err := stream.Recv()
				if err != nil || stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}) != nil {
					return
				}
				first()
			}
		})
	}
	answered.Wait()
}

// static is a cluster that names no endpoints, and so is whole by itself.
func static(name, timeout string) world.Resource {
	return world.NewResource("clusters", name, fmt.Sprintf(`{name: %s, type: STATIC, connect_timeout: %s}`, name, timeout))
}

// BenchmarkPutToReceipt is BenchmarkReceipt for many nodes, which are simulated: from the
// answer of a PUT until the receipt says that all have ACKed it.
func BenchmarkPutToReceipt(b *testing.B) {
	for _, nodes := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			w := setup(b)
			w.Apply(world.Together(static("a", "1s")))
			w.crowd(w.XDS().Address, nodes)
			w.Receipt(w.Put(static("a", "2s")))
			var waits []float64
			for i := 0; b.Loop(); i++ {
				revision := w.Put(static("a", fmt.Sprint(3+i%2, "s")))
				answered := time.Now()
				receipt := w.Receipt(revision)
				waits = append(waits, time.Since(answered).Seconds()*1000)
				if receipt.State != "delivered" || receipt.Counts.Acked != nodes {
					b.Fatalf("receipt %+v, want delivered to %d", receipt, nodes)
				}
			}
			b.ReportMetric(median(waits), "ms-to-receipt")
		})
	}
}
