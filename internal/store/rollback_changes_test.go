package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// lookAtRollback is what a rollback would do to each resource, in words.
func (w *world) lookAtRollback(to fleet.Revision) (at fleet.Revision, out map[store.Cursor]string) {
	w.Helper()
	seen, cs, err := w.app.RollbackChanges(w.Context(), w.tenant, w.fleet, to, nil)
	w.ok(err)
	bodies, err := w.app.RollbackBodies(w.Context(), w.tenant, cs)
	w.ok(err)
	out = map[store.Cursor]string{}
	for i, c := range cs {
		text := "put " + string(bodies[i])
		if c.Delete {
			text = "deleted"
		}
		if c.Type == fleet.Secret && !c.Delete {
			if bodies[i] != nil {
				w.Errorf("the sealed body of %q is read", c.Name)
			}
			text = "put secret " + string(c.Summary)
		}
		out[store.Cursor{Type: c.Type, Name: c.Name, Variant: c.Variant}] = text
	}
	return seen.Revision, out
}

// TestT43_ARollbackIsSeenBeforeItIsMade: what it would change is what it changes, whatever
// was put, deleted and put again, before and after the tombstones are forgotten.
func TestT43_ARollbackIsSeenBeforeItIsMade(t *testing.T) {
	w := setup(t)
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	const revisions = 25
	for len(w.documents()) == 0 || w.count(`SELECT revision::int FROM fleet_heads`) < revisions {
		var cs []store.ResourceChange
		for _, i := range rnd.Perm(8)[:1+rnd.IntN(3)] {
			c := put([]fleet.Type{fleet.Cluster, fleet.Secret}[i%2], fmt.Sprint("r", i/2), fmt.Sprint(rnd.IntN(3)))
			if i%2 == 1 {
				c.Summary = []byte(`{"a": "` + string(c.Body) + `"}`)
			}
			if i > 5 {
				c.Variant, c.Selector = "v", "node.id=n"
				c = fill(c)
			}
			c.Delete = rnd.IntN(3) == 0
			cs = append(cs, c)
		}
		w.apply(cs...)
	}
	compacted := false
	for range 12 {
		if !compacted && rnd.IntN(6) == 0 {
			compacted = true
			w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 1000, History: 3}))
		}
		to := fleet.Revision(3 + rnd.IntN(revisions-3)) //nolint:gosec // small
		before := w.documents()
		at, said := w.lookAtRollback(to)
		w.rollbackAt(to, at)
		if d := cmp.Diff(changesBetween(before, w.documents()), said); d != "" {
			t.Fatalf("to %d, compacted %t: what was changed, and what was said: %s", to, compacted, d)
		}
	}
	if !compacted {
		t.Error("the tombstones were never forgotten")
	}
	_, _, err := w.app.RollbackChanges(t.Context(), w.tenant, w.fleet, 1, nil)
	w.is(err, fleet.ErrNotFound)
	_, _, err = w.app.RollbackChanges(t.Context(), w.db.Tenant(t), w.fleet, 5, nil)
	w.is(err, fleet.ErrNotFound)
}

// rollbackAt rolls back if the fleet is at the revision.
func (w *world) rollbackAt(to, at fleet.Revision) {
	w.Helper()
	_, err := w.app.Rollback(w.Context(), w.tenant, w.fleet, to, store.Write{Expect: &at})
	w.ok(err)
}

func changesBetween(before, after map[store.Cursor]store.Resource) map[store.Cursor]string {
	out := map[store.Cursor]string{}
	for k, r := range after {
		if before[k].DocHash == r.DocHash {
			continue
		}
		if out[k] = "put " + string(r.Body); r.Type == fleet.Secret {
			out[k] = "put secret " + string(r.Summary)
		}
	}
	for k := range before {
		if _, there := after[k]; !there {
			out[k] = "deleted"
		}
	}
	return out
}

// TestT43_LookingAtARollbackCostsWhatItChanges: neither the fleet nor its history is read.
func TestT43_LookingAtARollbackCostsWhatItChanges(t *testing.T) {
	w := setup(t)
	const have = 2000
	for i := range 3 {
		var cs []store.ResourceChange
		for n := range have {
			cs = append(cs, put(fleet.Cluster, fmt.Sprint("c", n), fmt.Sprint(n, " ", i)))
		}
		w.apply(cs...)
	}
	to := w.apply(put(fleet.Cluster, "c1", "x")).Revision
	w.apply(put(fleet.Cluster, "c1", "y"), put(fleet.Cluster, "new", "z"))
	w.app.Close()
	w.node.Close()
	before := w.readOf("resources", "resource_history", "bodies")
	s, err := store.Open(t.Context(), store.Config{URL: w.db.App, MaxConns: 1, Patience: storetest.Patience})
	w.ok(err)
	for range 10 { // past the plans that know the parameters
		_, cs, err := s.RollbackChanges(t.Context(), w.tenant, w.fleet, to, nil)
		w.ok(err)
		if _, err := s.RollbackBodies(t.Context(), w.tenant, cs); err != nil || len(cs) != 2 {
			t.Fatalf("%+v, %v", cs, err)
		}
	}
	stored, err := s.Stored(t.Context(), w.tenant, w.fleet, []store.Cursor{{Type: fleet.Cluster, Name: "c1"}, {Type: fleet.Cluster, Name: "no"}})
	w.ok(err)
	if c1 := stored[store.Cursor{Type: fleet.Cluster, Name: "c1"}]; len(stored) != 1 || c1.Revision != to+1 || c1.DocHash != put(fleet.Cluster, "c1", "y").DocHash {
		t.Errorf("what is stored: %+v", stored)
	}
	s.Close()
	n := w.readOf("resources", "resource_history", "bodies") - before
	t.Logf("ten looks read %d rows", n)
	if n > 200 {
		t.Errorf("ten looks at a rollback of 2 resources read %d rows", n)
	}
}

// readOf is as read, of tables that are named.
func (w *world) readOf(tables ...string) int {
	w.Helper()
	until(w.T, "the sessions have ended", func() bool {
		return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0
	})
	w.exec(`SELECT pg_stat_force_next_flush()`) // of what w.super has read itself
	sum := 0
	for _, table := range tables {
		sum += w.count(`SELECT (seq_tup_read + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::int
			FROM pg_stat_user_tables t WHERE relname = '` + table + `'`)
	}
	return sum
}

// TestT43_ReplayWritesNothing: it finds the answer of the same request alone, and claims no
// key.
func TestT43_ReplayWritesNothing(t *testing.T) {
	w := setup(t)
	write := store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "1")}, Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}}
	_, err := w.app.Replay(t.Context(), w.tenant, w.fleet, write)
	w.is(err, fleet.ErrNotFound)
	if n := w.count(`SELECT count(*) FROM idempotency_keys`); n != 0 {
		t.Errorf("%d keys are claimed", n)
	}
	first, err := w.app.Apply(t.Context(), w.tenant, w.fleet, write)
	w.ok(err)
	w.apply(put(fleet.Cluster, "a", "2"))
	again, err := w.app.Replay(t.Context(), w.tenant, w.fleet, write)
	w.ok(err)
	if !again.Replayed || again.Revision != first.Revision || len(again.Resources) != 1 || again.Resources[0].ETag() != first.Resources[0].ETag() {
		t.Errorf("the answer is %+v, was %+v", again, first)
	}
	write.Idempotency = &store.Idempotency{Key: "k", RequestHash: [32]byte{2}}
	_, err = w.app.Replay(t.Context(), w.tenant, w.fleet, write)
	w.is(err, store.ErrKeyReused)
}
