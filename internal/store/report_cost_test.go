package store_test

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// What a report of nodes, refusals and their ends costs follows its rows, not the fleet, in a database that
// has never been analyzed too.
func TestCostOfAReportFollowsItsRows(t *testing.T) {
	t.Parallel()
	small, large := reportCost(t, 300), reportCost(t, 6000)
	t.Logf("reports of 350 nodes and refusals read %d rows of a fleet of 300, %d of one of 6,000", small, large)
	if large > small+small/4 {
		t.Errorf("a report reads %d rows of a small fleet and %d of a large one", small, large)
	}
}

// reportCost is how many rows 7 reports of 50 nodes read in a fleet of so many.
func reportCost(t *testing.T, have int) int {
	t.Helper()
	w := alone(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.app.Close()
	w.node.Close()
	const rows = 50
	id := fleet.NewServerID()
	var term fleet.Term
	report := func(s *store.Store, from int) {
		t.Helper()
		r := fleet.Status{Key: w.key(), Server: id, Term: term, Settled: 1}
		for i := range rows {
			n := on(fmt.Sprint("n", from+i))
			r.Nodes, r.Lasting = append(r.Nodes, n), append(r.Lasting, n.Node)
			r.Refusals = append(r.Refusals, fleet.Refusal{Node: n.Node, Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: "no", At: time.Now()})
			r.Resolved = append(r.Resolved, fleet.Refusal{Node: n.Node, Type: fleet.Cluster, Name: "c", Version: "v", By: 1})
		}
		w.ok(s.Report(t.Context(), r))
	}
	read := func() int {
		w.read() // waits until all sessions have handed in their numbers
		return w.count(`SELECT sum(seq_tup_read + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::int FROM pg_stat_user_tables t`)
	}
	session := func(work func(*store.Store)) int {
		t.Helper()
		before := read()
		s, err := store.Open(t.Context(), store.Config{URL: w.db.Node, MaxConns: 1, Patience: storetest.Patience})
		w.ok(err)
		work(s)
		s.Close()
		return read() - before
	}
	session(func(s *store.Store) {
		var err error
		term, err = s.Lease(t.Context(), id, "s", time.Minute)
		w.ok(err)
		for i := range 7 { // plans are made while the tables are small
			report(s, i)
		}
		w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT $1, $2, 'n' || g FROM generate_series(1000, 999 + $3) g`, w.tenant.String(), w.fleet.String(), have)
		w.exec(`INSERT INTO node_status (tenant_id, fleet_id, node_id, server_id, connected, since) SELECT $1, $2, 'n' || g, $4, true, now() FROM generate_series(1000, 999 + $3) g`,
			w.tenant.String(), w.fleet.String(), have, id.String())
		w.exec(`INSERT INTO refusals (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash) SELECT $1, $2, 'n' || g, 'clusters', 'c', 'v', 1, (SELECT hash FROM nack_texts)
			FROM generate_series(1000, 999 + $3) g`, w.tenant.String(), w.fleet.String(), have)
	})
	return session(func(s *store.Store) {
		for i := range 7 { // past the plans that know the parameters
			report(s, 2000+i*rows)
		}
	})
}

// Nodes that come by the thousand to a database that is new cost what each report says of them: the plans are made while
// there is nothing, and nobody analyzes.
func TestPlansOfReportsToANewDatabase(t *testing.T) {
	t.Parallel()
	w := another(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	p := w.planned(w.db.Node)
	const nodes, perNode = 100, 40
	for i := range 10 {
		r := fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Settled: 1}
		for k := range nodes {
			r.Nodes = append(r.Nodes, fleet.NodeStatus{Node: fmt.Sprint("n", i*nodes+k), Connected: true, Settled: settled(fleet.Revision(k % 2))})
		}
		if got := p.reads(func() { w.ok(p.Report(t.Context(), r)) }); got.rows > perNode*nodes {
			t.Fatalf("report %d of %d nodes reads %d rows:%s", i, nodes, got.rows, got.most(12))
		}
	}
}
