package store_test

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// late is a report of before, which the network has held up.
func (s server) late(node string) error {
	return s.node.Report(s.Context(), fleet.Status{Key: s.key(), Server: s.id, Term: s.term, Settled: 1, Nodes: []fleet.NodeStatus{on(node)}})
}

// A lease that is renewed in time is the same one; the database's clock judges that.
func TestALeaseThatHasEndedIsTakenAnew(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	if term := w.lease(s.id, "s", time.Minute); term != s.term {
		t.Errorf("renewed in time it is of term %d, and was of %d", term, s.term)
	}
	s.dead(time.Second)
	if term := w.lease(s.id, "s", time.Minute); term <= s.term {
		t.Errorf("taken anew it is of term %d after %d", term, s.term)
	}
	w.exec(`DELETE FROM xds_servers`)
	if term := w.lease(s.id, "s", time.Minute); term <= s.term {
		t.Errorf("taken anew by a server that was forgotten it is of term %d after %d", term, s.term)
	}
}

// A server loses its lease, what it said is swept, and it comes back: what it said before, and
// what comes late, is not written.
func TestAReportOfAnEarlierLeaseIsRefused(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	old := w.server("s")
	w.ok(old.late("n"))
	old.dead(2 * time.Minute)
	w.ok(old.late("n")) // nobody has taken it anew
	back := old
	back.term = w.lease(old.id, "s", time.Minute)
	back.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{{Node: "n", Settled: settled(1)}}})
	w.is(old.late("n"), store.ErrLeaseLost)
	if n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n"); err != nil || n.State != store.NodeOffline {
		t.Errorf("the node is %s, %v", n.State, err)
	}
}

// Of a server that is forgotten nothing is written that no sweep would find.
func TestAReportOfAForgottenServerIsRefused(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.dead(2 * time.Minute)
	w.sweep(1)
	w.is(s.late("n"), store.ErrLeaseLost)
	if got := s.rows(); got != [2]int{0, 0} {
		t.Errorf("%d rows of the server are left, %d of its lease", got[0], got[1])
	}
}

// Nor is a server forgotten, or its lease taken anew, while a report of it is under way.
func TestAReportThatIsUnderWayKeepsItsServer(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	w.ok(s.late("n"))
	w.exec(`DELETE FROM node_status`)
	s.dead(2 * time.Minute)
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM nodes FOR UPDATE`)
	w.ok(err)
	done, taken := make(chan error, 1), make(chan error, 1)
	go func() { done <- s.late("n") }()
	until(t, "the report waits for its node", func() bool { return w.waitingForLocks() == 1 })
	w.sweep(1)
	go func() {
		_, err := w.node.Lease(t.Context(), s.id, "s", time.Minute)
		taken <- err
	}()
	until(t, "the lease waits for the report", func() bool { return w.waitingForLocks() == 2 })
	w.ok(tx.Rollback(t.Context()))
	w.ok(<-done)
	w.ok(<-taken)
	if got := s.rows(); got != [2]int{1, 1} {
		t.Errorf("%d rows of the server are left, %d of its lease", got[0], got[1])
	}
}

// What a server says of itself is that of its last renewal; one of before says nothing.
func TestAServerTellsWhatItDoes(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	told := func() store.XDSServer {
		t.Helper()
		xs, more, err := w.app.XDSServers(t.Context(), store.ServerFilter{})
		w.ok(err)
		if len(xs) != 1 || more || xs[0].ID != s.id {
			t.Fatalf("%+v", xs)
		}
		return xs[0]
	}
	first := told()
	if first.Load != nil || !first.Live || first.Name != "s" {
		t.Errorf("%+v", first)
	}
	for _, want := range []store.ServerLoad{{Version: strings.Repeat("v", 128), Streams: 3, Fleets: 2, Behind: 250 * time.Millisecond}, {}} {
		sent := want
		sent.Version += strings.Repeat("v", len(want.Version)) // too long
		term, err := w.node.LeaseWith(t.Context(), s.id, "other", time.Minute, sent)
		w.ok(err)
		if x := told(); term != s.term || x.Load == nil || *x.Load != want || x.Name != "other" || !x.SeenAt.After(first.SeenAt) || !x.StartedAt.Equal(first.StartedAt) {
			t.Errorf("%+v, %+v", x, x.Load)
		}
	}
	s.dead(time.Second)
	if told().Live {
		t.Error("it is dead")
	}
	_, err := w.node.LeaseWith(t.Context(), s.id, "s", time.Minute, store.ServerLoad{Streams: 5})
	w.ok(err)
	if x := told(); !x.Live || x.Load.Streams != 5 {
		t.Errorf("taken anew: %+v", x)
	}
}

// A lease of a clock that was ahead ends as soon as any other: the nodes of a server that died under one are not pending until the clock comes there.
// A server that lives keeps its lease.
func TestALeaseOfAClockThatWasAhead(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	dead, live := w.server("dead"), w.server("live")
	dead.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
	w.apply(put(fleet.Cluster, "c", "2"))
	live.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("n")}})
	if r := w.receipt(2); r.Counts.Pending != 1 {
		t.Fatalf("while both live: %+v, want one pending", r.Counts)
	}
	w.exec(`UPDATE xds_servers SET lease_until = lease_until + interval '8 minutes', seen_at = seen_at + interval '8 minutes'`)
	term := w.lease(live.id, "live", 6*time.Second)
	var ahead float64 // seconds
	w.ok(w.super.QueryRow(t.Context(), `SELECT extract(epoch FROM max(lease_until) - clock_timestamp()) FROM xds_servers`).Scan(&ahead))
	if ahead > 60 {
		t.Errorf("a lease ends in %.0f s", ahead)
	}
	w.exec(`UPDATE xds_servers SET lease_until = clock_timestamp() WHERE server_id = $1`, dead.id.String())
	if r := w.receipt(2); r.Counts.Acked != 1 {
		t.Errorf("when it has ended: %+v, want one acked", r.Counts)
	}
	if again := w.lease(live.id, "live", 6*time.Second); again != term {
		t.Errorf("the server that lives has term %d, had %d", again, term)
	}
}
