package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// TestEnvoyIsNeverKeptWaiting goes through what costs an Envoy 15 s, or half a minute of
// backoff, when the server leaves it unanswered.
func TestEnvoyIsNeverKeptWaiting(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		r := &routed{installation: w, xds: w.XDS()}
		r.tap = world.NewTap(t, r.xds.Address)
		first := w.Launch("n1", r.tap.Address, delta)
		promptly(t, "LIVE with an empty fleet", func() bool { return live(t, first) })
		w.Step("a start with a listener whose route does not exist", func() { r.startWithoutRoute(first, delta) })
		w.Step("endpoints last", r.endpointsLast)
		w.Step("a changed cluster", r.changedCluster)
		w.Step("two changes in a row", r.changedTwice)
		w.Step("the stream lost while a changed cluster warms", r.lostWhileWarming)
		w.Step("five cuts with nothing changed", func() { r.cutFiveTimes(delta) })
	})
}

func live(t testing.TB, e *localenvoy.Envoy) bool {
	t.Helper()
	body, err := e.Admin(t.Context(), "/ready")
	return err == nil && string(body) == "LIVE\n"
}

// startWithoutRoute: the next Envoy is LIVE as soon as the route is written.
func (r *routed) startWithoutRoute(first *localenvoy.Envoy, delta bool) {
	address := world.FreePort(r.T)
	r.proxy = "http://" + address
	r.Put(world.Listener("l", address, "r"))
	world.Must(r.T, first.Stop())
	before := r.tap.Opened()
	r.envoy = r.Launch("n1", r.tap.Address, delta)
	world.Eventually(r.T, world.Soon, "Envoy did not ask for listeners", func() bool { return r.tap.Sees(before, fleet.Listener) })
	r.Put(world.Route("r", "a"))
	promptly(r.T, "LIVE once its route is written", func() bool { return live(r.T, r.envoy) })
	promptly(r.T, "answering", func() bool { code, _ := world.Get(r.proxy); return code == http.StatusServiceUnavailable })
	r.AwaitLive("n1")
}

func (r *routed) endpointsLast() {
	r.Put(world.Cluster("a", "1s"))
	last := r.Put(world.Endpoints("a", world.Backend(r.Whole, "a")))
	promptly(r.T, "routed", func() bool { code, body := world.Get(r.proxy); return code == http.StatusOK && body == "a" })
	if got := r.Receipt(last); got.State != "delivered" || got.Counts.Acked != 1 {
		r.T.Errorf("receipt %+v, want delivered to 1", got)
	}
}

func (r *routed) changedCluster() {
	r.awaitChanged("2s", r.Put(world.Cluster("a", "2s")))
}

// changedTwice: the endpoints must follow the last change.
func (r *routed) changedTwice() {
	r.Put(world.Cluster("a", "3s"))
	r.awaitChanged("4s", r.Put(world.Cluster("a", "4s")))
}

// awaitChanged waits for the cluster a to be active with this timeout, and ACKed.
func (r *routed) awaitChanged(timeout string, revision int64) {
	r.T.Helper()
	promptly(r.T, "active with a timeout of "+timeout, func() bool { return activeClusters(r.T, r.envoy)["a"] == timeout })
	r.AwaitACKed(revision, 1)
}

// lostWhileWarming: the new stream begins with a request for endpoints; one for clusters
// follows only when they are warm.
func (r *routed) lostWhileWarming() {
	r.tap.HoldBack(func(s world.Sent) time.Duration {
		if s.Type == fleet.Endpoint {
			return time.Hour
		}
		return 0
	})
	revision := r.Put(world.Cluster("a", "5s"))
	world.Eventually(r.T, world.Soon, "the changed cluster does not warm", func() bool {
		stats, err := r.envoy.Stats(r.T.Context(), "^cluster_manager.warming_clusters$")
		return err == nil && stats["cluster_manager.warming_clusters"] == 1
	})
	r.tap.HoldBack(nil)
	before := r.tap.Cut()
	world.Eventually(r.T, world.Soon, "Envoy did not come back", func() bool { return r.tap.Sees(before, fleet.Endpoint) })
	r.awaitChanged("5s", revision)
}

// cutFiveTimes: each stream gets one answer, which resets Envoy's backoff, and nothing
// that Envoy has; state of the world has no answer that holds nothing: one set.
func (r *routed) cutFiveTimes(delta bool) {
	n := r.tap.Count()
	for range 5 {
		before, answers := r.tap.Cut(), r.tap.Count()
		promptly(r.T, "back and answered", func() bool { return r.tap.Opened() > before && r.tap.Count() > answers })
		for _, typ := range []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Listener, fleet.Route} {
			world.Eventually(r.T, world.Soon, "Envoy did not ask for "+typ.Slug(), func() bool { return r.tap.Sees(before, typ) })
		}
		// The tap sees an answer before Envoy has it: a cut in between would let the backoff grow.
		world.Eventually(r.T, world.Soon, "Envoy did not take the answer", func() bool {
			return slices.ContainsFunc(r.tap.Requests(before), func(a world.Asked) bool { return a.Nonce != "" })
		})
	}
	// What the last stream gets all the same would come within its first second.
	quiet, last := r.tap.Count(), time.Now()
	world.Eventually(r.T, world.Soon, "no second of silence", func() bool {
		if now := r.tap.Count(); now != quiet {
			quiet, last = now, time.Now()
		}
		return time.Since(last) > time.Second
	})
	r.wantOneAnswer(r.tap.Since(n), delta)
	n = r.tap.Count()
	r.Put(world.Endpoints("a", world.Backend(r.Whole, "b")))
	r.awaitBody("b")
	if got := r.tap.Since(n); len(got) != 1 || !slices.Equal(got[0].Names, []string{"a"}) && delta || got[0].Type != fleet.Endpoint {
		r.T.Errorf("the next change sent %s, want the endpoints of a alone", got)
	}
}

// wantOneAnswer fails if a stream that has nothing to catch up with was sent more than
// one set, or in delta anything at all.
func (r *routed) wantOneAnswer(all []world.Sent, delta bool) {
	r.T.Helper()
	sets := map[int]int{}
	for _, s := range all {
		if s.Empty() {
			continue
		}
		sets[s.Stream]++
		if delta || !s.Type.FullSet() || sets[s.Stream] > 1 {
			r.T.Fatalf("with nothing changed the server sent %s, of %s", s, all)
		}
	}
}

// metadataOf is the metadata that Envoy has of a cluster.
func metadataOf(t testing.TB, e *localenvoy.Envoy, cluster string) map[string]map[string]any {
	t.Helper()
	b, err := e.Admin(t.Context(), "/config_dump?resource=dynamic_active_clusters")
	world.Must(t, err)
	var dump struct {
		Configs []struct {
			Cluster struct {
				Name     string
				Metadata struct {
					Filters map[string]map[string]any `json:"filter_metadata"`
				}
			}
		}
	}
	world.Must(t, json.Unmarshal(b, &dump))
	for _, c := range dump.Configs {
		if c.Cluster.Name == cluster {
			return c.Cluster.Metadata.Filters
		}
	}
	return nil
}

// activeClusters are the connect timeouts of Envoy's active clusters.
func activeClusters(t testing.TB, e *localenvoy.Envoy) map[string]string {
	t.Helper()
	b, err := e.Admin(t.Context(), "/config_dump?resource=dynamic_active_clusters")
	world.Must(t, err)
	var dump struct {
		Configs []struct {
			Cluster struct {
				Name           string
				ConnectTimeout string `json:"connect_timeout"`
			}
		}
	}
	world.Must(t, json.Unmarshal(b, &dump))
	active := map[string]string{}
	for _, c := range dump.Configs {
		active[c.Cluster.Name] = c.Cluster.ConnectTimeout
	}
	return active
}
