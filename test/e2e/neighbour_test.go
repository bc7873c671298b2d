package e2e

import (
	"context"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/client"
	"fairlead/internal/fleet"
)

// thief opens a stream with a node id and refuses all clusters and listeners that come. A
// word is sent for each refusal. end closes the stream and waits.
func (w *world) thief(address, id string) (refusals <-chan struct{}, end func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+w.nodeToken))
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(w.t, err)
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	must(w.t, err)
	for i, t := range []fleet.Type{fleet.Cluster, fleet.Listener} {
		r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t.URL()}
		if i == 0 {
			r.Node = &corev3.Node{Id: id, UserAgentName: "envoy"}
		}
		must(w.t, stream.Send(r))
	}
	told := make(chan struct{}, 100)
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				return
			}
			a := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}
			if len(r.GetResources()) > 0 {
				a.ErrorDetail = &rpcstatus.Status{Code: 3, Message: "I want none of it"}
			}
			if stream.Send(a) != nil {
				return
			}
			if a.GetErrorDetail() != nil {
				told <- struct{}{}
			}
		}
	})
	end = sync.OnceFunc(func() { cancel(); reading.Wait(); _ = conn.Close() })
	w.whole.Cleanup(end)
	return told, end
}

// TestT41_AnEnvoyBesideAThiefOfItsNodeID keeps its clusters and listeners, and takes later
// changes, though another client with its node id refuses all, here and on another server.
func TestT41_AnEnvoyBesideAThiefOfItsNodeID(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		for where, server := range map[string]*xds{"here": r.xds, "on another server": r.world.xds()} {
			r.step(where, func() {
				refusals, end := r.thief(server.address, "n1")
				<-refusals // clusters
				<-refusals // listeners
				name := "b-" + where[:2]
				revision := r.apply(together(route("r", name), cluster(name, "1s"), endpoints(name, backend(t, name)), cluster("a", "2s")))
				<-refusals
				r.awaitBody(name)
				eventually(r.t, soon, "the changed cluster is not active", func() bool { return activeClusters(r.t, r.envoy)["a"] == "2s" })
				if got := r.receipt(revision); got.State != client.ReceiptStateRejected || got.Counts.Nacked != 1 {
					r.t.Errorf("one client with the id refuses it, and the receipt is %s", readable(got))
				}
				end()
				r.put(cluster("a", "1s"))
				eventually(r.t, soon, "the cluster that was changed again is not active", func() bool { return activeClusters(r.t, r.envoy)["a"] == "1s" })
				if _, body := get(r.proxy); body != name {
					r.t.Errorf("answered by %q, want %s", body, name)
				}
			})
		}
	})
}
