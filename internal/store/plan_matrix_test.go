package store_test

import (
	"fmt"
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

// judge does the work in databases whose statistics are absent, stale (taken at ten rows)
// and fresh; there in a session that plans for the values, in one that does not, and in one
// that made its plans when there were ten rows. None may read more rows than c.most, or
// twice as many as another.
func (c planCase) judge(t *testing.T) {
	t.Helper()
	type result struct {
		name string
		reads
	}
	var all []result
	for _, statistics := range []string{"absent", "stale", "fresh"} {
		w := another(t)
		url := w.db.App
		if c.node {
			url = w.db.Node
		}
		other := *w
		other.fleet = w.db.Fleet(t, w.tenant)
		c.fill(&other, 0, fewRows)
		c.fill(w, 0, fewRows)
		if statistics == "stale" {
			w.exec(`ANALYZE`)
		}
		early := w.planned(url, "plan_cache_mode", "force_generic_plan")
		c.work(w, early)
		c.fill(w, fewRows, c.many)
		c.fill(&other, fewRows, c.many)
		if statistics == "fresh" {
			w.exec(`ANALYZE`)
		}
		for _, s := range []struct {
			name string
			p    *planned
		}{
			{"an early generic plan", early},
			{"a generic plan", w.planned(url, "plan_cache_mode", "force_generic_plan")},
			{"a custom plan", w.planned(url, "plan_cache_mode", "force_custom_plan")},
		} {
			all = append(all, result{fmt.Sprintf("%s, statistics %s", s.name, statistics), s.p.reads(func() { c.work(w, s.p) })})
		}
	}
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
