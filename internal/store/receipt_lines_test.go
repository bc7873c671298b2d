package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// refusedAt are the revisions that the node's refusals belong to, by name.
func (w *world) refusedAt(node string) map[string]fleet.Revision {
	w.Helper()
	n, err := w.app.Node(w.Context(), w.tenant, w.fleet, node)
	w.ok(err)
	out := map[string]fleet.Revision{}
	for _, r := range n.Refusals {
		if r.Stands() {
			out[r.Name] = r.Revision
		}
	}
	return out
}

// SEMANTICS 5.1: settled at 9 counts for 7 and 8.
func TestLine5_1_SettledCountsForAllBefore(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	for i := range 3 {
		w.apply(put(fleet.Cluster, "c", string(rune('1'+i))))
	}
	s.report(fleet.Status{Settled: 3})
	for rev := fleet.Revision(1); rev <= 3; rev++ {
		if r := w.receipt(rev); r.Counts != (fleet.Counts{Acked: 1}) {
			t.Errorf("revision %d: %+v", rev, r.Counts)
		}
	}
}

// SEMANTICS 5.2: a refusal belongs to the revision that introduced the version, whatever
// revision of it the server has loaded, and a version that came back to its return.
func TestLine5_2_ARefusalBelongsToTheRevisionThatBroughtTheVersion(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	labelled := func(c store.ResourceChange, label string) store.ResourceChange {
		c.Labels = map[string]string{"team": label}
		return fill(c)
	}
	bad := put(fleet.Cluster, "c", "bad")
	w.apply(bad)                              // 1
	w.apply(put(fleet.Cluster, "c", "good"))  // 2
	w.apply(bad)                              // 3: again
	w.apply(put(fleet.Cluster, "other", "x")) // 4
	w.apply(labelled(bad, "x"))               // 5: the same version
	w.apply(labelled(bad, "y"))               // 6
	w.apply(put(fleet.Cluster, "other", "y")) // 7
	refusal := func(rev fleet.Revision) fleet.Refusal {
		return fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: bad.Version, Revision: rev, Detail: "no"}
	}
	s.report(fleet.Status{Refusals: []fleet.Refusal{refusal(6), refusal(5)}}) // as two servers would tell it, one after a label
	if d := cmp.Diff(map[string]fleet.Revision{"c": 3}, w.refusedAt("a")); d != "" {
		t.Error(d)
	}
	for rev, want := range map[fleet.Revision]string{1: "pending", 2: "pending", 3: "rejected", 5: "pending", 6: "pending"} {
		if r := w.receipt(rev); r.State != want {
			t.Errorf("revision %d is %s", rev, r.State)
		}
	}
	s.report(fleet.Status{Refusals: []fleet.Refusal{refusal(1)}}) // late
	if r := w.receipt(1); r.State != "rejected" {
		t.Errorf("revision 1 is %s", r.State)
	}
	// What the history does not have belongs where the server says.
	s.report(fleet.Status{Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "gone", Version: "v", Revision: 4}, {Node: "a", Type: fleet.Cluster, Revision: 7}}})
	if at := w.refusedAt("a"); at["gone"] != 4 || at[""] != 7 {
		t.Errorf("refused at %v", at)
	}
}

// SEMANTICS 5.3: a later harmless revision is acked, with the old refusal beside it; a
// later refusal is no matter of an earlier revision.
func TestLine5_3_StillRefusing(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	for _, name := range []string{"x", "y", "z"} {
		w.apply(put(fleet.Cluster, name, "1"))
	}
	s.report(fleet.Status{Settled: 3, Refusals: []fleet.Refusal{
		{Node: "a", Type: fleet.Cluster, Name: "x", Version: put(fleet.Cluster, "x", "1").Version, Revision: 1, Detail: "no"},
		{Node: "a", Type: fleet.Cluster, Name: "z", Version: put(fleet.Cluster, "z", "1").Version, Revision: 3, Detail: "no"}}})
	x, z := fleet.Ref{Type: fleet.Cluster, Name: "x"}, fleet.Ref{Type: fleet.Cluster, Name: "z"}
	for rev, want := range map[fleet.Revision]struct {
		state string
		still []fleet.Ref
	}{1: {fleet.NodeNacked, []fleet.Ref{x}}, 2: {fleet.NodeAcked, []fleet.Ref{x}}, 3: {fleet.NodeNacked, []fleet.Ref{x, z}}} {
		r := w.receipt(rev)
		if len(r.Nodes) != 1 || r.Nodes[0].State != want.state || !cmp.Equal(r.Nodes[0].StillRefusing, want.still) {
			t.Errorf("revision %d: %+v", rev, r.Nodes)
		}
	}
}

// SEMANTICS 5.3: what a node that is gone has settled is what it had where it was last,
// also when that server died.
func TestLine5_3_OfflineIsWhereItWasLast(t *testing.T) {
	w := setup(t)
	for i := range 3 {
		w.apply(put(fleet.Cluster, "c", string(rune('1'+i))))
	}
	a, b := w.server("a"), w.server("b")
	long := time.Now().Add(-time.Hour)
	a.report(fleet.Status{Settled: 3, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Since: long}}})
	b.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{{Node: "n", Settled: settled(1), Since: time.Now().Add(-time.Minute)}}})
	a.die()
	w.exec(`UPDATE nodes SET first_seen = now() - interval '2 hours'`)
	if r := w.receipt(3); r.Counts != (fleet.Counts{Acked: 1}) {
		t.Errorf("%+v: it was on a until its death", r.Counts)
	}
}

// SEMANTICS 5.4: a node is seen when it connects, not when that is told.
func TestLine5_4_ANodeIsSeenWhenItConnects(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	before := time.Now()
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{
		{Node: "before", Connected: true, Settled: settled(0), Since: before}, {Node: "after", Connected: true, Settled: settled(0), Since: time.Now()},
		{Node: "from the future", Connected: true, Settled: settled(0), Since: time.Now().Add(time.Hour)}}})
	r := w.receipt(1)
	if r.Counts.Pending != 1 || r.Nodes[0].ID != "before" {
		t.Errorf("%+v %+v", r.Counts, r.Nodes)
	}
	if n := w.count(`SELECT count(*) FROM nodes WHERE first_seen > clock_timestamp()`); n != 0 {
		t.Error("a server's clock that is fast makes a node seen in the future")
	}
}

// SEMANTICS 5.6: no time is before the revision's.
func TestLine5_6_TimesAreNeverNegative(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	at := w.apply(put(fleet.Cluster, "c", "1")).CommittedAt
	early := at.Add(-time.Minute)
	s.report(fleet.Status{Delivered: []fleet.Delivered{{Revision: 1, Acked: 1, FirstAck: early, LastAck: early}},
		Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, At: early}}})
	if r := w.receipt(1); r.FirstAck.Before(at) || r.LastAck.Before(at) || r.Nodes[0].At.Before(at) {
		t.Errorf("committed %s: first %s, last %s, refused %s", at, r.FirstAck, r.LastAck, r.Nodes[0].At)
	}
}
