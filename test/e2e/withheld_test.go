package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestWithheldUntilItsRouteIsThere: a listener without its route would warm for ever.
func TestWithheldUntilItsRouteIsThere(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		address := world.FreePort(t)
		var revision int64
		r.Step("a new listener", func() {
			n := r.tap.Count()
			revision = r.Put(world.Listener("new", address, "missing"))
			r.awaitWithheld(revision, "new", "missing")
			r.wantUnsent(n, "new")
			r.wantNone("new")
		})
		r.Step("other changes arrive", func() {
			other := world.FreePort(t)
			r.Put(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")), world.Listener("other", other, "r"))
			r.awaitServed(other)
			r.Put(world.Route("r", "b"))
			promptly(r.T, "routed to b", func() bool { _, body := world.Get(r.proxy); return body == "b" })
			r.AwaitACKed(r.Put(world.Cluster("a", "2s")), 1) // nothing of it is withheld
			promptly(r.T, "active with a timeout of 2s", func() bool { return activeClusters(r.T, r.envoy)["a"] == "2s" })
			r.wantUnsent(0, "new")
			r.wantNone("new")
		})
		r.Step("its route is written", func() {
			last := r.Put(world.Route("missing", "a"))
			promptly(r.T, "served", func() bool { _, body := world.Get("http://" + address); return body == "a" })
			r.AwaitACKed(last, 1)
			r.AwaitACKed(revision, 1)
			r.wantAsInFleet(fleet.Listener)
		})
	})
}

// TestChangedListenerIsWithheld: until its route is there it goes on as it was.
func TestChangedListenerIsWithheld(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.AwaitState(r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")))), "delivered")
		load := startLoad(t, r.proxy)
		n := r.tap.Count()
		revision := r.Put(world.Listener("l", strings.TrimPrefix(r.proxy, "http://"), "missing"))
		r.awaitWithheld(revision, "l", "missing")
		r.wantUnsent(n, "l")
		other := world.FreePort(t)
		r.Put(world.Listener("other", other, "r"))
		r.awaitServed(other)
		r.awaitBody("a")
		last := r.Put(world.Route("missing", "b"))
		promptly(t, "routed by its new route", func() bool { return world.GetAnew(r.proxy) == "b" })
		r.AwaitACKed(last, 1)
		r.AwaitACKed(revision, 1)
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// told is how long it takes at most until it is told what a node waits for: what comes
// and goes within a second is not.
const told = oneNACK

// awaitWithheld fails unless a wait for this receipt ends early and tells that a listener
// waits for a route.
func (r *routed) awaitWithheld(revision int64, listener, route string) {
	r.T.Helper()
	start := time.Now()
	got := r.Receipt(revision)
	r.within(told, start, "the wait ended")
	if got.State != client.ReceiptStatePending || got.Counts.Pending != 1 || got.Counts.Withheld != 1 || len(got.Nodes) != 1 {
		r.T.Fatalf("the receipt is %s, want n1 pending and withheld from", world.AsJSON(got))
	}
	n := got.Nodes[0]
	if n.Withheld == nil || len(*n.Withheld) != 1 || n.WithheldBy == nil || len(*n.WithheldBy) != 1 {
		r.T.Fatalf("the receipt is %s, want one resource withheld by one", world.AsJSON(got))
	}
	if w, by := (*n.Withheld)[0], (*n.WithheldBy)[0]; w.Resource.Name != listener || w.Reason != client.WithheldReasonMissing || w.By != by || by.Type != "routes" || by.Name != route {
		r.T.Errorf("the receipt is %s, want %s withheld by %s, which is missing", world.AsJSON(got), listener, route)
	}
}

// wantNone fails if Envoy has a listener of this name.
func (r *routed) wantNone(name string) {
	r.T.Helper()
	held := r.held(fleet.Listener)
	if _, there := held[name]; there {
		r.T.Errorf("Envoy has the listeners %v, want no %s", held, name)
	}
}

// wantUnsent fails if since n a listener of this name was sent, which can be seen in
// delta, or if one warms.
func (r *routed) wantUnsent(n int, name string) {
	r.T.Helper()
	for _, s := range r.tap.Since(n) {
		if s.Type == fleet.Listener && slices.Contains(s.Names, name) {
			r.T.Errorf("the server sent %s", s)
		}
	}
	for l, mark := range r.held(fleet.Listener) {
		if strings.Contains(mark, "warming") {
			r.T.Errorf("the listener %s warms", l)
		}
	}
}

// TestStrictFleetRefusesWhatNamesNothing, at the field that does.
func TestStrictFleetRefusesWhatNamesNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	strict := client.Strict
	f, err := w.REST.CreateFleetWithResponse(t.Context(), "acme", client.FleetCreate{Name: "strict", References: &strict})
	w.Made(f, err)
	put := func(typ string, r world.Resource) *client.PutResourceResponse {
		p, err := w.REST.PutResourceWithBodyWithResponse(t.Context(), "acme", "strict", client.TypeParam(typ), r.Name, nil, "application/yaml", strings.NewReader(r.Document()))
		world.Must(t, err)
		return p
	}
	l := world.Listener("l", world.FreePort(t), "missing")
	refused := put("listeners", l)
	const field = "/body/filter_chains/0/filters/0/typed_config/rds/route_config_name"
	p := refused.ApplicationproblemJSON422
	if p == nil || p.Errors == nil || len(*p.Errors) != 1 || (*p.Errors)[0].Pointer == nil || *(*p.Errors)[0].Pointer != field || !strings.Contains((*p.Errors)[0].Detail, "missing") {
		t.Fatalf("the listener was answered %d %s, want 422 at %s", refused.StatusCode(), refused.Body, field)
	}
	for _, r := range []world.Resource{world.Cluster("a", "1s"), world.Route("missing", "a"), l} {
		if p := put(r.Type, r); p.StatusCode() != http.StatusCreated {
			t.Errorf("%s was answered %d %s", r.Name, p.StatusCode(), p.Body)
		}
	}
}
