package grpcclients

import (
	"strings"
	"testing"
	"time"

	"fairlead/test/world"
)

// TestTarget is the life of a target: it appears, its endpoints change, its route
// changes under traffic, a cluster goes bad, it vanishes and comes back.
func TestTarget(t *testing.T) {
	everyClient(t, func(t *testing.T, impl implementation) {
		w := setup(t)
		tap := w.tapped()
		a := impl.start(t, plaintext(t, "n1", tap.Address))
		one, two, three := backend(t, "one"), backend(t, "two"), backend(t, "three")
		a.open("shop", "xds:///shop")
		if got := a.call("shop"); got.Code != "DEADLINE_EXCEEDED" && got.Code != "UNAVAILABLE" {
			t.Errorf("a call before there is a target ended with %s", got)
		}

		w.AwaitLive("n1")

		// It appears: endpoints first, the listener last.
		w.Put(endpoints("a", one))
		w.Put(cluster("a", "ROUND_ROBIN"))
		w.Put(route("r", "a"))
		listener := target("shop", byName("r"))
		took := map[string]time.Duration{}
		appeared := w.Put(listener)
		took["appear"] = a.awaitReply("shop", "one")
		w.AwaitDelivered(appeared, 1)

		stop := a.traffic("shop")
		w.AwaitDelivered(w.Put(endpoints("a", two)), 1)
		took["endpoints"] = a.awaitReply("shop", "two")
		w.AwaitDelivered(w.Apply(world.Together(cluster("b", "ROUND_ROBIN"), endpoints("b", three), route("r", "b"))), 1)
		took["route"] = a.awaitReply("shop", "three")
		replies := stop()
		for _, name := range []string{"one", "two", "three"} {
			if replies[name] == 0 {
				t.Errorf("replies %v, want some of each", replies)
			}
		}

		// A cluster goes bad: strict validation admits a policy that Envoy has and gRPC has not.
		stop = a.traffic("shop")
		bad := w.Put(cluster("b", "MAGLEV"))
		refusal := w.AwaitRejected(bad)
		if refusal.Id != "n1" || refusal.Resource.Name != "b" || !strings.Contains(strings.ToLower(*refusal.Detail), "policy") {
			t.Errorf("the receipt of the bad revision: %s", world.AsJSON(refusal))
		}
		t.Logf("it said: %s", *refusal.Detail)
		w.AwaitDelivered(w.Put(endpoints("b", one)), 1) // what is beside the poison goes on
		took["beside the poison"] = a.awaitReply("shop", "one")
		w.AwaitDelivered(w.Put(cluster("b", "ROUND_ROBIN")), 1)
		stop()

		w.AwaitDelivered(w.Apply(world.Removal(listener)), 1)
		start := time.Now()
		gone := a.awaitFailure("shop", "UNAVAILABLE")
		took["vanish"] = time.Since(start)
		t.Logf("without the listener: %s", gone)
		if impl.name == grpcJS.name {
			// It keeps what was deleted in its cache, and takes an equal one for no news.
			listener.Body = strings.Replace(listener.Body, "stat_prefix: s", "stat_prefix: again", 1)
		}
		w.Put(listener)
		took["come back"] = a.awaitReply("shop", "one")
		t.Logf("took %v", took)
	})
}
