package store_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// A server knows revisions that the database has lost, as it was restored from a backup. What it says of them is not written: the next revision has the number
// of one of them, and nodes would seem to have confirmed it.
func TestAReportOfALostRevisionIsRefused(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	known := w.head()
	report := func(at fleet.Position) error {
		n := on("n")
		n.Settled = &at.Revision
		return w.node.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, At: at, Settled: at.Revision, Nodes: []fleet.NodeStatus{n}})
	}
	w.ok(report(known))
	ahead := fleet.Position{Revision: known.Revision + 2, Token: fleet.NewToken()}
	w.is(report(ahead), store.ErrHistoryCut)

	w.apply(put(fleet.Cluster, "c", "2"))
	next := w.head()
	w.is(report(fleet.Position{Revision: next.Revision, Token: fleet.NewToken()}), store.ErrHistoryCut) // the lost one of that number
	w.apply(put(fleet.Cluster, "c", "3"))
	w.is(report(fleet.Position{Revision: next.Revision, Token: fleet.NewToken()}), store.ErrHistoryCut) // and it is not the newest any more
	r, err := w.app.Receipt(t.Context(), w.tenant, w.fleet, next.Revision)
	w.ok(err)
	if r.Counts.Acked != 0 || r.Counts.Pending != 1 {
		t.Errorf("the receipt of the revision that has the number of a lost one is %+v, want one node pending", r.Counts)
	}
	w.ok(report(next)) // of before the newest, by a server that has not read that yet
	w.ok(report(w.head()))
}

// head is where the fleet is.
func (w *world) head() (p fleet.Position) {
	w.Helper()
	changes, err := w.node.CatchUp(w.Context(), []fleet.Known{{Key: w.key()}})
	w.ok(err)
	return changes[0].At
}
