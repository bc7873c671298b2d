package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestEndpointsAsData registers endpoints with a real Envoy: what is registered gets the requests, what drains gets none, what is beside a document is
// served with it, and what is not renewed is gone 2 s after its time.
func TestEndpointsAsData(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := &routed{installation: setup(t)}
		r.xds = r.XDS()
		address := world.FreePort(t)
		r.proxy = "http://" + address
		r.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s")))
		r.envoy = r.Envoy("n1", r.xds.Address, delta)
		r.AwaitLive("n1")

		lease, err := r.REST.TakeLeaseWithResponse(t.Context(), r.Tenant, r.Fleet, client.LeaseTake{Ttl: "6s"})
		r.Made(lease, err)
		id := lease.JSON201.Id
		one, two, three := world.Backend(t, "one"), world.Backend(t, "two"), world.Backend(t, "three")
		put := func(es ...client.EndpointPut) {
			t.Helper()
			w, err := r.REST.WriteEndpointsWithResponse(t.Context(), r.Tenant, r.Fleet, "a", client.EndpointWrite{Set: &es})
			r.Made(w, err)
		}
		draining := client.Draining
		put(client.EndpointPut{Address: one, Lease: &id})
		r.awaitBody("one")
		put(client.EndpointPut{Address: one, Lease: &id, Health: &draining}, client.EndpointPut{Address: two})
		r.awaitAll("two")

		// It is healthy again, and nobody renews it.
		renewed, err := r.REST.RenewLeaseWithResponse(t.Context(), r.Tenant, r.Fleet, id)
		r.Made(renewed, err)
		put(client.EndpointPut{Address: one, Lease: &id})
		r.awaitAll("one", "two")
		r.Apply(world.Together(world.Endpoints("a", three)))
		r.awaitAll("one", "three", "two")
		world.Eventually(t, time.Until(renewed.JSON200.ExpiresAt)+2*world.Soon, "the endpoint is there after its lease has run out", func() bool {
			list, err := r.REST.ListEndpointsWithResponse(t.Context(), r.Tenant, r.Fleet, "a", nil)
			r.Made(list, err)
			return len(list.JSON200.Items) == 1
		})
		r.awaitAll("three", "two")

		// A rollback to before the document leaves what is data.
		rolled, err := r.REST.RollbackWithResponse(t.Context(), r.Tenant, r.Fleet, nil, client.RollbackJSONRequestBody{Revision: 1})
		r.Made(rolled, err)
		r.awaitAll("two")
		list, err := r.REST.ListRevisionsWithResponse(t.Context(), r.Tenant, r.Fleet, nil)
		r.Made(list, err)
		if kind := list.JSON200.Items[0].Kind; kind != string(client.KindEndpoints) {
			t.Errorf("the newest revision is of the kind %s", kind)
		}
		r.AwaitState(list.JSON200.Items[0].Revision, "delivered")
	})
}

// awaitAll waits until twelve requests are answered by these backends, each by some, and by nobody else.
func (r *routed) awaitAll(names ...string) {
	r.T.Helper()
	world.Eventually(r.T, world.Soon, "the answers are not from those alone", func() bool {
		var got []string
		for range 12 {
			code, body := world.Get(r.proxy)
			if code != http.StatusOK {
				return false
			}
			got = append(got, body)
		}
		slices.Sort(got)
		return slices.Equal(slices.Compact(got), names)
	})
}

// register starts "fairlead endpoints register" for the cluster a.
func (r *routed) register(address string, args ...string) *world.Program {
	r.T.Helper()
	return r.Start("fairlead", append([]string{"endpoints", "register", "--server", r.API, "--tenant", r.Tenant, "--fleet", r.Fleet, "--token", r.World.Token,
		"--cluster", "a", "--address", address, "--lease", "5s"}, args...)...)
}

// listed are the addresses of the cluster a.
func (r *routed) listed() (out []string) {
	r.T.Helper()
	list, err := r.REST.ListEndpointsWithResponse(r.T.Context(), r.Tenant, r.Fleet, "a", nil)
	world.Must(r.T, err)
	if list.JSON200 == nil {
		return nil // the database is away
	}
	for _, e := range list.JSON200.Items {
		out = append(out, e.Address)
	}
	return out
}

// TestRegisteredPrograms: one that is stopped drains before it goes, one that is killed is gone 2 s after its time, and no request fails while one drains.
func TestRegisteredPrograms(t *testing.T) {
	t.Parallel()
	r := &routed{installation: setup(t)}
	r.xds = r.XDS()
	address := world.FreePort(t)
	r.proxy = "http://" + address
	r.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s")))
	r.envoy = r.Envoy("n1", r.xds.Address, true)
	r.AwaitLive("n1")
	one, two := world.Backend(t, "one"), world.Backend(t, "two")
	first, second := r.register(one, "--drain", "2s"), r.register(two)
	r.awaitAll("one", "two")

	load := startLoad(t, r.proxy)
	world.Must(t, first.Stop())
	if done, failed := load.stop(); failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
	}
	if err := first.Err(); err != nil {
		t.Errorf("what was stopped ended with %v", err)
	}
	if got := r.listed(); !slices.Equal(got, []string{two}) {
		t.Errorf("after its end there are %v, want %s alone", got, two)
	}
	r.awaitAll("two")

	second.Kill()
	killed := time.Now()
	world.Eventually(t, 3*world.Soon, "the endpoint is there after its lease has run out", func() bool { return len(r.listed()) == 0 })
	if took := time.Since(killed); took < time.Second {
		t.Errorf("it went %v after its program, before its lease can have run out", took)
	}
}

// TestEndpointsOutliveTheDatabase: leases do not run out while the database is away for longer than they last.
func TestEndpointsOutliveTheDatabase(t *testing.T) {
	t.Parallel()
	w, pg := setupPostgres(t)
	r := &routed{installation: w}
	one, two := world.Backend(t, "one"), world.Backend(t, "two")
	r.register(one)
	killed := r.register(two)
	world.Eventually(t, world.Soon, "the programs are not registered", func() bool { return len(r.listed()) == 2 })
	pg.Kill()
	away := time.Now()
	killed.Kill()
	world.Eventually(t, 2*world.Soon, "the time does not pass", func() bool { return time.Since(away) > 6*time.Second })
	world.Must(t, pg.Restart(t.Context()))
	back := time.Now()
	world.Eventually(t, 2*world.Soon, "nothing is listed", func() bool { return len(r.listed()) > 0 })
	for time.Since(back) < 4*time.Second {
		// Told before a lease of 5 s can have run out anew.
		if got := r.listed(); got != nil && len(got) != 2 && time.Since(back) < 5*time.Second {
			t.Fatalf("after the outage there are %v", got)
		}
	}
	world.Eventually(t, 2*world.Soon, "the endpoint of the program that was killed stays", func() bool { return slices.Equal(r.listed(), []string{one}) })
}
