package store_test

import (
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// analyzed is what AnalyzeGrown says, which nothing is left of then.
func (w *world) analyzed() []string {
	w.Helper()
	tables, err := w.app.AnalyzeGrown(w.Context())
	w.ok(err)
	again, err := w.app.AnalyzeGrown(w.Context())
	if w.ok(err); len(again) > 0 {
		w.Errorf("%v are analyzed again", again)
	}
	return tables
}

// statistics is how many columns of a table the planner knows something of.
func (w *world) statistics(table string) int {
	w.Helper()
	return w.count(`SELECT count(*) FROM pg_statistic WHERE starelid = $1::text::regclass`, table)
}

// After a first import the planner knows what it came to, though nobody else analyzes; and it learns of it again each time that the tables have doubled.
func TestAFirstImportIsAnalyzed(t *testing.T) {
	w := another(t)
	grown := []string{"bodies", "resource_history", "resource_refs", "resources"}
	w.apply(batch(0, 10)...)
	if got := w.analyzed(); len(got) > 0 {
		t.Errorf("of ten resources %v are analyzed", got)
	}
	select {
	case <-w.app.Grown():
		t.Error("ten resources are said to be many")
	default:
	}
	w.apply(batch(10, 990)...)
	select {
	case <-w.app.Grown():
	default:
		t.Error("a write of 990 resources asks for no analysis")
	}
	if got := w.analyzed(); !slices.Equal(got, grown) {
		t.Errorf("after the import %v are analyzed", got)
	}
	for _, table := range grown {
		if n := w.statistics(table); n == 0 {
			t.Errorf("nothing is known of %s", table)
		}
	}
	if rows := w.count(`SELECT reltuples::int FROM pg_class WHERE oid = 'resources'::regclass`); rows != 1000 {
		t.Errorf("resources is said to have %d rows", rows)
	}
	w.apply(batch(1000, 500)...)
	if got := w.analyzed(); len(got) > 0 {
		t.Errorf("after half as many again %v are analyzed", got)
	}
	w.apply(batch(1500, 1000)...)
	if got := w.analyzed(); !slices.Equal(got, grown) {
		t.Errorf("of what has more than doubled %v are analyzed", got)
	}
}

// What is not committed is analyzed by nobody: the planner would believe in pages without rows, and a large write would read all rows for each of its own. Where
// autovacuum has done so all the same, it is analyzed again.
func TestALargeWriteIsNotAnalyzedHalfway(t *testing.T) {
	for _, who := range []string{"nobody else", "autovacuum"} {
		w := another(t)
		tx, err := w.super.Begin(t.Context())
		w.ok(err)
		w.clusters(0, 2000)
		if got := w.analyzed(); len(got) > 0 {
			t.Errorf("while it is written %v are analyzed", got)
		}
		if who == "autovacuum" {
			auto := w.db.Connect(t, w.db.Owner)
			_, err := auto.Exec(t.Context(), `ANALYZE`)
			w.ok(err)
			w.ok(auto.Close(t.Context()))
		}
		w.ok(tx.Commit(t.Context()))
		w.exec(`SELECT pg_stat_force_next_flush()`) // which a server does within a second
		if got, want := w.analyzed(), []string{"bodies", "resource_history", "resource_refs", "resources"}; !slices.Equal(got, want) {
			t.Errorf("beside %s %v are analyzed when it is committed, want %v", who, got, want)
		}
		if rows := w.count(`SELECT reltuples::int FROM pg_class WHERE oid = 'resources'::regclass`); rows != 2000 {
			t.Errorf("beside %s resources is said to have %d rows", who, rows)
		}
		app := w.planned(w.db.App)
		const changes = 100
		got := app.reads(func() {
			_, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: batch(2000, changes)})
			w.ok(err)
		})
		if got.rows > 60*changes {
			t.Errorf("beside %s an apply of %d reads %d rows:%s", who, changes, got.rows, got.most(12))
		}
	}
}

// A session reports the rows that it wrote some seconds later. What was analyzed meanwhile has them counted twice then, and has not grown.
func TestRowsReportedLateAreNotGrowth(t *testing.T) {
	w := another(t)
	w.exec(`SELECT pg_stat_force_next_flush()`) // a session reports at most once a second, so the next statement's rows wait
	w.clusters(0, 1000)
	if got, want := w.analyzed(), []string{"bodies", "resource_history", "resource_refs", "resources"}; !slices.Equal(got, want) {
		t.Errorf("after the import %v are analyzed, want %v", got, want)
	}
	w.clusters(1000, 1010)
	w.exec(`SELECT pg_stat_force_next_flush()`)
	if got := w.analyzed(); len(got) > 0 {
		t.Errorf("after ten rows more %v are analyzed", got)
	}
}

// A table that is being vacuumed or analyzed is left to who does it, or to the next time: nobody waits.
func TestAnAnalysisWaitsForNobody(t *testing.T) {
	w := another(t)
	w.apply(batch(0, 1000)...)
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE resources IN SHARE UPDATE EXCLUSIVE MODE`)
	w.ok(err)
	_, err = w.app.AnalyzeGrown(t.Context())
	w.ok(err)
	w.ok(tx.Rollback(t.Context()))
	if w.statistics("resources") > 0 || w.statistics("bodies") == 0 {
		t.Errorf("statistics of %d columns of the table that is locked, of %d of another", w.statistics("resources"), w.statistics("bodies"))
	}
	if got := w.analyzed(); !slices.Equal(got, []string{"resources"}) {
		t.Errorf("then %v are analyzed", got)
	}
}

// Restarts write rows anew by the hundred, and make tables grow by what is dead in them. What is analyzed for it grows with the logarithm.
func TestAHundredRestartsAreAnalyzedSomeTimes(t *testing.T) {
	w := another(t)
	const nodes, starts = 100, 100
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("first")
	s.tell(all(nodes, on))
	times := map[string]int{}
	for i := range starts {
		s = s.restart(nodes, i%2 == 0)
		w.exec(`UPDATE xds_servers SET lease_until = least(lease_until, now() - interval '2 minutes') WHERE server_id <> $1`, s.id.String())
		w.sweep(1)
		for _, table := range w.analyzed() {
			times[table]++
		}
	}
	t.Log(times)
	if n := w.statistics("node_status"); n == 0 || times["node_status"] == 0 {
		t.Errorf("of %d columns of node_status something is known, %v", n, times)
	}
	for table, n := range times {
		// A table of 256 pages has doubled five times since it had eight. What connections count comes up to a second late: a table whose rows are written anew
		// may seem to have doubled meanwhile, and is analyzed once more.
		if n > starts/5 {
			t.Errorf("%s is analyzed %d times, of %d starts", table, n, starts)
		}
	}
}
