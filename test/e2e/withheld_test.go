package e2e

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/client"
	"fairlead/internal/fleet"
)

// TestWithheldUntilItsRouteIsThere: a listener without its route would warm for ever.
func TestWithheldUntilItsRouteIsThere(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		address := freePort(t)
		var revision int64
		r.step("a new listener", func() {
			n := r.tap.count()
			revision = r.put(listener("new", address, "missing"))
			r.awaitWithheld(revision, "new", "missing")
			r.wantUnsent(n, "new")
			r.wantNone("new")
		})
		r.step("other changes arrive", func() {
			other := freePort(t)
			r.put(cluster("b", "1s"), endpoints("b", backend(t, "b")), listener("other", other, "r"))
			r.awaitServed(other)
			r.put(route("r", "b"))
			promptly(r.t, "routed to b", func() bool { _, body := get(r.proxy); return body == "b" })
			r.awaitAcked(r.put(cluster("a", "2s"))) // nothing of it is withheld
			promptly(r.t, "active with a timeout of 2s", func() bool { return activeClusters(r.t, r.envoy)["a"] == "2s" })
			r.wantUnsent(0, "new")
			r.wantNone("new")
		})
		r.step("its route is written", func() {
			last := r.put(route("missing", "a"))
			promptly(r.t, "served", func() bool { _, body := get("http://" + address); return body == "a" })
			r.awaitAcked(last)
			r.awaitAcked(revision)
			r.wantAsInFleet(fleet.Listener)
		})
	})
}

// TestChangedListenerIsWithheld: until its route is there it goes on as it was.
func TestChangedListenerIsWithheld(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.awaitState(r.apply(together(cluster("b", "1s"), endpoints("b", backend(t, "b")))), "delivered")
		load := startLoad(t, r.proxy)
		n := r.tap.count()
		revision := r.put(listener("l", strings.TrimPrefix(r.proxy, "http://"), "missing"))
		r.awaitWithheld(revision, "l", "missing")
		r.wantUnsent(n, "l")
		other := freePort(t)
		r.put(listener("other", other, "r"))
		r.awaitServed(other)
		r.awaitBody("a")
		last := r.put(route("missing", "b"))
		promptly(t, "routed by its new route", func() bool { return getAnew(r.proxy) == "b" })
		r.awaitAcked(last)
		r.awaitAcked(revision)
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// getAnew returns the body over a connection of its own: on an old one the old listener
// answers until it has drained.
func getAnew(url string) string {
	c := http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // it has been read
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// told is how long it takes at most until it is told what a node waits for: what comes
// and goes within a second is not.
const told = oneNACK

// awaitWithheld fails unless a wait for this receipt ends early and tells that a listener
// waits for a route.
func (r *routed) awaitWithheld(revision int64, listener, route string) {
	r.t.Helper()
	start := time.Now()
	got := r.receipt(revision)
	r.within(told, start, "the wait ended")
	if got.State != client.ReceiptStatePending || got.Counts.Pending != 1 || got.Counts.Withheld != 1 || len(got.Nodes) != 1 {
		r.t.Fatalf("the receipt is %s, want n1 pending and withheld from", readable(got))
	}
	n := got.Nodes[0]
	if n.Withheld == nil || len(*n.Withheld) != 1 || n.WithheldBy == nil || len(*n.WithheldBy) != 1 {
		r.t.Fatalf("the receipt is %s, want one resource withheld by one", readable(got))
	}
	if w, by := (*n.Withheld)[0], (*n.WithheldBy)[0]; w.Resource.Name != listener || w.Reason != client.WithheldReasonMissing || w.By != by || by.Type != "routes" || by.Name != route {
		r.t.Errorf("the receipt is %s, want %s withheld by %s, which is missing", readable(got), listener, route)
	}
}

// wantNone fails if Envoy has a listener of this name.
func (r *routed) wantNone(name string) {
	r.t.Helper()
	held := r.held(fleet.Listener)
	if _, there := held[name]; there {
		r.t.Errorf("Envoy has the listeners %v, want no %s", held, name)
	}
}

// wantUnsent fails if since n a listener of this name was sent, which can be seen in
// delta, or if one warms.
func (r *routed) wantUnsent(n int, name string) {
	r.t.Helper()
	for _, s := range r.tap.since(n) {
		if s.typ == fleet.Listener && slices.Contains(s.names, name) {
			r.t.Errorf("the server sent %s", s)
		}
	}
	for l, mark := range r.held(fleet.Listener) {
		if strings.Contains(mark, "warming") {
			r.t.Errorf("the listener %s warms", l)
		}
	}
}

// TestStrictFleetRefusesWhatNamesNothing, at the field that does.
func TestStrictFleetRefusesWhatNamesNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	strict := client.Strict
	f, err := w.rest.CreateFleetWithResponse(t.Context(), "acme", client.FleetCreate{Name: "strict", References: &strict})
	w.made(f, err)
	put := func(typ string, r res) *client.PutResourceResponse {
		p, err := w.rest.PutResourceWithBodyWithResponse(t.Context(), "acme", "strict", client.TypeParam(typ), r.name, nil, "application/yaml", strings.NewReader(r.document()))
		must(t, err)
		return p
	}
	l := listener("l", freePort(t), "missing")
	refused := put("listeners", l)
	const field = "/body/filter_chains/0/filters/0/typed_config/rds/route_config_name"
	p := refused.ApplicationproblemJSON422
	if p == nil || p.Errors == nil || len(*p.Errors) != 1 || (*p.Errors)[0].Pointer == nil || *(*p.Errors)[0].Pointer != field || !strings.Contains((*p.Errors)[0].Detail, "missing") {
		t.Fatalf("the listener was answered %d %s, want 422 at %s", refused.StatusCode(), refused.Body, field)
	}
	for _, r := range []res{route("missing", "a"), l} {
		if p := put(r.typ, r); p.StatusCode() != http.StatusOK {
			t.Errorf("%s was answered %d %s", r.name, p.StatusCode(), p.Body)
		}
	}
}
