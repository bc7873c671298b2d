package store_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// To sweep a server costs what it said of its nodes, in a database that nobody analyzes too, and with plans that were made while
// there was nothing: a minute after its end, when another has the nodes, and after a day, when nobody does.
func TestPlansOfASweepOfANewDatabase(t *testing.T) {
	t.Parallel()
	const nodes, perNode = 1000, 40
	w := another(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	p := w.planned(w.db.App)
	sweep := func() {
		t.Helper()
		n, err := p.SweepServers(t.Context())
		if w.ok(err); n != 1 {
			t.Fatalf("%d servers are swept", n)
		}
	}
	few := w.server("few")
	few.tell(all(1, on))
	few = few.restart(1, true)
	for range 6 { // until a session takes the plans that it has
		sweep()
		few = few.restart(1, true)
	}
	sweep()
	w.exec(`DELETE FROM nodes`)
	s := w.server("many")
	s.tell(all(nodes, on))
	s = s.restart(nodes, true)
	if got := p.reads(sweep); got.rows > perNode*nodes {
		t.Errorf("a sweep of %d nodes that are elsewhere reads %d rows:%s", nodes, got.rows, got.most(12))
	}
	if n := w.count(`SELECT count(*) FROM nodes WHERE served_by = $1`, s.id.String()); n != nodes {
		t.Errorf("%d nodes are served", n)
	}
	s.dead(25 * time.Hour)
	if got := p.reads(sweep); got.rows > perNode*nodes {
		t.Errorf("a sweep of %d nodes that are nowhere reads %d rows:%s", nodes, got.rows, got.most(12))
	}
	if n := w.count(`SELECT count(*) FROM nodes WHERE served_by IS NULL`); n != nodes {
		t.Errorf("%d nodes are served by nobody", n)
	}
}
