package store_test

import (
	"testing"

	"fairlead/internal/fleet"
)

// SEMANTICS 6.3: a node that is on two servers, or twice on one, is acked when all are.
func TestDuplicatesAreShown(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	a, b := w.server("a"), w.server("b")
	twice := on("n")
	twice.Duplicates = 2
	a.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{twice, on("single"), on("both")}})
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{on("both")}})
	want := func(node string, duplicates int, settled fleet.Revision) {
		t.Helper()
		n, err := w.app.Node(t.Context(), w.tenant, w.fleet, node)
		w.ok(err)
		if n.Duplicates != duplicates || n.Settled != settled {
			t.Errorf("%s: %d duplicates, settled %d", node, n.Duplicates, n.Settled)
		}
	}
	want("n", 2, 1)
	want("single", 0, 1)
	want("both", 2, 0)
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}})
	want("n", 3, 0)
	b.die()
	want("n", 2, 1)
	want("both", 0, 1)
}
