package store_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// Of a version that was fixed and comes back, a server that has seen neither tells the refusal
// again: it is one of the revision that brought the version back, in the words of before.
func TestARefusalThatIsToldAgainIsOfWhatBroughtItBack(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	rev := s.refusedBy("c", 1)
	w.apply(put(fleet.Cluster, "c", "fixed"))
	w.endRefusals()
	back, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, rev, store.Write{Actor: actor})
	w.ok(err)
	again := fleet.Refusal{Node: "n000000", Type: fleet.Cluster, Name: "c", Version: put(fleet.Cluster, "c", "bad").Version, Revision: back.Revision, Again: rev,
		Action: fleet.ActionKept, Good: put(fleet.Cluster, "c", "good").Version, At: time.Now()}
	report := func(r fleet.Refusal, settled fleet.Revision) {
		s.report(fleet.Status{Settled: settled, Nodes: []fleet.NodeStatus{on("n000000")}, Refusals: []fleet.Refusal{r}})
	}
	report(again, back.Revision)
	got := w.receipt(back.Revision)
	if got.Counts.Nacked != 1 || got.Nodes[0].Detail != "no such filter" || got.Nodes[0].ResolvedBy != 0 {
		t.Errorf("the receipt of what brought it back: %+v", got)
	}
	if n := w.count(`SELECT count(*) FROM node_events WHERE kind = 'refused'`); n != 2 {
		t.Errorf("%d events of refusals", n)
	}

	// Another selector's, or a label's, revision took nothing out of force.
	report(again, back.Revision)
	other := w.apply(put(fleet.Cluster, "d", "1"))
	again.Again, again.Revision = back.Revision, other.Revision
	report(again, other.Revision)
	if n := w.count(`SELECT count(*) FROM refusals`); n != 2 {
		t.Errorf("%d refusals of two revisions", n)
	}
}
