package grpcclients

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestStreamsOfOneNode: two programs with two channels each have one node id. Every
// stream names its node once; all of them are one node, and each is served.
func TestStreamsOfOneNode(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"),
			target("shop", byName("r")), target("bank", inline(routeBody("i", toCluster("a"))))))
		apps := []*app{impl.start(t, plaintext(t, "n1", tap.Address)), impl.start(t, plaintext(t, "n1", tap.Address))}
		everyChannel := func(backend string) {
			for _, a := range apps {
				a.awaitReply("shop", backend)
				a.awaitReply("bank", backend)
			}
		}
		for _, a := range apps {
			a.open("shop", "xds:///shop")
			a.open("bank", "xds:///bank")
		}
		everyChannel("one")
		w.AwaitLive("n1")
		w.AwaitDelivered(w.Put(endpoints("a", backend(t, "two"))), 1)
		everyChannel("two")

		first := map[int]bool{}
		for _, a := range tap.Requests(0) {
			if !first[a.Stream] && a.Node.GetId() != "n1" || first[a.Stream] && a.Node != nil {
				t.Errorf("stream %d says of its node %v", a.Stream, a.Node)
			}
			first[a.Stream] = true
		}
		t.Logf("%d streams", len(first))
		n := w.Node("n1")
		if n.State != client.NodeStateLive || n.Streams == nil || *n.Streams != len(first) {
			t.Errorf("the node is %s, want it live with %d streams", world.AsJSON(n), len(first))
		}
		// One program goes: the node stays, and the other one is served.
		apps[0].end()
		apps = apps[1:]
		world.Eventually(t, world.Soon, "the node's streams did not end", func() bool { s := w.Node("n1").Streams; return s != nil && *s < len(first) })
		w.AwaitDelivered(w.Put(endpoints("a", backend(t, "three"))), 1)
		everyChannel("three")
	})
}

// ads opens state-of-the-world and delta streams by hand.
func (w *installation) ads(t *testing.T, address string) (discoveryv3.AggregatedDiscoveryServiceClient, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(world.WithToken(t.Context(), w.NodeToken), 4*world.Soon)
	t.Cleanup(cancel)
	return discoveryv3.NewAggregatedDiscoveryServiceClient(w.Dial(address)), ctx
}

// TestUnreferenced: a resource that no other one names is served to who asks for it.
func TestUnreferenced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := w.XDS().Address
	lonely := []world.Resource{endpoints("lonely", "127.0.0.1:1"), route("lonely", "nowhere"), cluster("lonely", "ROUND_ROBIN"), target("lonely", byName("lonely"))}
	w.Apply(world.Together(lonely...))
	ads, ctx := w.ads(t, address)
	sotw, err := ads.StreamAggregatedResources(ctx)
	world.Must(t, err)
	delta, err := ads.DeltaAggregatedResources(ctx)
	world.Must(t, err)
	node := &corev3.Node{Id: "raw"}
	for _, r := range lonely {
		typ, _ := fleet.TypeFromSlug(r.Type)
		world.Must(t, sotw.Send(&discoveryv3.DiscoveryRequest{Node: node, TypeUrl: typ.URL(), ResourceNames: []string{"lonely"}}))
		if got, err := sotw.Recv(); err != nil || got.GetTypeUrl() != typ.URL() || len(got.GetResources()) != 1 {
			t.Errorf("%s, state of the world: %v, %v", typ, got, err)
		}
		world.Must(t, delta.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: typ.URL(), ResourceNamesSubscribe: []string{"lonely"}}))
		if got, err := delta.Recv(); err != nil || len(got.GetResources()) != 1 || got.GetResources()[0].GetName() != "lonely" {
			t.Errorf("%s, delta: %v, %v", typ, got, err)
		}
		node = nil // later requests need none
	}
}

// stream is what both variants of a stream have.
type stream interface {
	CloseSend() error
	next() error
}

type (
	sotwStream struct {
		discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
	}
	deltaStream struct {
		discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	}
)

func (s sotwStream) next() error  { _, err := s.Recv(); return err }
func (s deltaStream) next() error { _, err := s.Recv(); return err }

// TestHalfClose: a client that has no more to say is answered with OK, whatever is under
// way, and nothing of it stays.
func TestHalfClose(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := w.XDS().Address
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", "127.0.0.1:1")))
	ads, ctx := w.ads(t, address)
	node := &corev3.Node{Id: "raw"}
	open := map[string]func(first bool) stream{
		"SotW": func(first bool) stream {
			s, err := ads.StreamAggregatedResources(ctx)
			world.Must(t, err)
			if first {
				world.Must(t, s.Send(&discoveryv3.DiscoveryRequest{Node: node, TypeUrl: fleet.Cluster.URL()}))
			}
			return sotwStream{s}
		},
		"delta": func(first bool) stream {
			s, err := ads.DeltaAggregatedResources(ctx)
			world.Must(t, err)
			if first {
				world.Must(t, s.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: fleet.Cluster.URL()}))
			}
			return deltaStream{s}
		},
	}
	for name, open := range open {
		for _, when := range []string{"before the first request", "with a request under way", "with an answer unconfirmed"} {
			for range 20 {
				s := open(when != "before the first request")
				if when == "with an answer unconfirmed" {
					world.Must(t, s.next())
				}
				world.Must(t, s.CloseSend())
				start := time.Now()
				err := s.next()
				for err == nil { // an answer that was under way
					err = s.next()
				}
				if !errors.Is(err, io.EOF) || time.Since(start) > world.Soon {
					t.Fatalf("%s, half-closed %s: the stream ended with %v after %s, want OK", name, when, err, time.Since(start))
				}
			}
		}
	}
	world.Eventually(t, world.Soon, "the node is live without a stream", func() bool {
		n := w.Node("raw") // streams that end at once may never be seen
		return n == nil || n.State == client.NodeStateOffline
	})
}

// TestASetLargerThanTheClientTakes: gRPC's libraries end a stream over a message above 4 MiB, and would do so for ever. What makes the set
// too large is kept back, the stream goes on, and the receipt tells of it until there is room.
func TestASetLargerThanTheClientTakes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := w.XDS().Address
	wide := func(name string, kib int) world.Resource {
		return cluster(name, "ROUND_ROBIN").With(`metadata: {filter_metadata: {wide: {text: "` + strings.Repeat("z", kib<<10) + `"}}}`)
	}
	for _, name := range []string{"f", "e", "d", "c"} {
		w.Put(wide(name, 900))
	}
	ads, ctx := w.ads(t, address)
	sotw, err := ads.StreamAggregatedResources(ctx)
	world.Must(t, err, sotw.Send(&discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "raw"}, TypeUrl: fleet.Cluster.URL()}))
	take := func(want int) {
		t.Helper()
		got, err := sotw.Recv()
		world.Must(t, err)
		if len(got.GetResources()) != want {
			t.Fatalf("got %d %s, want %d", len(got.GetResources()), got.GetTypeUrl(), want)
		}
		world.Must(t, sotw.Send(&discoveryv3.DiscoveryRequest{TypeUrl: got.GetTypeUrl(), VersionInfo: got.GetVersionInfo(), ResponseNonce: got.GetNonce()}))
	}
	take(4)
	w.AwaitLive("raw")
	large := w.Put(wide("a", 900))
	got := w.Receipt(large)
	if len(got.Nodes) != 1 || got.Nodes[0].Withheld == nil || len(*got.Nodes[0].Withheld) != 1 {
		t.Fatalf("the receipt is %s, want what is kept back", world.AsJSON(got))
	}
	if h := (*got.Nodes[0].Withheld)[0]; got.State != client.ReceiptStatePending || h.Reason != client.WithheldReasonTooLarge || h.Resource.Name != "a" {
		t.Errorf("the receipt is %s, want a kept back as too large", world.AsJSON(got))
	}
	found, err := w.REST.ListFindingsWithResponse(t.Context(), "acme", "edge", &client.ListFindingsParams{})
	w.Made(found, err)
	if fs := found.JSON200.Items; len(fs) == 0 || fs[0].Code != client.SetTooLarge || fs[0].Name != "a" || *fs[0].Nodes != 1 {
		t.Errorf("the findings are %s, want one of a first", world.AsJSON(fs))
	}
	world.Eventually(t, 3*world.Soon, "no event tells of it", func() bool {
		kind := client.EventKindWithheld
		told, err := w.REST.ListEventsWithResponse(t.Context(), "acme", "edge", &client.ListEventsParams{Kind: &kind})
		w.Made(told, err)
		es := told.JSON200.Items
		return len(es) == 1 && *es[0].Reason == client.WithheldTooLarge && es[0].Node == "raw" && strings.Contains(*es[0].Action, ": clusters/a, from ")
	})
	w.Put(wide("b", 1))
	take(5) // goes on
	w.Put(wide("f", 1))
	take(6)
	world.Eventually(t, world.Soon, "the receipt did not become delivered", func() bool { return w.Receipt(large).State == client.ReceiptStateDelivered })
}
