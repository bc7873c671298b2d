package e2e

import (
	"net/http"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// byName are documents of clusters that only clients get which ask for them by their names.
func byName(clusters ...world.Resource) (doc string) {
	for _, c := range clusters {
		doc += "- " + strings.Replace(c.Document(), "body:", "delivery: by-name, body:", 1)
	}
	return doc
}

// demanding has Envoy ask for the cluster of a request that it has not got.
const demanding = `{name: on_demand, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand,
  odcds: {source: {ads: {}, resource_api_version: V3}, timeout: 2s}}},`

// TestClustersOnDemand: a real Envoy is not sent what is delivered by name until a request needs it; then it is, with its changes and its removal. It
// is about delta, over which alone Envoy asks for a cluster.
func TestClustersOnDemand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := world.FreePort(t)
	r := &routed{installation: w, xds: w.XDS(), proxy: "http://" + address}
	r.tap = world.NewTap(t, r.xds.Address)
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", world.ADS), Filters: demanding}.Resource(), world.Route("r", "od"),
		world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), world.Endpoints("od", world.Backend(t, "one")),
	) + byName(world.Cluster("od", "1s"), world.Cluster("other", "1s")))
	r.envoy = w.Launch("n1", r.tap.Address, true)
	promptly(t, "LIVE", func() bool { return live(t, r.envoy) })
	w.AwaitLive("n1")

	sent := func(since int, typ fleet.Type) (names []string) {
		for _, s := range r.tap.Since(since) {
			if s.Type == typ {
				names = append(names, s.Names...)
				for _, n := range s.Removed {
					names = append(names, "-"+n)
				}
			}
		}
		return names
	}
	wantSent := func(since int, typ fleet.Type, want ...string) {
		w.T.Helper()
		if got := sent(since, typ); strings.Join(got, " ") != strings.Join(want, " ") {
			w.T.Errorf("the server sent %s %v, want %v", typ, got, want)
		}
	}
	w.Step("a start without it", func() {
		if has := activeClusters(w.T, r.envoy); len(has) != 1 || has["a"] == "" {
			w.T.Errorf("Envoy has %v, want a alone", has)
		}
		wantSent(0, fleet.Cluster, "a")
		found, err := w.REST.ListFindingsWithResponse(w.T.Context(), w.Tenant, w.Fleet, &client.ListFindingsParams{})
		w.Made(found, err)
		for _, f := range found.JSON200.Items {
			if f.Code == client.DeliveredByName {
				w.T.Errorf("a finding: %s", world.AsJSON(f))
			}
		}
	})
	w.Step("the first request", func() {
		since := r.tap.Count()
		r.awaitBody("one")
		wantSent(since, fleet.Cluster, "od")
		wantSent(since, fleet.Endpoint, "od")
	})
	w.Step("a change of it, and of one that nobody asked for", func() {
		since := r.tap.Count()
		r.AwaitState(w.Apply("resources:\n"+byName(world.Cluster("other", "3s"))), "delivered")
		wantSent(since, fleet.Cluster)
		r.AwaitState(w.Apply("resources:\n"+byName(world.Cluster("od", "2s"))), "delivered")
		wantSent(since, fleet.Cluster, "od")
		if has := activeClusters(w.T, r.envoy); has["od"] != "2s" || len(has) != 2 {
			w.T.Errorf("Envoy has %v, want od as it was changed", has)
		}
		r.AwaitState(w.Put(world.Endpoints("od", world.Backend(r.Whole, "two"))), "delivered")
		r.awaitBody("two")
	})
	w.Step("another stream", func() {
		since, opened := r.tap.Count(), r.tap.Cut()
		world.Eventually(w.T, world.Soon, "Envoy does not come back", func() bool { return r.tap.Sees(opened, fleet.Cluster) && r.tap.Count() > since })
		r.AwaitACKed(w.Put(world.Endpoints("od", world.Backend(r.Whole, "three"))), 1)
		r.awaitBody("three")
		wantSent(since, fleet.Cluster)
	})
	w.Step("it is delivered to all from now on, and not", func() {
		since := r.tap.Count()
		r.AwaitState(w.Put(world.Cluster("od", "2s")), "delivered")
		r.AwaitState(w.Apply("resources:\n"+byName(world.Cluster("od", "2s"), world.Cluster("a", "1s"))), "delivered")
		wantSent(since, fleet.Cluster, "-a")
	})
	w.Step("it is deleted, and written again", func() {
		since := r.tap.Count()
		r.AwaitState(w.Apply("delete: [{type: clusters, name: od}]\n"), "delivered")
		wantSent(since, fleet.Cluster, "-od")
		world.Eventually(w.T, world.Soon, "no 503 without the cluster", func() bool { code, _ := world.Get(r.proxy); return code == http.StatusServiceUnavailable })
		w.Apply("resources:\n" + byName(world.Cluster("od", "1s")))
		r.awaitBody("three")
	})
}
