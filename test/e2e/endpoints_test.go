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
		world.Eventually(t, time.Until(renewed.JSON200.ExpiresAt)+2*time.Second, "the endpoint is there 2 s after its lease has run out", func() bool {
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
