package store_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// batch is one apply of a first import: clusters from on, each of which names its secret.
func batch(from, n int) (cs []store.ResourceChange) {
	for i := range n {
		c := put(fleet.Cluster, fmt.Sprintf("c%06d", from+i), fmt.Sprint(from+i, filler))
		c.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Secret, Name: c.Name}}}
		cs = append(cs, fill(c))
	}
	return cs
}

// A first import in batches reads as much for its last batch as for its first, on the first day,
// when nobody has analyzed anything; and so does a large batch for each of its changes.
func TestAnImportIsLinear(t *testing.T) {
	w := setup(t)
	app := w.planned(w.db.App)
	put := func(from, n int) reads {
		return app.reads(func() {
			_, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: batch(from, n)})
			w.ok(err)
		})
	}
	first := put(0, 40)
	var last reads
	for i := 1; i < 10; i++ {
		last = put(40*i, 40)
	}
	large := put(400, 200)
	t.Logf("the first forty read %d rows, the tenth %d, two hundred at once %d", first.rows, last.rows, large.rows)
	if last.rows > 3*first.rows/2 {
		t.Errorf("the first forty read %d rows, the tenth %d:%s", first.rows, last.rows, last.most(12))
	}
	if large.rows > 5*3*first.rows/2 {
		t.Errorf("forty read %d rows, two hundred %d:%s", first.rows, large.rows, large.most(12))
	}
}

// The first import of a large fleet, in a database that nobody has analyzed: the tests' Postgres
// has no autovacuum.
func TestSoakAFirstImport(t *testing.T) {
	sizes := []int{2_000}
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		sizes = []int{20_000, 100_000}
	}
	for _, size := range sizes {
		w := another(t)
		if on := w.count(`SELECT count(*) FROM pg_settings WHERE name = 'autovacuum' AND setting = 'on'`); on > 0 {
			t.Fatal("autovacuum is on")
		}
		for _, name := range []string{"resources", "fleet_bytes", "history_bytes"} {
			w.exec(`INSERT INTO tenant_limits VALUES ($1, $2, 1e12)`, w.tenant.String(), name)
		}
		step := size / 20
		if size > 1000 {
			step = min(step*10, 1000)
		}
		var took []time.Duration
		var all time.Duration
		for i := 0; i < size; i += step {
			cs := batch(i, step)
			begun := time.Now()
			w.apply(cs...)
			took = append(took, time.Since(begun))
			all += took[len(took)-1]
		}
		first, last := took[0], took[len(took)-1]
		t.Logf("%d resources in applies of %d: %v, the first %v, the last %v", size, step, all.Round(time.Millisecond), first.Round(time.Millisecond), last.Round(time.Millisecond))
		if size >= 20_000 && last > 2*first {
			t.Errorf("%d resources: the first apply takes %v, the last %v", size, first, last)
		}
		if size == 20_000 && all > 8*time.Second {
			t.Errorf("20,000 resources take %v", all)
		}
		const changes = 100
		app := w.planned(w.db.App)
		got := app.reads(func() {
			_, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: batch(size, changes)})
			w.ok(err)
		})
		if got.rows > 60*changes {
			t.Errorf("after %d resources an apply of %d reads %d rows:%s", size, changes, got.rows, got.most(12))
		}
	}
}

// BenchmarkImport is the last thousand of a first import of twenty thousand, without statistics.
func BenchmarkImport(b *testing.B) {
	_, s, k := benchWorld(b, 0)
	from := 0
	for b.Loop() {
		b.StopTimer()
		if from%20_000 == 0 {
			_, s, k = benchWorld(b, 0)
			from = 0
		}
		cs := batch(from, 1000)
		from += 1000
		b.StartTimer()
		if _, err := s.Apply(b.Context(), k.Tenant, k.Fleet, store.Write{Changes: cs}); err != nil {
			b.Fatal(err)
		}
	}
}
