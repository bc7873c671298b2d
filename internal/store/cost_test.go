package store_test

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// read is how many rows of resources and bodies, and of their indexes, were looked at since
// the database was made. Sessions hand in their numbers when they end, and w.super when it is told to.
func (w *world) read() int {
	w.Helper()
	until(w.T, "the sessions have ended", func() bool {
		return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0
	})
	w.exec(`SELECT pg_stat_force_next_flush()`) // of what w.super has read itself
	return w.count(`SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::int
		FROM pg_stat_user_tables t WHERE relname IN ('resources', 'bodies')`)
}

// The cost of a write and of a catch-up follows the change, not the fleet, in a database
// that has never been analyzed too, where the planner knows nothing (migrations, resources).
func TestCostFollowsTheChange(t *testing.T) {
	w := setup(t)
	w.app.Close()
	w.node.Close()
	const have = 3000
	session := func(c store.Config, work func(*store.Store)) int {
		t.Helper()
		before := w.read()
		s, err := store.Open(t.Context(), c)
		w.ok(err)
		work(s)
		s.Close()
		return w.read() - before
	}
	app, node := store.Config{URL: w.db.App, MaxConns: 1, Patience: storetest.Patience}, store.Config{URL: w.db.Node, MaxConns: 1, Patience: storetest.Patience}
	write := func(s *store.Store, body string, n int) {
		t.Helper()
		var cs []store.ResourceChange
		for i := range n {
			c := put(fleet.Cluster, fmt.Sprint("c", i), body)
			c.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: c.Name}}}
			cs = append(cs, c)
		}
		_, err := s.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: cs})
		w.ok(err)
	}
	bounded := func(what string, n, limit int) {
		t.Helper()
		t.Logf("%s reads %d rows", what, n)
		if n > limit {
			t.Errorf("%s reads %d rows, at most %d would be right", what, n, limit)
		}
	}
	bounded("the first large write", session(app, func(s *store.Store) {
		for i := range 7 { // plans are made while the table is empty
			write(s, fmt.Sprint("small", i), 1)
		}
		write(s, "large", have)
	}), 10*have)
	w.exec(`INSERT INTO bodies SELECT $1, sha256(g::text::bytea), '' FROM generate_series(1, 20000) g`, w.tenant.String()) // of other fleets
	var held fleet.Known
	bounded("a load", session(node, func(s *store.Store) {
		cs, err := s.CatchUp(t.Context(), []fleet.Known{{Key: w.key()}})
		w.ok(err)
		held = at(cs[0])
	}), 3*have)
	bounded("a small write", session(app, func(s *store.Store) { write(s, "small again", 2) }), 100) // with dead rows that another test's snapshot keeps from being pruned
	bounded("a small catch-up", session(node, func(s *store.Store) {
		for range 10 { // past the plans that know the parameters
			cs, err := s.CatchUp(t.Context(), []fleet.Known{held})
			w.ok(err)
			if len(cs[0].Rows) != 2 {
				t.Fatalf("%d rows", len(cs[0].Rows))
			}
		}
	}), 100)
	w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id) VALUES ($1, $2, 'n')`, w.tenant.String(), w.fleet.String())
	bounded("a page of what a node holds", session(app, func(s *store.Store) {
		for range 10 {
			c, err := s.NodeConfig(t.Context(), w.tenant, w.fleet, "n", store.ConfigFilter{Limit: 20, After: store.Cursor{Type: fleet.Cluster, Name: "c2"}})
			w.ok(err)
			if len(c.Resources) != 20 || !c.More {
				t.Fatalf("%d resources, more %v", len(c.Resources), c.More)
			}
		}
	}), 10*30)
}
