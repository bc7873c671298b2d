package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// waitsCounted counts what the database tells of sessions that wait for a lock.
type waitsCounted struct{ n *atomic.Int64 }

func (waitsCounted) Enabled(context.Context, slog.Level) bool { return true }
func (h waitsCounted) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h waitsCounted) WithGroup(string) slog.Handler          { return h }

func (h waitsCounted) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "severity" && a.Value.String() == "LOG" { // of what is logged so log_lock_waits alone is on
			h.n.Add(1)
		}
		return true
	})
	return nil
}

// patient opens a store that counts each time one of its statements has waited 50 ms for a
// lock, by the database's own clock.
func (w *world) patient() (s *store.Store, waits *atomic.Int64) {
	w.Helper()
	w.exec(`DO $$ DECLARE s text; BEGIN
		FOREACH s IN ARRAY ARRAY['log_lock_waits = on', 'deadlock_timeout = ''50ms''', 'client_min_messages = log'] LOOP
		  EXECUTE format('ALTER DATABASE %I SET ', current_database()) || s;
		END LOOP; END $$`)
	waits = new(atomic.Int64)
	return w.db.Open(w.T, store.Config{URL: w.db.App, MaxConns: 2, Logger: slog.New(waitsCounted{waits})}), waits
}

// Revisions of many rows each are forgotten, each in one step, beside a writer that brings back resources
// and bytes which are forgotten at this moment: it never waits 50 ms for that. Who holds the lock may
// itself wait for a processor, so the soak alone, which has the machine, judges the time; what a step
// locks is judged in every run (TestAStepOfCompactionLocksFewRows).
func TestSoakCompactionOfLargeRevisions(t *testing.T) {
	w := setup(t)
	n := soakSize(500, 10_000)
	for round := range 4 {
		var cs []store.ResourceChange
		for i := range n {
			cs = append(cs, put(fleet.Cluster, fmt.Sprint("c", i), fmt.Sprint(round, i)))
			if round == 3 {
				cs[i] = del(fleet.Cluster, cs[i].Name)
			}
		}
		w.apply(cs...)
	}
	last := w.apply(put(fleet.Cluster, "x", "1")).Revision
	app, waits := w.patient()
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan error, 1)
	wg.Go(func() {
		done <- w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: last, History: last})
	})
	writes, busy := 0, true
	for ; busy; writes++ {
		i := writes * 17 % n
		w.applyBy(app, put(fleet.Cluster, fmt.Sprint("c", i), fmt.Sprint(writes%3, i)))
		select {
		case err := <-done:
			w.ok(err)
			busy = false
		default:
		}
	}
	t.Logf("%d revisions of %d rows are forgotten beside %d writes", last-1, n, writes)
	if soakSize(0, 1) == 1 && waits.Load() > 0 {
		t.Errorf("%d of %d writes waited 50 ms for a lock", waits.Load(), writes)
	}
	if left := w.count(`SELECT count(*) FROM resource_history WHERE revision < $1`, int64(last)); left != 0 {
		t.Errorf("%d rows are left", left)
	}
	// The instrument itself.
	release := w.headLocked()
	defer release()
	wg.Go(func() {
		if _, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "x", "2")}}); err != nil {
			t.Error(err)
		}
	})
	until(t, "the database tells of who waits", func() bool {
		return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '60 ms'`) > 0
	})
	release()
	wg.Wait()
	if waits.Load() == 0 {
		t.Error("the database told of nobody who waits")
	}
}

// A step locks no more rows that a writer may ask for than it was told: of resources and of bodies
// some at a time, of the history, which no writer locks, a revision at least.
func TestAStepOfCompactionLocksFewRows(t *testing.T) {
	w := setup(t)
	const resources, step = 70, 20
	for _, body := range []string{"1", "2", ""} {
		var cs []store.ResourceChange
		for i := range resources {
			c := put(fleet.Cluster, fmt.Sprint("c", i), fmt.Sprint(body, i))
			if body == "" {
				c = del(c.Type, c.Name)
			}
			cs = append(cs, c)
		}
		w.apply(cs...)
	}
	last := int64(w.apply(put(fleet.Cluster, "x", "1")).Revision)
	conn := w.db.Connect(t, w.db.App)
	defer conn.Close(t.Context()) //nolint:errcheck // nothing is pending
	steps := 0
	run := func(to any, sql string, args ...any) {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		w.ok(err)
		_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, w.tenant.String())
		w.ok(err)
		var xid int64
		w.ok(tx.QueryRow(t.Context(), sql, args...).Scan(to))
		w.ok(tx.QueryRow(t.Context(), `SELECT pg_current_xact_id()::text::bigint % (1::bigint << 32)`).Scan(&xid))
		for _, table := range []string{"resources", "bodies", "fleet_heads"} {
			// Of what is deleted and not committed the rows are seen, with who does it.
			if n := w.count(`SELECT count(*) FROM `+table+` WHERE xmax::text::bigint = $1`, xid); n > step {
				t.Errorf("step %d locks %d rows of %s", steps, n, table)
			}
		}
		w.ok(tx.Commit(t.Context()))
		steps++
	}
	for done := false; !done; {
		run(&done, `SELECT fleet_compact($1, $2, $2, NULL, $3)`, w.fleet.String(), last, step)
	}
	for at := []byte{}; at != nil; {
		run(&at, `SELECT bodies_collect($1, $2)`, at, step)
	}
	if n := w.count(`SELECT count(*) FROM bodies`); n > 1 || steps < 8 {
		t.Errorf("%d bodies are left after %d steps", n, steps)
	}
}
