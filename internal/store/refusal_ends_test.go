package store_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// endRefusals writes down what has ended.
func (w *world) endRefusals() {
	w.Helper()
	w.ok(w.app.EndRefusals(w.Context()))
	if n := w.count(`SELECT count(*) FROM refusal_ends`); n != 0 {
		w.Errorf("%d ends are left", n)
	}
}

// refusedBy writes a good and a bad version of the cluster, and n nodes of the server that
// refuse the bad one. It returns the revision of the bad one.
func (s server) refusedBy(name string, n int) fleet.Revision {
	s.Helper()
	good, bad := put(fleet.Cluster, name, "good"), put(fleet.Cluster, name, "bad")
	s.apply(good)
	s.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT $1, $2, 'n' || lpad(i::text, 6, '0') FROM generate_series(0, $3::integer - 1) i`, s.tenant.String(), s.fleet.String(), n)
	rev := s.apply(bad).Revision
	const each = 500
	for at := 0; at < n; at += each {
		var rs []fleet.Refusal
		var ns []fleet.NodeStatus
		for i := at; i < min(n, at+each); i++ {
			node := fmt.Sprintf("n%06d", i)
			ns = append(ns, on(node))
			rs = append(rs, fleet.Refusal{Node: node, Type: fleet.Cluster, Name: name, Version: bad.Version, Revision: rev,
				Detail: "no such filter", Action: fleet.ActionKept, Good: good.Version, At: time.Now()})
		}
		s.report(fleet.Status{Settled: rev, Nodes: ns, Refusals: rs})
	}
	return rev
}

// seen is what anybody is told of a node and its refusals, but for events.
type seen struct {
	State, Receipt         string
	ResolvedBy             fleet.Revision
	StillRefusing          []fleet.Ref
	ResolvedAt             time.Time
	Config                 string
	Open, Ended            int
	Frozen                 []fleet.Type
	ListState, Refused     string
	ReceiptOfLater, Retry  string
	RefusingOfLater, Later []fleet.Ref
}

func (w *world) see(node string, rev, later fleet.Revision) (s seen) {
	w.Helper()
	n, err := w.app.Node(w.Context(), w.tenant, w.fleet, node)
	w.ok(err)
	s.State, s.Frozen, s.ResolvedAt, s.ResolvedBy = n.State, n.Frozen, n.Refusals[0].Ended, n.Refusals[0].By
	ns, _, err := w.app.Nodes(w.Context(), w.tenant, w.fleet, "", 0)
	w.ok(err)
	s.ListState, s.Refused = ns[0].State, fmt.Sprint(len(ns[0].Refusals))
	for _, r := range w.receipt(rev).Nodes {
		if r.ID == node {
			s.Receipt, s.StillRefusing = fmt.Sprint(r.State, " resolved by ", r.ResolvedBy), r.Refusing
		}
	}
	for _, r := range w.receipt(later).Nodes {
		if r.ID == node {
			s.ReceiptOfLater, s.RefusingOfLater, s.Later = r.State, r.Refusing, r.StillRefusing
		}
	}
	for _, r := range w.config(node, store.ConfigFilter{}).Resources {
		s.Config += fmt.Sprint(r.Name, r.Refusal != nil, " ")
	}
	past := w.past(node, fleet.ServerID{})
	s.Open, s.Ended = len(past.Refusals), len(past.Ended)
	return s
}

// What a write ends has ended with its commit, whoever looks; what is written down later
// changes nothing of it but that the events come.
func TestMendedIsMendedAtTheCommit(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	rev := s.refusedBy("c", 3)
	s.report(fleet.Status{Settled: rev, Refusals: []fleet.Refusal{{Node: "n000001", Type: fleet.Cluster, Name: "d", Version: "v", Revision: rev, Detail: "no", Action: fleet.ActionFrozen}}})
	before := w.see("n000000", rev, rev)
	if before.State != store.NodeRefusing || before.Receipt != "nacked resolved by 0" || len(before.StillRefusing) != 1 || before.Open != 1 {
		t.Fatalf("before: %+v", before)
	}
	fixed := w.apply(put(fleet.Cluster, "c", "fixed"))
	at := w.see("n000000", rev, fixed.Revision)
	if at.ResolvedAt.IsZero() || at.ResolvedAt.After(fixed.CommittedAt) || at.ResolvedAt.Before(fixed.CommittedAt.Add(-time.Minute)) {
		t.Errorf("the end is at %v, the commit was at %v", at.ResolvedAt, fixed.CommittedAt)
	}
	want := seen{State: store.NodeLive, ListState: store.NodeLive, Receipt: fmt.Sprint("nacked resolved by ", fixed.Revision), ResolvedBy: fixed.Revision,
		ResolvedAt: at.ResolvedAt, Config: "cfalse ", Ended: 1, Refused: "0", ReceiptOfLater: fleet.NodePending}
	if d := cmp.Diff(want, at); d != "" {
		t.Error("at the commit:", d)
	}
	if other := w.see("n000001", rev, fixed.Revision); other.State != store.NodeRefusing || len(other.Frozen) != 1 || other.Open != 1 {
		t.Errorf("who refuses another resource: %+v", other)
	}
	_, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "n000000")
	w.is(err, store.ErrNothingRefused)
	if n := w.count(`SELECT count(*) FROM node_events WHERE kind = 'recovered'`); n != 0 {
		t.Errorf("%d events come with the commit", n)
	}
	select {
	case <-w.app.RefusalsEnding():
	default:
		t.Error("nobody is told that there is something to write down")
	}
	w.endRefusals()
	if d := cmp.Diff(want, w.see("n000000", rev, fixed.Revision)); d != "" {
		t.Error("after it is written down:", d)
	}
	if got := w.events("n000000"); got[0] != fmt.Sprint("recovered n000000 c ", fixed.Revision) {
		t.Errorf("%q", got)
	}
	if n := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`); n != 1 {
		t.Errorf("%d refusals stand", n)
	}
	w.apply(put(fleet.Cluster, "c", "again"))
	select {
	case <-w.app.RefusalsEnding():
		t.Error("a write that ends no refusal makes work")
	default:
	}
}

// A version that comes back before its end was written down, and is refused anew, stands.
func TestAVersionThatComesBackIsNotMended(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	first := s.refusedBy("c", 1)
	by := w.apply(put(fleet.Cluster, "c", "fixed")).Revision
	again := w.apply(put(fleet.Cluster, "c", "bad")).Revision
	s.report(fleet.Status{Settled: again, Refusals: []fleet.Refusal{{Node: "n000000", Type: fleet.Cluster, Name: "c", Version: put(fleet.Cluster, "c", "bad").Version, Revision: again, Detail: "no"}}})
	for range 2 {
		n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n000000")
		w.ok(err)
		got := map[fleet.Revision]fleet.Revision{}
		for _, r := range n.Refusals {
			got[r.Revision] = r.By
		}
		if d := cmp.Diff(map[fleet.Revision]fleet.Revision{first: by, again: 0}, got); d != "" || n.State != store.NodeRefusing {
			t.Error(n.State, d)
		}
		w.endRefusals()
	}
	w.apply(put(fleet.Cluster, "c", "fixed again"))
	w.endRefusals()
	if n := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`); n != 0 {
		t.Errorf("%d refusals stand", n)
	}
}

// An end costs what it changes, not how many nodes refuse it, and what is left is written down in
// batches, by several processes at once, of which one dies.
func TestAMendCostsNothingForEachNode(t *testing.T) {
	w := setup(t)
	w.endMany(2000, 60)
}

// 100,000 nodes refuse a cluster; FAIRLEAD_SOAK is at least a second.
func TestSoakMendWhatManyNodesRefuse(t *testing.T) {
	w := setup(t)
	n := 300
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		n = 100_000
	}
	begun := w.endMany(n, 60)
	t.Logf("ending what %d nodes refuse: the write took %v", n, begun)
}

func (w *world) endMany(n, most int) (took time.Duration) {
	w.Helper()
	s := w.server("s")
	s.refusedBy("c", n)
	w.app.Close()
	w.node.Close()
	tables := []string{"refusals", "nodes", "node_status", "node_events", "refusal_ends"}
	before := w.readOf(tables...)
	app, err := store.Open(w.Context(), store.Config{URL: w.db.App, MaxConns: 1, Patience: storetest.Patience})
	w.ok(err)
	begun := time.Now()
	r, err := app.Apply(w.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", "fixed")}})
	w.ok(err)
	took = time.Since(begun)
	app.Close()
	if got := w.readOf(tables...) - before; got > most {
		w.Errorf("a write that ends what %d nodes refuse reads %d of their rows", n, got)
	}
	before = w.readOf("refusals", "refusal_ends")
	two := []*store.Store{w.db.Store(w.T), w.db.Store(w.T)}
	ctx, die := context.WithCancel(w.Context())
	var wg sync.WaitGroup
	for i, app := range two {
		wg.Go(func() {
			if i == 0 {
				_ = app.EndRefusals(ctx)
			} else if err := app.EndRefusals(w.Context()); err != nil {
				w.Error(err)
			}
		})
	}
	until(w.T, "the first batch", func() bool { return w.count(`SELECT count(*) FROM node_events WHERE kind = 'recovered'`) > 0 })
	die()
	wg.Wait()
	until(w.T, "the database lets go of what the one that died held", func() bool { // who looks for work until then reads what it may not have
		return w.count(`SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'refusals' AND l.mode = 'RowExclusiveLock'`) == 0
	})
	until(w.T, "what the one that died held is written down", func() bool {
		w.ok(two[1].EndRefusals(w.Context()))
		return w.count(`SELECT count(*) FROM refusal_ends`) == 0
	})
	if open, told := w.count(`SELECT count(*) FROM refusals WHERE resolved_by IS DISTINCT FROM $1`, int64(r.Revision)), w.count(`SELECT count(*) FROM node_events WHERE kind = 'recovered'`); open != 0 || told != n {
		w.Errorf("%d of %d refusals stand, %d ends are told", open, n, told)
	}
	for _, app := range two {
		app.Close()
	}
	got := w.readOf("refusals", "refusal_ends") - before
	w.Logf("to write down %d ends %d rows are read", n, got)
	if got > 16*n { // two are at it at once
		w.Errorf("to write down %d ends %d rows are read", n, got)
	}
	return took
}

// refusedEverywhere has each fleet of the tenant have so many refusals of a version that was fixed.
func (w *world) refusedEverywhere(each int) {
	w.Helper()
	for _, sql := range []string{
		`INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT f.tenant_id, f.id, 'n' || lpad(g::text, 6, '0') FROM fleets f, generate_series(1, $1) g`,
		`INSERT INTO nack_texts (tenant_id, fleet_id, hash, text) SELECT f.tenant_id, f.id, sha256(''), '' FROM fleets f WHERE $1 > 0`,
		`INSERT INTO refusals (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash)
		 SELECT n.tenant_id, n.fleet_id, n.node_id, 'clusters', 'c', 'v', 1, sha256('') FROM nodes n WHERE $1 > 0`,
		`INSERT INTO refusal_ends (tenant_id, fleet_id, type, name, version, revision, at) SELECT f.tenant_id, f.id, 'clusters', 'c', 'v', 2, now() FROM fleets f WHERE $1 > 0`,
	} {
		w.exec(sql, each)
	}
}

// A step reads what it ends, not what the steps before it have ended, of which the index has
// entries until it is vacuumed.
func TestAStepOfAMendReadsWhatItEnds(t *testing.T) {
	w := setup(t)
	const each, steps = 50, 60
	w.refusedEverywhere(each * steps)
	w.app.Close()
	w.node.Close()
	before := w.readOf("refusals")
	conn := w.db.Connect(t, w.db.App)
	tx, err := conn.Begin(t.Context()) // one for all: what is not committed cannot be cleaned up on the way
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
	w.ok(err)
	var at []string
	for range steps - 1 {
		var done *bool
		w.ok(tx.QueryRow(t.Context(), `SELECT o_done, o_at FROM fleet_end_refusals($1, $2, $3)`, w.fleet.String(), at, each).Scan(&done, &at))
	}
	w.ok(tx.Commit(t.Context()))
	w.ok(conn.Close(t.Context()))
	got := w.readOf("refusals") - before
	t.Logf("to write down %d ends in %d steps %d rows are read", each*steps, steps, got)
	if got > 2*each*steps {
		t.Errorf("to write down %d ends in %d steps %d rows are read", each*steps, steps, got)
	}
	w.app = w.db.Store(t)
	w.endRefusals()
	if n := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`); n != 0 {
		t.Errorf("%d refusals stand", n)
	}
}

// Fleets of which reports hold all that is to be written down do not stand in the way of another
// one, however many they are; nor do those that have very much of it.
func TestMendingIsFair(t *testing.T) {
	w := setup(t)
	w.limit(store.LimitFleets, 200)
	for range 100 {
		w.db.Fleet(t, w.tenant)
	}
	w.refusedEverywhere(1)
	var last string
	w.ok(w.super.QueryRow(t.Context(), `SELECT max(fleet_id::text) FROM refusal_ends`).Scan(&last))
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM refusals WHERE fleet_id <> $1 FOR UPDATE`, last)
	w.ok(err)
	w.ok(w.app.EndRefusals(t.Context()))
	w.ok(tx.Rollback(t.Context()))
	if n := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NOT NULL`); n != 1 {
		t.Errorf("%d refusals are ended, one could be", n)
	}
	w.endRefusals()
	if n := w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`); n != 0 {
		t.Errorf("%d refusals stand", n)
	}
}
