package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// planCase is work whose cost may not depend on what the planner happens to know.
type planCase struct {
	// fill makes what the world's fleet has of size few into size many; first from 0. It is done
	// to another fleet of the tenant as well, of which no work may read a row.
	fill func(w *world, few, many int)
	// many is the size at which the work is judged.
	many int
	// node: the work is the node role's, else the application's.
	node bool
	// work is done once with few rows, and again with many.
	work func(w *world, p *planned)
	// most is how many rows the work may read with many rows there.
	most int
}

const fewRows = 10

func (c planCase) judge(t *testing.T) {
	t.Helper()
	for _, rs := range measure(t, c.fill, c.many, map[string]planCase{"": c}) {
		c.compare(t, rs)
	}
}

// judgeAll judges works that change nothing, by their names. They share the databases that are filled for them.
func judgeAll(t *testing.T, fill func(w *world, few, many int), many int, cases map[string]planCase) {
	t.Helper()
	all := measure(t, fill, many, cases)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) { cases[name].compare(t, all[name]) })
	}
}

// planResult is what some work read in one way to do it.
type planResult struct {
	name string
	reads
}

// measure does the works in databases whose statistics are absent, stale (taken at ten rows)
// and fresh, but for those of tables that have grown so much that a server has them analyzed; there in a session that plans for the values, in one that does not, and in one
// that made its plans when there were ten rows.
func measure(t *testing.T, fill func(w *world, few, many int), many int, cases map[string]planCase) map[string][]planResult {
	t.Helper()
	all := map[string][]planResult{}
	names := slices.Sorted(maps.Keys(cases))
	for _, statistics := range []string{"absent", "stale", "fresh"} {
		w := another(t)
		session := func(c planCase, mode string) *planned {
			url := w.db.App
			if c.node {
				url = w.db.Node
			}
			return w.planned(url, "plan_cache_mode", mode)
		}
		other := *w
		other.fleet = w.db.Fleet(t, w.tenant)
		fill(&other, 0, fewRows)
		fill(w, 0, fewRows)
		if statistics == "stale" {
			w.exec(`ANALYZE`)
		}
		early := map[string]*planned{}
		for _, name := range names {
			early[name] = session(cases[name], "force_generic_plan")
			cases[name].work(w, early[name])
		}
		fill(w, fewRows, many)
		fill(&other, fewRows, many)
		if statistics == "fresh" {
			w.exec(`ANALYZE`)
		}
		w.analyzed() // as an API server has it done within seconds, of what has grown to twice its size
		for _, name := range names {
			c := cases[name]
			for _, s := range []struct {
				name string
				p    *planned
			}{
				{"an early generic plan", early[name]},
				{"a generic plan", session(c, "force_generic_plan")},
				{"a custom plan", session(c, "force_custom_plan")},
			} {
				all[name] = append(all[name], planResult{fmt.Sprintf("%s, statistics %s", s.name, statistics), s.p.reads(func() { c.work(w, s.p) })})
				s.p.Close()
			}
		}
	}
	return all
}

// compare fails where the work read more rows than c.most in one way, or twice as many as in another.
func (c planCase) compare(t *testing.T, all []planResult) {
	t.Helper()
	least := all[0].rows
	for _, r := range all {
		least = min(least, r.rows)
	}
	for _, r := range all {
		t.Logf("%s: %d rows, %d blocks", r.name, r.rows, r.blocks)
		if r.rows > c.most || r.rows > 2*least {
			t.Errorf("%s: %d rows are read, where %d would do and at most %d may be:%s", r.name, r.rows, least, c.most, r.most(12))
		}
	}
}
