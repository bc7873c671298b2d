package e2e

import (
	"context"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// thief opens a stream with a node id and refuses all clusters and listeners that come. A
// word is sent for each refusal. end closes the stream and waits.
func (w *installation) thief(address, id string) (refusals <-chan struct{}, end func()) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(world.WithToken(context.Background(), w.NodeToken))
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Dial(address)).DeltaAggregatedResources(ctx)
	world.Must(w.T, err)
	for i, t := range []fleet.Type{fleet.Cluster, fleet.Listener} {
		r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t.URL()}
		if i == 0 {
			r.Node = &corev3.Node{Id: id, UserAgentName: "envoy"}
		}
		world.Must(w.T, stream.Send(r))
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
	end = sync.OnceFunc(func() { cancel(); reading.Wait() })
	w.Whole.Cleanup(end)
	return told, end
}

// TestT41_AnEnvoyBesideAThiefOfItsNodeID keeps its clusters and listeners, and takes later
// changes, though another client with its node id refuses all, here and on another server.
func TestT41_AnEnvoyBesideAThiefOfItsNodeID(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		for where, server := range map[string]*world.XDS{"here": r.xds, "on another server": r.XDS()} {
			r.Step(where, func() {
				refusals, end := r.thief(server.Address, "n1")
				<-refusals // clusters
				<-refusals // listeners
				name := "b-" + where[:2]
				revision := r.Apply(world.Together(world.Route("r", name), world.Cluster(name, "1s"), world.Endpoints(name, world.Backend(t, name)), world.Cluster("a", "2s")))
				<-refusals
				r.awaitBody(name)
				world.Eventually(r.T, world.Soon, "the changed cluster is not active", func() bool { return activeClusters(r.T, r.envoy)["a"] == "2s" })
				if got := r.Receipt(revision); got.State != client.ReceiptStateRejected || got.Counts.Nacked != 1 {
					r.T.Errorf("one client with the id refuses it, and the receipt is %s", world.AsJSON(got))
				}
				end()
				r.Put(world.Cluster("a", "1s"))
				world.Eventually(r.T, world.Soon, "the cluster that was changed again is not active", func() bool { return activeClusters(r.T, r.envoy)["a"] == "1s" })
				if _, body := world.Get(r.proxy); body != name {
					r.T.Errorf("answered by %q, want %s", body, name)
				}
			})
		}
	})
}
