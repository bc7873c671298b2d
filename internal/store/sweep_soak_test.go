package store_test

import (
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// statusRead is how many rows of nodes and of what servers say of them, and of their
// indexes, a session of the API reads for some work.
func (w *world) statusRead(work func(*store.Store)) int {
	w.Helper()
	w.app.Close()
	w.node.Close()
	total := func() int {
		until(w.T, "the sessions have ended", func() bool {
			return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0
		})
		w.exec(`SELECT pg_stat_force_next_flush()`)
		return w.count(`SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::int
			FROM pg_stat_user_tables t WHERE relname IN ('nodes', 'node_status', 'server_settled', 'xds_servers')`)
	}
	before := total()
	s := w.db.Open(w.T, store.Config{URL: w.db.App, MaxConns: 1})
	work(s)
	s.Close()
	read := total() - before
	w.app, w.node = w.db.Store(w.T), w.db.NodeStore(w.T)
	return read
}

// After many restarts of the servers, every other one a crash, a receipt and a page of nodes
// read what they read after one: rows judge, times are told. The full size is 10,000 nodes
// and 100 restarts.
func TestSoakRestartsCostNothingLater(t *testing.T) {
	w := setup(t)
	nodes, starts := 150, 12
	if soakTime(t) >= 30*time.Second {
		nodes, starts = 10_000, 100
	}
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("first")
	s.tell(all(nodes, on))
	w.exec(`UPDATE nodes SET first_seen = now() - interval '1 hour'`)
	restart := func(crash bool) {
		s = s.restart(nodes, crash)
		w.exec(`UPDATE xds_servers SET lease_until = least(lease_until, now() - interval '2 minutes') WHERE server_id <> $1`, s.id.String())
		w.sweep(1)
	}
	measure := func(when string) (receipt, list int) {
		w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
		w.exec(`VACUUM nodes, node_status, server_settled, xds_servers`) // dead rows that are not pruned yet are read too, by chance
		var took [2][]time.Duration
		timed := func(at int, f func()) {
			begun := time.Now()
			f()
			took[at] = append(took[at], time.Since(begun))
		}
		receipt = w.statusRead(func(s *store.Store) {
			for range 7 { // past the plans that know the parameters
				timed(0, func() {
					r, err := s.Receipt(t.Context(), w.tenant, w.fleet, 1)
					w.ok(err)
					if r.Counts != (fleet.Counts{Acked: nodes}) {
						t.Fatalf("%s: %+v", when, r.Counts)
					}
				})
			}
		})
		list = w.statusRead(func(s *store.Store) {
			for range 7 {
				timed(1, func() {
					ns, _, err := s.Nodes(t.Context(), w.tenant, w.fleet, "", 100)
					w.ok(err)
					if len(ns) != 100 || ns[7].State != store.NodeLive || ns[7].Connections != 1 {
						t.Fatalf("%s: %d nodes, %+v", when, len(ns), ns[7])
					}
				})
			}
		})
		for i := range took {
			slices.Sort(took[i])
		}
		t.Logf("%s of %d nodes: a receipt reads %d rows in %v, a page of nodes %d in %v; %d rows of status", when, nodes, receipt/7,
			took[0][3].Round(100*time.Microsecond), list/7, took[1][3].Round(100*time.Microsecond), w.count(`SELECT count(*) FROM node_status`))
		return receipt, list
	}
	restart(true)
	receipt, list := measure("after one restart")
	for i := range starts - 1 {
		restart(i%2 == 0)
	}
	if n := w.count(`SELECT count(*) FROM node_status`); n != nodes {
		t.Errorf("%d rows of %d nodes", n, nodes)
	}
	if r, l := measure("after many"); r*10 > receipt*11 || l*10 > list*11 {
		t.Errorf("a receipt reads %d rows, a page %d; after one restart it was %d and %d", r/7, l/7, receipt/7, list/7)
	}
}
