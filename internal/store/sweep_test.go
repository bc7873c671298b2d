package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// dead ends the server's lease that long ago; the server has reported nothing of its nodes' ends.
func (s server) dead(ago time.Duration) {
	s.Helper()
	s.exec(`UPDATE xds_servers SET lease_until = clock_timestamp() - make_interval(secs => $2) WHERE server_id = $1`, s.id.String(), ago.Seconds())
}

func (w *world) sweep(want int) {
	w.Helper()
	n, err := w.app.SweepServers(w.Context())
	w.ok(err)
	if n != want {
		w.Errorf("%d servers are swept, want %d", n, want)
	}
}

// rowsOf is how many rows a server has, in the statuses of nodes and among the servers.
func (s server) rows() [2]int {
	s.Helper()
	return [2]int{s.count(`SELECT count(*) FROM node_status WHERE server_id = $1`, s.id.String()), s.count(`SELECT count(*) FROM xds_servers WHERE server_id = $1`, s.id.String())}
}

func all(n int, status func(node string) fleet.NodeStatus) (ns []fleet.NodeStatus) {
	for i := range n {
		ns = append(ns, status(fmt.Sprintf("n%05d", i)))
	}
	return ns
}

func off(rev fleet.Revision) func(string) fleet.NodeStatus {
	return func(node string) fleet.NodeStatus { return fleet.NodeStatus{Node: node, Settled: &rev, Clean: true} }
}

// tell reports all nodes, some at a time.
func (s server) tell(ns []fleet.NodeStatus) {
	s.Helper()
	for part := range slices.Chunk(ns, 500) {
		s.report(fleet.Status{Settled: 1, Nodes: part})
	}
}

// restart moves all nodes to another server, which tells of them before the old one is known to
// be dead if that crashed.
func (s server) restart(nodes int, crash bool) server {
	s.Helper()
	if !crash {
		s.tell(all(nodes, off(1)))
		s.ok(s.node.Release(s.Context(), s.id))
	}
	next := s.server("next")
	next.tell(all(nodes, on))
	if crash {
		s.dead(2 * time.Minute)
	}
	return next
}

// What a server said that went in good order goes with the report of the next one; after a
// crash, whose end comes later than that, it goes with a sweep.
func TestRowsOfDeadServersGo(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	const nodes, starts = 20, 8
	s := w.server("first")
	s.report(fleet.Status{Settled: 1, Nodes: all(nodes, on)})
	for range starts {
		s = s.restart(nodes, false)
		if n := w.count(`SELECT count(*) FROM node_status`); n != nodes {
			t.Fatalf("%d rows of %d nodes", n, nodes)
		}
	}
	w.exec(`UPDATE xds_servers SET lease_until = lease_until - interval '2 minutes' WHERE server_id <> $1`, s.id.String())
	w.sweep(starts)
	for range starts {
		s = s.restart(nodes, true)
		if n := w.count(`SELECT count(*) FROM node_status`); n > 2*nodes {
			t.Fatalf("%d rows of %d nodes after a crash", n, nodes)
		}
		w.sweep(1)
		if n, m := w.count(`SELECT count(*) FROM node_status`), w.count(`SELECT count(*) FROM nodes WHERE served_by = $1`, s.id.String()); n != nodes || m != nodes {
			t.Fatalf("%d rows of %d nodes after a sweep, %d of them follow", n, nodes, m)
		}
	}
	if n := w.count(`SELECT count(*) FROM xds_servers`); n != 1 {
		t.Errorf("%d servers", n)
	}
	w.sweep(0)
}

func TestNodesFollowAgainAfterACrash(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	a, b := w.server("a"), w.server("b")
	a.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n"), on("stays")}})
	a.die()
	b.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
	want := map[string]string{"n": b.id.String(), "stays": a.id.String()}
	if d := cmp.Diff(want, w.follows()); d != "" {
		t.Error("a dead server counts:", d)
	}
	// Two live ones: the one dies later.
	c := w.server("c")
	c.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
	want["n"] = ""
	if d := cmp.Diff(want, w.follows()); d != "" {
		t.Error(d)
	}
	b.dead(59 * time.Second)
	w.sweep(0)
	b.dead(61 * time.Second)
	w.sweep(1)
	want["n"] = c.id.String()
	if d := cmp.Diff(want, w.follows()); d != "" {
		t.Error(d)
	}
}

// A server that could not reach the database for longer than its lease has its nodes still;
// those that went elsewhere meanwhile stay there.
func TestAServerThatComesBack(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	a, b := w.server("a"), w.server("b")
	a.report(fleet.Status{Settled: 0, Nodes: []fleet.NodeStatus{on("moves"), on("stays")}})
	b.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("moves")}})
	a.dead(2 * time.Minute)
	w.exec(`UPDATE nodes SET first_seen = now() - interval '1 hour'`)
	w.sweep(1)
	if got := w.receipt(1); got.Counts != (fleet.Counts{Acked: 1, Offline: 1}) {
		t.Errorf("while it is away: %+v", got.Counts)
	}
	w.sweep(0) // it has a row, and has been looked at
	a.term = w.lease(a.id, "a", time.Minute)
	if got := w.receipt(1); got.Counts != (fleet.Counts{Acked: 1, Pending: 1}) {
		t.Errorf("when it is back: %+v", got.Counts)
	}
	a.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("stays"), {Node: "moves", Settled: settled(0)}}}) // that it left is told late
	if got := w.receipt(1); got.Counts != (fleet.Counts{Acked: 2}) {
		t.Errorf("when it has told all again: %+v", got.Counts)
	}
	a.dead(2 * time.Minute)
	w.sweep(1)
}

// Who was nowhere since a server died is, after a day, what it was: in every receipt, and
// for the server to which it comes back.
func TestAfterADayANodeKeepsWhatItHad(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.apply(put(fleet.Cluster, "c", "2"))
	w.exec(`UPDATE fleets SET receipt_window = 7 * 86400`)
	s := w.server("s")
	edge := edgeWaits.Withheld[0]
	edge.Revision = 2
	withheld := fleet.NodeStatus{Node: "withheld", Connected: true, Waits: fleet.Waits{Withheld: []fleet.Withheld{edge}}}
	named := on("crashed")
	named.View, named.Protocol, named.RemoteAddr = "v", "delta ADS", "10.0.0.1:1"
	w.exec(`UPDATE fleet_history SET at = at + interval '1 hour'`)
	s.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{named, {Node: "behind", Connected: true, Settled: settled(1)}, withheld,
		{Node: "left", Settled: settled(1), Clean: true, View: "w"}, {Node: "dirty", Settled: settled(2)}}})
	w.exec(`UPDATE nodes SET first_seen = first_seen - interval '3 days', last_seen = last_seen - interval '2 days'`)
	w.exec(`UPDATE node_status SET since = since - interval '2 days'`)
	s.dead(25 * time.Hour)
	type seen struct {
		Receipts []fleet.Receipt
		Pasts    []fleet.LastStream
		Nodes    []store.NodeView
	}
	look := func() (x seen) {
		x.Receipts = []fleet.Receipt{w.receipt(1), w.receipt(2)}
		for _, n := range []string{"crashed", "behind", "withheld", "left", "dirty"} {
			x.Pasts = append(x.Pasts, w.past(n, fleet.ServerID{}))
		}
		ns, _, err := w.app.Nodes(t.Context(), w.tenant, w.fleet, "", 0)
		w.ok(err)
		x.Nodes = ns
		return x
	}
	before := look()
	if c := before.Receipts[0].Counts; c != (fleet.Counts{Acked: 5}) {
		t.Fatalf("the test is blind: %+v", c)
	}
	w.sweep(1)
	// The name of the server, how many streams there were, and when a stream began that nobody has seen the end of.
	same := cmpopts.IgnoreFields(store.NodeView{}, "Server", "Streams", "Since")
	if d := cmp.Diff(before, look(), same); d != "" {
		t.Error(d)
	}
	if got := s.rows(); got != [2]int{} {
		t.Errorf("%d rows of the server are left, %d of its lease", got[0], got[1])
	}
	if n := w.count(`SELECT count(*) FROM node_status`); n != 5 {
		t.Errorf("%d rows of 5 nodes", n)
	}
	b := w.server("b")
	b.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("crashed"), on("left")}})
	if n := w.count(`SELECT count(*) FROM node_status WHERE server_id = no_server()`); n != 3 {
		t.Errorf("%d rows of nodes that are nowhere, want 3", n)
	}
}

// A sweep waits for nobody: what a report holds is left to the next run.
func TestASweepPassesByWhatAReportHolds(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	a, b := w.server("a"), w.server("b")
	const nodes = 450 // some steps
	a.report(fleet.Status{Settled: 1, Nodes: all(nodes, on)})
	b.report(fleet.Status{Settled: 1, Nodes: all(nodes, on)})
	a.dead(2 * time.Minute)
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM nodes WHERE node_id IN ('n00007', 'n00300') FOR NO KEY UPDATE`)
	w.ok(err)
	w.sweep(1)
	w.ok(tx.Commit(t.Context()))
	if got := a.rows(); got != [2]int{2, 1} {
		t.Errorf("%d rows are left, %d of the lease", got[0], got[1])
	}
	w.sweep(1)
	if got := a.rows(); got != [2]int{} {
		t.Errorf("then %d rows are left, %d of the lease", got[0], got[1])
	}
}

// A server that comes back, and tells of its nodes, while a step of its sweep is under way keeps
// what it has told.
func TestASweepSparesAServerThatComesBackMeanwhile(t *testing.T) {
	for name, ago := range map[string]time.Duration{"minutes": 2 * time.Minute, "a day": 25 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.apply(put(fleet.Cluster, "c", "1"))
			a, b := w.server("a"), w.server("b")
			a.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
			b.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
			a.dead(ago)
			b.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{{Node: "n", Settled: settled(1)}}})
			other := w.db.Connect(t, w.db.Owner)
			defer other.Close(t.Context()) //nolint:errcheck // nothing is pending
			tx, err := other.Begin(t.Context())
			w.ok(err)
			_, err = tx.Exec(t.Context(), `LOCK TABLE nodes`)
			w.ok(err)
			done := make(chan error, 1)
			go func() {
				_, err := w.app.SweepServers(t.Context())
				done <- err
			}()
			until(t, "the sweep has found the server dead", func() bool { return w.waitingForLocks() == 1 })
			_, err = tx.Exec(t.Context(), `UPDATE xds_servers SET lease_until = clock_timestamp() + interval '1 minute' WHERE server_id = $1`, a.id.String())
			w.ok(err)
			_, err = tx.Exec(t.Context(), `UPDATE node_status SET since = clock_timestamp() WHERE server_id = $1`, a.id.String())
			w.ok(err)
			w.ok(tx.Commit(t.Context()))
			w.ok(<-done)
			if got := a.rows(); got != [2]int{1, 1} {
				t.Errorf("%d rows of the server are left, %d of its lease", got[0], got[1])
			}
			n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
			if w.ok(err); n.State != store.NodeLive {
				t.Errorf("the node is %s", n.State)
			}
			if d := cmp.Diff(map[string]string{"n": a.id.String()}, w.follows()); d != "" {
				t.Error(d)
			}
		})
	}
}

// A server whose rows cannot be deleted keeps none that died after it.
func TestASweepGoesOnAfterAServerThatFails(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	broken, other, living := w.server("broken"), w.server("other"), w.server("living")
	for _, s := range []server{broken, other, living} {
		s.report(fleet.Status{Settled: 1, Nodes: all(5, on)})
	}
	broken.dead(3 * time.Minute)
	other.dead(2 * time.Minute)
	w.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF OLD.server_id = '` + broken.id.String() + `' THEN RAISE EXCEPTION 'broken'; END IF; RETURN OLD; END $$`)
	w.exec(`CREATE TRIGGER refuse BEFORE DELETE ON xds_servers FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if n, err := w.app.SweepServers(t.Context()); n != 1 || err == nil {
		t.Errorf("%d servers are swept, and %v", n, err)
	}
	if got := other.rows(); got != [2]int{} {
		t.Errorf("%v rows are left of the server that died later", got)
	}
}
