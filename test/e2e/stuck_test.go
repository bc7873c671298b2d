package e2e

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// sticky is the name of the cluster that Envoy's load balancer refuses: after it Envoy
// answers nothing about clusters any more, on no stream.
const sticky = "sticky"

// TestStuckEnvoyIsFreed on the stream on which it got stuck. What it is stuck on is
// another version of what it goes on to serve by.
func TestStuckEnvoyIsFreed(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		address := r.putRing()
		start := time.Now()
		r.putSticky("b")
		r.awaitFreed(start)
		r.wantServed("a", "b")
		if _, body := get("http://" + address); body != sticky {
			t.Errorf("what was there before is answered by %q", body)
		}
	})
}

// TestStuckEnvoyIsFreedAfterACut: its next stream does not ask for clusters, and may be
// another server's.
func TestStuckEnvoyIsFreedAfterACut(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		other := r.world.xds()
		r.putSticky("b")
		r.cutWhileStuck(other)
		r.wantServed("a", "b")
	})
}

// cutWhileStuck brings an Envoy that is stuck to another server, and waits until it is
// free.
func (r *routed) cutWhileStuck(next *xds) {
	r.t.Helper()
	eventually(r.t, soon, "it is not stuck", func() bool { return slices.Contains(warmingClusters(r.t, r.envoy), sticky) })
	r.tap.move(r.t, next.address)
	before := r.tap.cut()
	start := time.Now()
	eventually(r.t, soon, "Envoy did not come back", func() bool { return r.tap.sees(before, fleet.Endpoint) })
	r.within(atOnce, start, "back")
	if r.tap.sees(before, fleet.Cluster) {
		r.t.Error("Envoy asked for clusters though it is stuck")
	}
	r.awaitFreed(start)
}

// awaitFreed writes a cluster and waits until it is active, and what was stuck is gone.
func (r *routed) awaitFreed(start time.Time) {
	r.t.Helper()
	r.put(cluster("later", "1s"), endpoints("later", backend(r.t, "later")), paths("r", "later", "b"))
	eventually(r.t, 4*soon, "the later cluster is not active", func() bool { return activeClusters(r.t, r.envoy)["later"] == "1s" })
	r.within(freed, start, "active")
	eventually(r.t, soon, "no answer from later", func() bool { _, body := get(r.proxy + "/later"); return body == "later" })
	eventually(r.t, soon, "it is stuck", func() bool { return len(warmingClusters(r.t, r.envoy)) == 0 })
	eventually(r.t, soon, "the refusal is not told", func() bool {
		n, err := r.rest.GetNodeWithResponse(r.t.Context(), "acme", "edge", "n1")
		return err == nil && n.JSON200 != nil && len(n.JSON200.Refusals) == 1 && n.JSON200.Refusals[0].Name == sticky
	})
}

// freed is how long Envoy may be stuck, on one stream and across two.
const freed = 3 * time.Second

func (r *routed) wantServed(clusters ...string) {
	r.t.Helper()
	for _, c := range clusters {
		if _, body := get(r.proxy + "/" + c); body != c {
			r.t.Errorf("%s answered %q", c, body)
		}
	}
}

// putRing writes a good version of the sticky cluster, and returns the address of a
// listener that routes to it.
func (r *routed) putRing() (address string) {
	r.t.Helper()
	address = freePort(r.t)
	r.awaitState(r.apply(together(with(cluster(sticky, "1s"), ring), endpoints(sticky, backend(r.t, sticky)), route("ring", sticky), listener("ring", address, "ring"))), "delivered")
	eventually(r.t, soon, "no answer from the ring", func() bool { _, body := get("http://" + address); return body == sticky })
	return address
}

// ring is what a good version of the sticky cluster has.
const ring = "lb_policy: RING_HASH, ring_hash_lb_config: {minimum_ring_size: 10, maximum_ring_size: 10}"

// putSticky writes the sticky cluster past the check that keeps it out, together with
// these good ones.
func (r *routed) putSticky(good ...string) {
	r.t.Helper()
	db, err := store.Open(r.t.Context(), store.Config{URL: r.db.app})
	must(r.t, err)
	defer db.Close()
	tenant, err := db.TenantBySlug(r.t.Context(), "acme")
	must(r.t, err)
	edge, err := db.FleetByName(r.t.Context(), tenant.ID, "edge")
	must(r.t, err)
	key := fleet.Key{Tenant: tenant.ID, Fleet: edge.ID}
	changes := []store.ResourceChange{shrunk(r.t, compiled(r.t, key, fleet.Cluster, with(cluster(sticky, "2s"), ring)))}
	for _, name := range good {
		changes = append(changes, compiled(r.t, key, fleet.Cluster, cluster(name, "1s")), compiled(r.t, key, fleet.Endpoint, endpoints(name, backend(r.t, name))))
	}
	_, err = db.Apply(r.t.Context(), tenant.ID, edge.ID, store.Write{Actor: store.Actor{Name: "e2e"}, Changes: changes})
	must(r.t, err)
	r.put(paths("r", good...)) // which rings the bell too
}

// compiled is a resource as the API would write it.
func compiled(t testing.TB, key fleet.Key, typ fleet.Type, r res) store.ResourceChange {
	t.Helper()
	doc, err := resource.ToJSON(resource.YAML, []byte(r.document()))
	must(t, err)
	d, err := resource.ParsePut(doc, typ, r.name, "")
	must(t, err)
	c, err := resource.NewCompiler(resource.Config{}).Compile(key, d)
	must(t, err)
	return store.ResourceChange{
		Type: typ, Name: r.name, Version: c.Version, DocHash: c.DocHash, BodyHash: c.BodyHash, Body: c.Value, Derived: c.Derived, DeriveVersion: resource.DeriveVersion,
	}
}

// shrunk is a cluster whose largest ring is below the smallest.
func shrunk(t testing.TB, c store.ResourceChange) store.ResourceChange {
	t.Helper()
	var m clusterv3.Cluster
	must(t, proto.Unmarshal(c.Body, &m))
	m.GetRingHashLbConfig().MinimumRingSize = wrapperspb.UInt64(100)
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
	must(t, err)
	c.Body = b
	return c
}

// warmingClusters are the names of the clusters that Envoy has and does not use yet.
func warmingClusters(t testing.TB, e *localenvoy.Envoy) (names []string) {
	t.Helper()
	b, err := e.Admin(t.Context(), "/config_dump?resource=dynamic_warming_clusters")
	must(t, err)
	var dump struct {
		Configs []struct{ Cluster struct{ Name string } }
	}
	must(t, json.Unmarshal(b, &dump))
	for _, c := range dump.Configs {
		names = append(names, c.Cluster.Name)
	}
	return names
}

// Append to test/e2e/stuck_test.go. Red in both variants.

// TestStuckOnAChangeThenCut: what served before the change that it is stuck on goes on to.
func TestStuckOnAChangeThenCut(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		other := r.world.xds()
		address := r.putRing()
		r.putSticky("b")
		r.cutWhileStuck(other)
		r.wantServed("a", "b")
		if _, body := get("http://" + address); body != sticky {
			t.Errorf("what was there before is answered by %q", body)
		}
	})
}
