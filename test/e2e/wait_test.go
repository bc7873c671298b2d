package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// TestEnvoyIsNeverKeptWaiting goes through what costs an Envoy 15 s, or half a minute of
// backoff, when the server leaves it unanswered.
func TestEnvoyIsNeverKeptWaiting(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		r := &routed{world: w, xds: w.xds()}
		r.tap = newTap(t, r.xds.address)
		first := w.launch("n1", r.tap.address, delta)
		promptly(t, "LIVE with an empty fleet", func() bool { return live(t, first) })
		w.step("a start with a listener whose route does not exist", func() { r.startWithoutRoute(first, delta) })
		w.step("endpoints last", r.endpointsLast)
		w.step("a changed cluster", r.changedCluster)
		w.step("two changes in a row", r.changedTwice)
		w.step("the stream lost while a changed cluster warms", r.lostWhileWarming)
		w.step("five cuts with nothing changed", func() { r.cutFiveTimes(delta) })
	})
}

func live(t testing.TB, e *localenvoy.Envoy) bool {
	t.Helper()
	body, err := e.Admin(t.Context(), "/ready")
	return err == nil && string(body) == "LIVE\n"
}

// startWithoutRoute: the next Envoy is LIVE as soon as the route is written.
func (r *routed) startWithoutRoute(first *localenvoy.Envoy, delta bool) {
	address := freePort(r.t)
	r.proxy = "http://" + address
	r.put(listener("l", address, "r"))
	must(r.t, first.Stop())
	before := r.tap.opened()
	r.envoy = r.launch("n1", r.tap.address, delta)
	eventually(r.t, soon, "Envoy did not ask for listeners", func() bool { return r.tap.sees(before, fleet.Listener) })
	r.put(route("r", "a"))
	promptly(r.t, "LIVE once its route is written", func() bool { return live(r.t, r.envoy) })
	promptly(r.t, "answering", func() bool { code, _ := get(r.proxy); return code == http.StatusServiceUnavailable })
	r.awaitLive("n1")
}

func (r *routed) endpointsLast() {
	r.put(cluster("a", "1s"))
	last := r.put(endpoints("a", backend(r.whole, "a")))
	promptly(r.t, "routed", func() bool { code, body := get(r.proxy); return code == http.StatusOK && body == "a" })
	if got := r.receipt(last); got.State != "delivered" || got.Counts.Acked != 1 {
		r.t.Errorf("receipt %+v, want delivered to 1", got)
	}
}

func (r *routed) changedCluster() {
	r.awaitChanged("2s", r.put(cluster("a", "2s")))
}

// changedTwice: the endpoints must follow the last change.
func (r *routed) changedTwice() {
	r.put(cluster("a", "3s"))
	r.awaitChanged("4s", r.put(cluster("a", "4s")))
}

// awaitChanged waits for the cluster a to be active with this timeout, and ACKed.
func (r *routed) awaitChanged(timeout string, revision int64) {
	r.t.Helper()
	promptly(r.t, "active with a timeout of "+timeout, func() bool { return activeClusters(r.t, r.envoy)["a"] == timeout })
	r.awaitAcked(revision)
}

// awaitAcked: while its stream is lost, or not recorded yet, a node is offline and holds
// nothing up; delivered alone does not say that it has the revision.
func (r *routed) awaitAcked(revision int64) {
	r.t.Helper()
	eventually(r.t, soon, "the receipt does not say that Envoy ACKed it", func() bool {
		got := r.receipt(revision)
		return got.State == "delivered" && got.Counts.Acked == 1
	})
}

// lostWhileWarming: the new stream begins with a request for endpoints; one for clusters
// follows only when they are warm.
func (r *routed) lostWhileWarming() {
	r.tap.holdBack(func(s sent) time.Duration {
		if s.typ == fleet.Endpoint {
			return time.Hour
		}
		return 0
	})
	revision := r.put(cluster("a", "5s"))
	eventually(r.t, soon, "the changed cluster does not warm", func() bool {
		stats, err := r.envoy.Stats(r.t.Context(), "^cluster_manager.warming_clusters$")
		return err == nil && stats["cluster_manager.warming_clusters"] == 1
	})
	r.tap.holdBack(nil)
	before := r.tap.cut()
	eventually(r.t, soon, "Envoy did not come back", func() bool { return r.tap.sees(before, fleet.Endpoint) })
	r.awaitChanged("5s", revision)
}

// cutFiveTimes: each stream gets one answer, which resets Envoy's backoff, and nothing
// that Envoy has; state of the world has no answer that holds nothing: one set.
func (r *routed) cutFiveTimes(delta bool) {
	n := r.tap.count()
	for range 5 {
		before, answers := r.tap.cut(), r.tap.count()
		promptly(r.t, "back and answered", func() bool { return r.tap.opened() > before && r.tap.count() > answers })
		for _, typ := range []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Listener, fleet.Route} {
			eventually(r.t, soon, "Envoy did not ask for "+typ.Slug(), func() bool { return r.tap.sees(before, typ) })
		}
		// The tap sees an answer before Envoy has it: a cut in between would let the backoff grow.
		eventually(r.t, soon, "Envoy did not take the answer", func() bool {
			return slices.ContainsFunc(r.tap.requests(before), func(a asked) bool { return a.nonce != "" })
		})
	}
	// What the last stream gets all the same would come within its first second.
	quiet, last := r.tap.count(), time.Now()
	eventually(r.t, soon, "no second of silence", func() bool {
		if now := r.tap.count(); now != quiet {
			quiet, last = now, time.Now()
		}
		return time.Since(last) > time.Second
	})
	r.wantOneAnswer(r.tap.since(n), delta)
	n = r.tap.count()
	r.put(endpoints("a", backend(r.whole, "b")))
	r.awaitBody("b")
	if got := r.tap.since(n); len(got) != 1 || !slices.Equal(got[0].names, []string{"a"}) && delta || got[0].typ != fleet.Endpoint {
		r.t.Errorf("the next change sent %s, want the endpoints of a alone", got)
	}
}

// wantOneAnswer fails if a stream that has nothing to catch up with was sent more than
// one set, or in delta anything at all.
func (r *routed) wantOneAnswer(all []sent, delta bool) {
	r.t.Helper()
	sets := map[int]int{}
	for _, s := range all {
		if s.empty() {
			continue
		}
		sets[s.stream]++
		if delta || !s.typ.FullSet() || sets[s.stream] > 1 {
			r.t.Fatalf("with nothing changed the server sent %s, of %s", s, all)
		}
	}
}

// activeClusters are the connect timeouts of Envoy's active clusters.
func activeClusters(t testing.TB, e *localenvoy.Envoy) map[string]string {
	t.Helper()
	b, err := e.Admin(t.Context(), "/config_dump?resource=dynamic_active_clusters")
	must(t, err)
	var dump struct {
		Configs []struct {
			Cluster struct {
				Name           string
				ConnectTimeout string `json:"connect_timeout"`
			}
		}
	}
	must(t, json.Unmarshal(b, &dump))
	active := map[string]string{}
	for _, c := range dump.Configs {
		active[c.Cluster.Name] = c.Cluster.ConnectTimeout
	}
	return active
}
