package store_test

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// SEMANTICS 6.4, T14: a client that comes with a new id each second, for ten
// minutes. Who is connected stays, as do those that were seen last, and another tenant's.
func TestNodesOfATenantAreCapped(t *testing.T) {
	w := setup(t)
	const most = 100
	node, err := store.Open(t.Context(), store.Config{URL: w.db.Node, MaxNodes: most, AllowUnsafe: true, Patience: storetest.Patience})
	w.ok(err)
	t.Cleanup(node.Close)
	s := w.server("s")
	report := func(k fleet.Key, ns ...fleet.NodeStatus) {
		w.ok(node.Report(t.Context(), fleet.Status{Key: k, Server: s.id, Term: s.term, Nodes: ns}))
	}
	other := fleet.Key{Tenant: w.db.Tenant(t)}
	other.Fleet = w.db.Fleet(t, other.Tenant)
	report(other, fleet.NodeStatus{Node: "another tenant's"})
	report(w.key(), on("stays"), fleet.NodeStatus{Node: "old"})
	for i := range 600 {
		w.exec(`UPDATE nodes SET last_seen = last_seen - interval '1 s'`)
		var ns []fleet.NodeStatus
		if i > 0 {
			ns = append(ns, fleet.NodeStatus{Node: fmt.Sprint("n", i-1)})
		}
		report(w.key(), append(ns, on(fmt.Sprint("n", i)))...)
		if i%50 == 0 {
			w.exec(`VACUUM nodes, node_status`)
		}
		if n := w.count(`SELECT count(*) FROM nodes WHERE tenant_id = $1`, w.tenant.String()); n > most+most/20 {
			t.Fatalf("%d nodes after %d", n, i)
		}
	}
	for node, want := range map[string]int{"stays": 1, "old": 0, "n0": 0, "n480": 0, "n520": 1, "n599": 1, "another tenant's": 1} {
		if n := w.count(`SELECT count(*) FROM nodes WHERE node_id = $1`, node); n != want {
			t.Errorf("%s: %d rows", node, n)
		}
	}
	if n := w.count(`SELECT count(*) FROM node_status s WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = s.node_id)`); n != 0 {
		t.Errorf("%d rows of nodes that are forgotten", n)
	}
}

// More than the cap that are connected are all remembered.
func TestConnectedNodesAreNotCapped(t *testing.T) {
	w := setup(t)
	node, err := store.Open(t.Context(), store.Config{URL: w.db.Node, MaxNodes: 5, AllowUnsafe: true, Patience: storetest.Patience})
	w.ok(err)
	t.Cleanup(node.Close)
	s := w.server("s")
	var ns []fleet.NodeStatus
	for i := range 20 {
		ns = append(ns, on(fmt.Sprint("n", i)))
	}
	for range 2 {
		w.ok(node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Nodes: ns}))
		w.exec(`UPDATE nodes SET last_seen = last_seen - interval '1 h'`)
	}
	w.ok(node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Nodes: ns[:1]}))
	if n := w.count(`SELECT count(*) FROM nodes`); n != 20 {
		t.Errorf("%d of 20", n)
	}
	s.die()
	w.ok(node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Nodes: []fleet.NodeStatus{{Node: "n0"}}}))
	if n := w.count(`SELECT count(*) FROM nodes`); n != 5 {
		t.Errorf("%d after their server died", n)
	}
}

// TestFarAboveTheCap: a tenant that has thousands of nodes too many, as after the cap was lowered, comes down by parts, one with each report:
// no call has to remove all of them within its two seconds.
func TestFarAboveTheCap(t *testing.T) {
	w := setup(t)
	node, err := store.Open(t.Context(), store.Config{URL: w.db.Node, MaxNodes: 50, AllowUnsafe: true, Patience: storetest.Patience})
	w.ok(err)
	t.Cleanup(node.Close)
	s := w.server("s")
	w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id, last_seen) SELECT $1, $2, 'old' || g, now() - interval '1 hour' FROM generate_series(1, 2550) g`, w.tenant.String(), w.fleet.String())
	var left []int
	for i := range 3 {
		w.ok(node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Nodes: []fleet.NodeStatus{on("a"), on("b"), on("c"), on(fmt.Sprint("d", i))}}))
		left = append(left, w.count(`SELECT count(*) FROM nodes`))
	}
	if want := []int{1554, 555, 50}; !slices.Equal(left, want) {
		t.Errorf("%v nodes are left, want %v", left, want)
	}
}
