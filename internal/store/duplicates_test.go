package store_test

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
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

// SEMANTICS 6.3: two servers that have a node for half a minute make an event, once; a node
// that moves from one to the other does not.
func TestDuplicatesOnTwoServersMakeAnEvent(t *testing.T) {
	ago := func(d time.Duration) fleet.NodeStatus {
		return fleet.NodeStatus{Node: "n", Connected: true, Since: time.Now().Add(-d)}
	}
	const long, short = time.Minute, 10 * time.Second
	lasting := []string{"n", "nobody"}
	for name, c := range map[string]struct {
		do   func(w *world, a, b server)
		want string
	}{
		"both last": {func(_ *world, a, b server) {
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}, Lasting: lasting})
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(31 * time.Second)}, Lasting: lasting})
			a.report(fleet.Status{Lasting: lasting}) // and the other way round
		}, "2 clients have this node id, on 2 servers"},
		"several on one": {func(_ *world, a, b server) {
			twice := ago(long)
			twice.Duplicates = 2
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{twice}})
			a.exec(`DELETE FROM node_events`) // of the two
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}, Lasting: lasting})
		}, "3 clients have this node id, on 2 servers"},
		"it has just come to the other": {func(_ *world, a, b server) {
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(short)}})
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}, Lasting: lasting})
		}, ""},
		"it has moved": {func(_ *world, a, b server) {
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}})
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "n", Since: time.Now().Add(-long)}}})
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}, Lasting: lasting})
		}, ""},
		"the other server died": {func(_ *world, a, b server) {
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}})
			a.die()
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}, Lasting: lasting})
		}, ""},
		"it is gone here": {func(w *world, a, b server) {
			c := w.server("c")
			a.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}})
			c.report(fleet.Status{Nodes: []fleet.NodeStatus{ago(long)}})
			b.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "n"}}, Lasting: lasting})
		}, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			w := setup(t)
			c.do(w, w.server("a"), w.server("b"))
			es, _, err := w.app.Events(t.Context(), w.tenant, w.fleet, store.EventFilter{}, store.EventCursor{}, 0)
			w.ok(err)
			got := ""
			for _, e := range es {
				got += e.Note
				if e.Kind != store.EventDuplicates || e.Node != "n" {
					t.Errorf("%+v", e)
				}
			}
			if got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}
