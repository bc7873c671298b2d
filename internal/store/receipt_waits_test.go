package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func waiting(node string, at fleet.Revision, w fleet.Waits) fleet.NodeStatus {
	n := on(node)
	n.Settled, n.Waits = &at, w
	return n
}

var (
	edgeWaits = fleet.Waits{Withheld: []fleet.Withheld{{Ref: fleet.Ref{Type: fleet.Listener, Name: "edge"}, By: routeR}}}
	warms     = fleet.Waits{Warming: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}}}
)

// SEMANTICS 5.3, 5.5: a pending node says what it waits for, and a receipt whose pending
// nodes all wait for what is withheld is blocked.
func TestLine5_5_AllThatIsPendingIsWithheld(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a"), on("b"), on("c")}})
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{waiting("a", 0, edgeWaits), waiting("b", 0, warms)}})
	r := w.receipt(1)
	if r.Counts != (fleet.Counts{Acked: 1, Pending: 2, Withheld: 1}) || r.Blocked() || r.State != fleet.ReceiptPending {
		t.Fatalf("%+v", r.Counts)
	}
	if !r.Nodes[0].Waits.Equal(edgeWaits) || !r.Nodes[1].Waits.Equal(warms) {
		t.Errorf("%+v", r.Nodes)
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{waiting("b", 0, edgeWaits.With(warms))}})
	if r := w.receipt(1); r.Blocked() {
		t.Errorf("b still warms: %+v", r.Counts)
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{waiting("b", 0, edgeWaits)}})
	if r := w.receipt(1); !r.Blocked() || r.State != fleet.ReceiptPending {
		t.Errorf("all wait for what is withheld: %+v", r.Counts)
	}
	n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "a")
	w.ok(err)
	if !n.Waits.Equal(edgeWaits) {
		t.Errorf("the node: %+v", n.Waits)
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}})
	if r := w.receipt(1); r.Counts != (fleet.Counts{Acked: 3}) {
		t.Errorf("when it is over: %+v", r.Counts)
	}
}

// keptBack is edgeWaits of a revision that is known.
func keptBack(rev fleet.Revision) fleet.Waits {
	h := edgeWaits.Withheld[0]
	h.Revision = rev
	return fleet.Waits{Withheld: []fleet.Withheld{h}}
}

// SEMANTICS 5.3: a resource of a revision that is withheld keeps the node pending at that
// revision and at no other one.
func TestLine5_3_WhatIsWithheldKeepsItsRevisionPending(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n"), on("other")}})
	for i := range 4 {
		w.apply(put(fleet.Cluster, "c", fmt.Sprint(i)))
	}
	states := func(when string, want ...string) {
		t.Helper()
		for i, state := range want {
			r := w.receipt(fleet.Revision(i + 1))
			got := fleet.NodeAcked
			for _, n := range r.Nodes {
				if n.ID == "n" {
					got = n.State
				}
			}
			if got != state {
				t.Errorf("%s: at revision %d it is %s, want %s", when, i+1, got, state)
			}
		}
	}
	all := keptBack(2).With(keptBack(4))
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{waiting("n", 3, all.With(warms))}})
	states("withheld", "acked", "pending", "acked", "pending")
	r := w.receipt(2)
	if !r.Blocked() || r.Counts != (fleet.Counts{Acked: 1, Pending: 1, Withheld: 1}) || r.Nodes[0].Behind || !r.Nodes[0].Waits.Equal(keptBack(2)) {
		t.Errorf("what it settled but for that: %+v", r)
	}
	r = w.receipt(4)
	if r.Blocked() || !r.Nodes[0].Behind || !r.Nodes[0].Waits.Equal(keptBack(4).With(warms)) {
		t.Errorf("what it has not settled: %+v", r)
	}
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{waiting("n", 3, all)}})
	if r := w.receipt(4); r.Blocked() {
		t.Errorf("the rest is under way: %+v", r.Counts)
	}
	if p := w.past("n", fleet.ServerID{}); p.Settled != 1 {
		t.Errorf("its next server takes it to have settled %d", p.Settled)
	}
	gone := waiting("n", 4, all)
	gone.Connected = false
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{gone}})
	states("gone", "acked", "offline", "acked", "offline")
	n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
	w.ok(err)
	if !n.Waits.Empty() {
		t.Errorf("it is gone, and waits for %+v", n.Waits)
	}
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{waiting("n", 4, all)}})
	states("back", "acked", "pending", "acked", "pending")
	s.die()
	states("its server died", "acked", "offline", "acked", "offline")
	b := w.server("b")
	b.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{on("n")}})
	states("elsewhere", "acked", "acked", "acked", "acked")
}

// Rows that an older server wrote have no revision.
func TestWaitsWithoutARevision(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{waiting("n", 0, edgeWaits)}})
	w.exec(`UPDATE nodes SET first_seen = now() - interval '1 h'`)
	w.exec(`UPDATE node_status SET waits = '{"withheld": [["listeners", "edge", "routes", "r"]], "more": 1}'`)
	r := w.receipt(1)
	if want := edgeWaits.With(fleet.Waits{More: 1}); !r.Blocked() || !r.Nodes[0].Waits.Equal(want) {
		t.Errorf("%+v", r)
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{waiting("n", 1, edgeWaits)}})
	if r := w.receipt(1); r.Counts != (fleet.Counts{Acked: 1}) {
		t.Errorf("it is of no revision: %+v", r.Counts)
	}
}

// A node that is gone waits for nothing, and one on two servers for what both say.
func TestWaitsOfDeadAndOfSeveralServers(t *testing.T) {
	w := setup(t)
	a, b := w.server("a"), w.server("b")
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{waiting("n", 0, edgeWaits)}})
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{waiting("n", 0, warms)}})
	waits := func() fleet.Waits {
		n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
		w.ok(err)
		return n.Waits
	}
	if got := waits(); !got.Equal(edgeWaits.With(warms)) {
		t.Errorf("of both: %+v", got)
	}
	a.die()
	if got := waits(); !got.Equal(warms) {
		t.Errorf("of the one that lives: %+v", got)
	}
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "n", Waits: warms}}})
	if got := waits(); !got.Empty() {
		t.Errorf("of a node that is gone: %+v", got)
	}
}

func TestWaitsAreCutToSize(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	var huge fleet.Waits
	for i := range 1000 {
		huge.Warming = append(huge.Warming, fleet.Ref{Type: fleet.Cluster, Name: fmt.Sprintf("%04d\x00\xff%s", i, strings.Repeat("é", 5000))})
	}
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{waiting("n", 0, huge)}})
	n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
	w.ok(err)
	if len(n.Waits.Warming) != fleet.MaxWaits || n.Waits.More != 980 || len(n.Waits.Warming[0].Name) > store.MaxName {
		t.Errorf("%d, %d more", len(n.Waits.Warming), n.Waits.More)
	}
}

// crowd makes n nodes at revision 1. Of each hundred so many are offline, refuse, and are
// behind; the others follow.
func crowd(t testing.TB, db *storetest.DB, k fleet.Key, n, offline, refuse, behind int) {
	t.Helper()
	node := db.NodeStore(t)
	server := fleet.NewServerID()
	term, err := node.Lease(t.Context(), server, "s", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s := fleet.Status{Key: k, Server: server, Term: term, Settled: 1}
	long := time.Now().Add(-time.Minute)
	for i := range n {
		x := fleet.NodeStatus{Node: fmt.Sprintf("n%06d", i), Connected: true, Since: long}
		switch zero, at := fleet.Revision(0), i%100; {
		case at < offline:
			x.Connected, x.Settled = false, &zero
		case at < offline+refuse:
			s.Refusals = append(s.Refusals, fleet.Refusal{Node: x.Node, Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: "no"})
		case at < offline+refuse+behind:
			x.Settled, x.Waits = &zero, edgeWaits
		}
		s.Nodes = append(s.Nodes, x)
		if len(s.Nodes) < 1000 && i+1 < n {
			continue
		}
		if err := node.Report(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		s.Nodes, s.Refusals = nil, nil
	}
	db.Exec(t, `UPDATE nodes SET first_seen = now() - interval '1 hour'`)
	db.Exec(t, `VACUUM ANALYZE`) // as autovacuum does, which tests have not
}

// SEMANTICS 5.6: all nodes of a state, page by page.
func TestLine5_6_ReceiptIsPaged(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	crowd(t, w.db, w.key(), 1000, 10, 10, 10)
	for state, want := range map[string]int{fleet.NodeAcked: 700, fleet.NodeNacked: 100, fleet.NodePending: 100, fleet.NodeOffline: 100} {
		seen, q := []string{}, store.ReceiptFilter{State: state, Limit: 99}
		for more := true; more; {
			var r fleet.Receipt
			var err error
			r, more, err = w.app.ReceiptPage(t.Context(), w.tenant, w.fleet, 1, q)
			w.ok(err)
			for _, n := range r.Nodes {
				if n.State != state || n.ID <= q.After {
					t.Fatalf("%s: %+v after %q", state, n, q.After)
				}
				seen, q.After = append(seen, n.ID), n.ID
			}
			if r.Counts.Acked != 700 {
				t.Fatalf("%+v", r.Counts)
			}
		}
		if len(seen) != want {
			t.Errorf("%s: %d nodes", state, len(seen))
		}
	}
	r := w.receipt(1)
	if len(r.Nodes) != 100 || r.Nodes[0].State != fleet.NodeNacked {
		t.Errorf("%d without a state", len(r.Nodes))
	}
}

// SEMANTICS 5.3: what is refused of a later revision is known of a node that waits for it.
func TestRefusingOfAnyRevision(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}})
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{waiting("a", 0, edgeWaits)}, Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Route, Name: "r", Version: "v", Revision: 2}}})
	n := w.receipt(1).Nodes[0]
	if d := cmp.Diff([]fleet.Ref{routeR}, n.Refusing); d != "" || len(n.StillRefusing) != 0 {
		t.Errorf("%+v: %s", n, d)
	}
}

// A receipt of 10,000 nodes is to be answered within 20 ms. Plain is the statement that
// looks at every row.
func BenchmarkReceipt(b *testing.B) {
	for _, c := range []struct {
		name                    string
		offline, refuse, behind int
		counts                  fleet.Counts
	}{
		{"Healthy", 0, 0, 0, fleet.Counts{Acked: 10_000}},
		{"100Pending", 0, 0, 1, fleet.Counts{Acked: 9900, Pending: 100}},
		{"AllPending", 0, 0, 100, fleet.Counts{Pending: 10_000}},
		{"AllRefuse", 0, 100, 0, fleet.Counts{Nacked: 10_000}},
		{"Mixed", 10, 10, 10, fleet.Counts{Acked: 7000, Nacked: 1000, Pending: 1000, Offline: 1000}},
	} {
		db, s, k := benchWorld(b, 1)
		crowd(b, db, k, 10_000, c.offline, c.refuse, c.behind)
		read := func(name string, page func() (fleet.Receipt, bool, error)) {
			b.Run(c.name+name, func(b *testing.B) {
				for b.Loop() {
					r, _, err := page()
					if r.Counts.Withheld = 0; err != nil || r.Counts != c.counts {
						b.Fatal(r.Counts, err)
					}
				}
			})
		}
		read("", func() (fleet.Receipt, bool, error) {
			return s.ReceiptPage(b.Context(), k.Tenant, k.Fleet, 1, store.ReceiptFilter{})
		})
		read("AckedPage", func() (fleet.Receipt, bool, error) {
			return s.ReceiptPage(b.Context(), k.Tenant, k.Fleet, 1, store.ReceiptFilter{State: fleet.NodeAcked, After: "n005000", Limit: 500})
		})
		read("Plain", func() (fleet.Receipt, bool, error) {
			return s.ReceiptBy(b.Context(), slowReceipt, k.Tenant, k.Fleet, 1, store.ReceiptFilter{})
		})
	}
}

// A node of files that no Envoy reads is pending, and its receipt says so; of one that is not connected nothing is said.
func TestAReceiptTellsThatNoEnvoyServes(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	files := waiting("files", 0, fleet.Waits{})
	files.UserAgent = fleet.AgentNoEnvoy
	gone := waiting("gone", 0, fleet.Waits{})
	gone.UserAgent, gone.Connected = fleet.AgentNoEnvoy, false
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{files, gone, waiting("slow", 0, fleet.Waits{}), on("taken")}})
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Settled: 1})
	r := w.receipt(1)
	told := map[string]bool{}
	for _, n := range r.Nodes {
		told[n.ID] = n.NoEnvoy
	}
	if diff := cmp.Diff(map[string]bool{"files": true, "gone": false, "slow": false}, told); diff != "" || r.Counts != (fleet.Counts{Acked: 1, Pending: 2, Offline: 1}) {
		t.Errorf("%+v, without an Envoy: %s", r.Counts, diff)
	}
	files.UserAgent, files.Settled = "fairlead-sync-envoy", nil
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{files}})
	if r := w.receipt(1); r.Counts.Acked != 2 || slices.ContainsFunc(r.Nodes, func(n fleet.ReceiptNode) bool { return n.NoEnvoy }) {
		t.Errorf("an Envoy serves again: %+v", r)
	}
}
