package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// then are the versions that the fleet had at a revision, read page by page.
func (w *world) then(at fleet.Revision, limit int) map[store.Cursor]string {
	w.Helper()
	out := map[store.Cursor]string{}
	q := store.Filter{Limit: limit}
	for {
		rs, next, err := w.app.ResourcesOf(w.Context(), w.tenant, w.fleet, at, q)
		w.ok(err)
		var bodies []*store.Before
		for _, r := range rs {
			if out[r.Cursor()] = r.Version; r.Type != fleet.Secret {
				bodies = append(bodies, r)
			}
		}
		w.ok(w.app.PlannedBodies(w.Context(), w.tenant, bodies))
		for _, r := range rs {
			one, err := w.app.ResourceOf(w.Context(), w.tenant, w.fleet, at, r.Cursor())
			w.ok(err)
			if one.Version != r.Version || string(one.Body) != string(r.Body) || r.UpdatedBy != actor.Name || r.CreatedAt.After(r.UpdatedAt) {
				w.Errorf("at %d alone it is %+v, in the list %+v", at, one, r)
			}
		}
		if next == nil {
			return out
		}
		q.After = *next
	}
}

// What the fleet was, what differs, and what became of each resource are told of every revision that is
// kept, whatever was put, deleted and put again, before and after tombstones and history are forgotten.
func TestThePastIsToldAsItWas(t *testing.T) {
	w := setup(t)
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test
	const revisions = 24
	was := []map[store.Cursor]string{{}}
	oldest := fleet.Revision(0)
	look := func() {
		w.Helper()
		for at := oldest; int(at) < len(was); at++ {
			if d := cmp.Diff(was[at], w.then(at, 1+rnd.IntN(4))); d != "" {
				t.Fatalf("at %d: %s", at, d)
			}
		}
		for range 30 {
			span := len(was) - int(oldest)
			from, to := oldest+fleet.Revision(rnd.IntN(span)), oldest+fleet.Revision(rnd.IntN(span)) //nolint:gosec // small
			if rnd.IntN(2) == 0 && int(from)+1 < len(was) {
				to = from + 1
			}
			if d := cmp.Diff(differ(was[from], was[to]), w.differences(from, to, 1+rnd.IntN(3))); d != "" {
				t.Fatalf("from %d to %d: %s", from, to, d)
			}
		}
	}
	for len(was) <= revisions {
		var cs []store.ResourceChange
		for _, i := range rnd.Perm(8)[:1+rnd.IntN(3)] {
			c := put([]fleet.Type{fleet.Cluster, fleet.Secret}[i%2], fmt.Sprint("r", i/2), fmt.Sprint(rnd.IntN(3)))
			if i > 5 {
				c.Variant, c.Selector = "v", "node.id=n"
				c = fill(c)
			}
			c.Delete = rnd.IntN(3) == 0
			cs = append(cs, c)
		}
		before := was[len(was)-1]
		if r := w.apply(cs...); int(r.Revision) < len(was) {
			continue
		}
		now := map[store.Cursor]string{}
		for k, r := range w.documents() {
			now[k] = r.Version
		}
		was = append(was, now)
		rev, err := w.app.Revision(t.Context(), w.tenant, w.fleet, fleet.Revision(len(was)-1))
		w.ok(err)
		created, deleted := 0, 0
		for _, d := range differ(before, now) {
			if d[0] == "" {
				created++
			} else if d[1] == "" {
				deleted++
			}
		}
		if rev.Created != created || rev.Deleted != deleted || rev.Changes < created+deleted {
			t.Errorf("revision %+v: %d were created, %d deleted", rev, created, deleted)
		}
	}
	look()
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 1000}))
	look()
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 1000, History: revisions / 2}))
	oldest = revisions / 2
	look()

	kept, err := w.app.Kept(t.Context(), w.tenant, w.fleet, time.Time{})
	w.ok(err)
	if kept.Oldest != oldest || kept.Newest != revisions {
		t.Errorf("kept are %+v", kept)
	}
	rs, _, err := w.app.ResourcesOf(t.Context(), w.tenant, w.fleet, oldest-1, store.Filter{})
	if w.ok(err); len(rs) > 0 {
		t.Errorf("what is forgotten is told: %+v", rs)
	}
	ds, _, err := w.app.Differences(t.Context(), w.tenant, w.fleet, oldest-1, oldest, store.DifferenceFilter{})
	if w.ok(err); len(ds) > 0 {
		t.Errorf("what is forgotten is compared: %+v", ds)
	}
}

// differ says of each key what it was and what it became; "" is nothing.
func differ(from, to map[store.Cursor]string) map[store.Cursor][2]string {
	out := map[store.Cursor][2]string{}
	for k, v := range from {
		if to[k] != v {
			out[k] = [2]string{v, to[k]}
		}
	}
	for k, v := range to {
		if from[k] == "" {
			out[k] = [2]string{"", v}
		}
	}
	return out
}

func (w *world) differences(from, to fleet.Revision, limit int) map[store.Cursor][2]string {
	w.Helper()
	out := map[store.Cursor][2]string{}
	q := store.DifferenceFilter{Limit: limit}
	for {
		ds, more, err := w.app.Differences(w.Context(), w.tenant, w.fleet, from, to, q)
		w.ok(err)
		for _, d := range ds {
			var v [2]string
			if d.Before != nil {
				v[0] = d.Before.Version
			}
			if d.After != nil {
				v[1] = d.After.Version
			}
			if _, twice := out[d.Key()]; twice {
				w.Errorf("%+v is told twice", d.Key())
			}
			out[d.Key()] = v
		}
		if !more {
			return out
		}
		q.After = ds[len(ds)-1].Key()
	}
}

func TestTheFleetAtATime(t *testing.T) {
	w := setup(t)
	first, second := w.apply(put(fleet.Cluster, "a", "1")), w.apply(put(fleet.Cluster, "a", "2"))
	for at, want := range map[time.Time]fleet.Revision{
		first.CommittedAt.Add(-time.Microsecond): 0, first.CommittedAt: 1, second.CommittedAt.Add(-time.Microsecond): 1,
		second.CommittedAt: 2, second.CommittedAt.Add(time.Hour): 2,
	} {
		k, err := w.app.Kept(t.Context(), w.tenant, w.fleet, at)
		if w.ok(err); k.At != want {
			t.Errorf("at %v the fleet was at %d, want %d", at, k.At, want)
		}
	}
}

func TestRevisionsByFilter(t *testing.T) {
	w := setup(t)
	write := func(name, kind string, cs ...store.ResourceChange) store.Result {
		a := actor
		a.Name = name
		r, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: a, Kind: kind, Changes: cs})
		w.ok(err)
		return r
	}
	variant := put(fleet.Cluster, "b", "eu")
	variant.Variant, variant.Selector = "eu", "node.id=n"
	write("ada", "put", put(fleet.Cluster, "a", "1"))
	write("bob", "apply", put(fleet.Cluster, "b", "1"), put(fleet.Listener, "l", "1"))
	third := write("ada", "apply", fill(variant))
	fourth := write("ada", "delete", del(fleet.Cluster, "a"))
	for what, c := range map[string]struct {
		q    store.RevisionFilter
		want []fleet.Revision
	}{
		"all":           {store.RevisionFilter{}, []fleet.Revision{4, 3, 2, 1}},
		"kind":          {store.RevisionFilter{Kind: "apply"}, []fleet.Revision{3, 2}},
		"actor":         {store.RevisionFilter{Actor: "ada"}, []fleet.Revision{4, 3, 1}},
		"both":          {store.RevisionFilter{Actor: "ada", Kind: "put"}, []fleet.Revision{1}},
		"none":          {store.RevisionFilter{Actor: "eve"}, nil},
		"type":          {store.RevisionFilter{Type: "listeners"}, []fleet.Revision{2}},
		"name":          {store.RevisionFilter{Type: "clusters", Name: "b"}, []fleet.Revision{2}},
		"variant":       {store.RevisionFilter{Type: "clusters", Name: "b", Variant: "eu"}, []fleet.Revision{3}},
		"name of actor": {store.RevisionFilter{Type: "clusters", Name: "a", Actor: "ada", Kind: "delete"}, []fleet.Revision{4}},
		"no such name":  {store.RevisionFilter{Type: "clusters", Name: "typo"}, nil},
		"since":         {store.RevisionFilter{Since: third.CommittedAt}, []fleet.Revision{4, 3}},
		"until":         {store.RevisionFilter{Until: third.CommittedAt}, []fleet.Revision{2, 1}},
		"between":       {store.RevisionFilter{Since: third.CommittedAt, Until: fourth.CommittedAt}, []fleet.Revision{3}},
		"too late":      {store.RevisionFilter{Since: fourth.CommittedAt.Add(time.Hour)}, nil},
		"name since":    {store.RevisionFilter{Type: "clusters", Name: "b", Variant: "eu", Since: third.CommittedAt}, []fleet.Revision{3}},
	} {
		var got []fleet.Revision
		c.q.Limit = 1
		for {
			rs, next, err := w.app.Revisions(t.Context(), w.tenant, w.fleet, c.q)
			w.ok(err)
			for _, r := range rs {
				got = append(got, r.Revision)
			}
			if next == 0 {
				break
			}
			c.q.Before = next
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

func TestTheHistoryOfOneResource(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	w.apply(put(fleet.Cluster, "b", "1"))
	w.apply(put(fleet.Cluster, "a", "2"))
	w.apply(del(fleet.Cluster, "a"))
	w.apply(put(fleet.Cluster, "a", "1"))
	a := store.Cursor{Type: fleet.Cluster, Name: "a"}
	words := func(cs []store.Change) (out []string) {
		for _, c := range cs {
			out = append(out, fmt.Sprintf("%d %t %t %s %s", c.Revision, c.Created, c.Deleted, c.Of.Kind, c.UpdatedBy))
		}
		return out
	}
	cs, more, err := w.app.Changes(t.Context(), w.tenant, w.fleet, a, 6, 2)
	w.ok(err)
	if d := cmp.Diff([]string{"5 true false apply ada", "4 false true apply ada"}, words(cs)); d != "" || !more {
		t.Error(d, more)
	}
	cs, more, err = w.app.Changes(t.Context(), w.tenant, w.fleet, a, 4, 2)
	w.ok(err)
	if d := cmp.Diff([]string{"3 false false apply ada", "1 true false apply ada"}, words(cs)); d != "" || more {
		t.Error(d, more)
	}
}

// old makes revisions few to many of one cluster, by two names and of two kinds; every tenth is of the kind that is rare.
func (w *world) old(few, many int) {
	w.Helper()
	w.clusters(few/10, many/10)
	w.exec(`SET session_replication_role = replica`)
	w.exec(`INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, changes, types)
		SELECT $1, $2, g, gen_random_uuid(), now() - interval '1 day' + interval '1 second' * g, 'apply', '', CASE WHEN g % 10 = 0 THEN 'rare' ELSE 'ada' END, 1, '{clusters}'
		  FROM generate_series(greatest($3, 1) + 1, $4::int) g`, w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`INSERT INTO resource_history (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, description, version, doc_hash, body_hash, derive_version)
		SELECT $1, $2, 'clusters', 'c1', '', g, false, '', 0, 0, '', 'v' || g, sha256(g::text::bytea), (SELECT body_hash FROM resources WHERE fleet_id = $2 AND name = 'c1'), 0
		  FROM generate_series(greatest($3, 1) + 1, $4::int) g`, w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`UPDATE resources SET revision = $2::bigint, doc_hash = sha256($2::bigint::text::bytea) WHERE fleet_id = $1 AND name = 'c1'`, w.fleet.String(), int64(many))
	w.exec(`UPDATE fleet_heads SET revision = $2 WHERE fleet_id = $1`, w.fleet.String(), int64(many))
	w.exec(`RESET session_replication_role`)
}

// A page of revisions reads what it looks at, wherever it begins.
func planOfAPageOfRevisions() planCase {
	return planCase{
		most: perAnswer * 50,
		work: func(w *world, p *planned) {
			for _, q := range []store.RevisionFilter{{Limit: 10}, {Limit: 10, Before: 12}, {Limit: 10, Type: "clusters", Name: "c1", Before: 12}} {
				rs, _, err := p.Revisions(w.Context(), w.tenant, w.fleet, q)
				if w.ok(err); len(rs) < 10 && q.Before == 0 {
					w.Errorf("%+v: %d", q, len(rs))
				}
			}
		},
	}
}

// With a filter that takes nothing it reads the 2,000 that it looks at.
func planOfAPageOfRevisionsByFilter() planCase {
	return planCase{
		most: 6 * 3 * 2000,
		work: func(w *world, p *planned) {
			for _, q := range []store.RevisionFilter{{Actor: "eve"}, {Kind: "put"}, {Type: "clusters", Name: "c1", Actor: "eve"}} {
				rs, next, err := p.Revisions(w.Context(), w.tenant, w.fleet, q)
				if w.ok(err); len(rs) > 0 || next == 0 && w.count(`SELECT count(*) FROM fleet_history WHERE fleet_id = $1`, w.fleet.String()) > 2000 {
					w.Errorf("%+v: %d, then %d", q, len(rs), next)
				}
			}
		},
	}
}

// What differs between neighbours costs what the one changed; a page of what the fleet was its names, however often they were written.
func planOfThePast() planCase {
	return planCase{
		most: 700,
		work: func(w *world, p *planned) {
			for _, at := range []fleet.Revision{5, 9} {
				ds, _, err := p.Differences(w.Context(), w.tenant, w.fleet, at-1, at, store.DifferenceFilter{})
				if w.ok(err); len(ds) != 1 || ds[0].Before == nil || ds[0].After == nil {
					w.Errorf("%+v", ds)
				}
				rs, _, err := p.ResourcesOf(w.Context(), w.tenant, w.fleet, at, store.Filter{Limit: 10})
				if w.ok(err); len(rs) == 0 {
					w.Error("nothing")
				}
				_, err = p.ResourceOf(w.Context(), w.tenant, w.fleet, at, store.Cursor{Type: fleet.Cluster, Name: "c1"})
				w.ok(err)
				cs, _, err := p.Changes(w.Context(), w.tenant, w.fleet, store.Cursor{Type: fleet.Cluster, Name: "c1"}, at+1, 10)
				if w.ok(err); len(cs) == 0 {
					w.Error("no change")
				}
				k, err := p.Kept(w.Context(), w.tenant, w.fleet, time.Now())
				if w.ok(err); k.At != k.Newest {
					w.Errorf("%+v", k)
				}
			}
		},
	}
}

// Revisions that are far apart cost the resources that were changed since, each once, and not their history.
func planOfAComparison() planCase {
	return planCase{
		most: 120,
		work: func(w *world, p *planned) {
			ds, _, err := p.Differences(w.Context(), w.tenant, w.fleet, 3, 9, store.DifferenceFilter{})
			if w.ok(err); len(ds) != 1 {
				w.Errorf("%+v", ds)
			}
		},
	}
}

// A page of the audit reads what it looks at, wherever it begins.
func TestPlansOfTheAudit(t *testing.T) {
	t.Parallel()
	planCase{
		many: 9000, most: 6 * 5200, // six times what a page with a filter looks at, and a page of ten
		fill: func(w *world, few, many int) {
			w.aged(`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object, fleet_id)
				SELECT $1, now() - interval '1 day' + interval '1 second' * g, 'bulk', '', '', 'test', g::text, $2 FROM generate_series($3 + 1, $4::int) g`,
				w.tenant.String(), w.fleet.String(), few, many)
		},
		work: func(w *world, p *planned) {
			es, next, err := p.Audit(w.Context(), w.tenant, store.AuditFilter{Limit: 10})
			if w.ok(err); len(es) != 10 || next == nil {
				w.Errorf("%d events, then %v", len(es), next)
			}
			es, _, err = p.Audit(w.Context(), w.tenant, store.AuditFilter{Actor: "nobody"})
			if w.ok(err); len(es) > 0 {
				w.Errorf("%d events of nobody", len(es))
			}
		},
	}.judge(t)
}
