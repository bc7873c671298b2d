package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// history makes n revisions of the fleet out of nothing, each of which wrote "a"; backdate
// moves those up to rev into the past.
func (w *world) history(n int) {
	w.Helper()
	for i := range 3 {
		w.apply(put(fleet.Cluster, "a", fmt.Sprint(i)))
	}
	w.exec(`INSERT INTO fleet_history SELECT tenant_id, fleet_id, g, gen_random_uuid(), at, kind, '', actor, credential, 1
	          FROM fleet_history, generate_series(4, $1::bigint) g WHERE revision = 3`, n)
	w.exec(`INSERT INTO resource_history SELECT tenant_id, fleet_id, type, name, variant, g, deleted, selector, priority, ttl_ms, labels,
	          description, version, doc_hash, body_hash, derived, derive_version, summary
	          FROM resource_history, generate_series(4, $1::bigint) g WHERE revision = 3`, n)
	w.exec(`UPDATE fleet_heads SET revision = $1`, n)
}

func (w *world) backdate(rev int, age string) {
	w.Helper()
	w.exec(`UPDATE fleet_history SET at = clock_timestamp() - $2::interval WHERE revision <= $1`, rev, age)
}

func (w *world) compactDue() store.Compaction {
	w.Helper()
	c, err := w.app.CompactDue(w.Context())
	w.ok(err)
	return c
}

func TestCompactDueKeepsHistory(t *testing.T) {
	for name, c := range map[string]struct {
		revisions, old int // those up to old are 91 days old, the others 89
		floor          int
	}{
		"few and old":                  {revisions: 900, old: 900, floor: 1},
		"a thousand and old":           {revisions: 1000, old: 1000, floor: 1},
		"many and young":               {revisions: 1500, old: 0, floor: 1},
		"many and old":                 {revisions: 1500, old: 1500, floor: 501},
		"more than a thousand young":   {revisions: 1500, old: 100, floor: 101},
		"fewer than a thousand young":  {revisions: 1500, old: 1400, floor: 501},
		"a thousand young to a number": {revisions: 1500, old: 500, floor: 501},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.history(c.revisions)
			w.backdate(c.revisions, "89 days")
			w.backdate(c.old, "91 days")
			forgot := 0
			if c.floor > 1 {
				forgot = 1
			}
			if got := w.compactDue(); got != (store.Compaction{Tenants: 1, Fleets: 1, Forgot: forgot}) {
				t.Errorf("%+v", got)
			}
			if n := w.count(`SELECT min(revision) FROM fleet_history`); n != c.floor {
				t.Errorf("the lowest revision is %d, want %d", n, c.floor)
			}
			if n := w.count(`SELECT min(revision) FROM resource_history`); n != c.floor {
				t.Errorf("the lowest revision of a resource is %d, want %d", n, c.floor)
			}
			if got := w.compactDue(); got.Forgot != 0 {
				t.Errorf("a second run: %+v", got)
			}
		})
	}
}

func TestCompactDueKeepsTombstonesForSevenDays(t *testing.T) {
	w := setup(t)
	for _, name := range []string{"old", "young"} {
		w.apply(put(fleet.Cluster, name, name))
	}
	w.apply(del(fleet.Cluster, "old"))
	w.apply(del(fleet.Cluster, "young"))
	w.backdate(3, "6 days")
	tombstones := func() string {
		var s string
		w.ok(w.super.QueryRow(t.Context(), `SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM resources WHERE deleted`).Scan(&s))
		return s
	}
	if got := w.compactDue(); got.Forgot != 0 || tombstones() != "old young" {
		t.Errorf("%+v, left: %s", got, tombstones())
	}
	w.backdate(3, "8 days")
	if got := w.compactDue(); got.Forgot != 1 || tombstones() != "young" {
		t.Errorf("%+v, left: %s", got, tombstones())
	}
	if n := w.count(`SELECT compacted FROM fleet_heads`); n != 3 {
		t.Errorf("readers below %d reload", n)
	}
	w.backdate(4, "8 days")
	if got := w.compactDue(); got.Forgot != 1 || tombstones() != "" {
		t.Errorf("%+v, left: %s", got, tombstones())
	}
	if n := w.count(`SELECT count(*) FROM fleet_history`); n != 4 {
		t.Errorf("%d revisions are left", n)
	}
}

// The floors are found by halving, so revisions are in the order of their times, also when the
// clock goes back.
func TestRevisionsAreInTheOrderOfTheirTimes(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	w.exec(`UPDATE fleet_heads SET changed_at = changed_at + interval '1 hour'`)
	ahead := w.count(`SELECT extract(epoch FROM changed_at)::bigint FROM fleet_heads`)
	r := w.apply(put(fleet.Cluster, "a", "2"))
	if n := w.count(`SELECT extract(epoch FROM at)::bigint FROM fleet_history WHERE revision = 2`); n != ahead || int(r.CommittedAt.Round(time.Second).Unix()) < ahead-1 {
		t.Errorf("revision 2 is of %d, the one before of %d", n, ahead)
	}
}

func TestCompactDueOfAllTenantsTwiceAtOnce(t *testing.T) {
	w := setup(t)
	tenants, fleets := 1, 1
	prepare := func(tenant fleet.TenantID, f fleet.ID) {
		for _, c := range []store.ResourceChange{put(fleet.Cluster, "a", "A"), del(fleet.Cluster, "a")} {
			_, err := w.app.Apply(t.Context(), tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{c}})
			w.ok(err)
		}
	}
	prepare(w.tenant, w.fleet)
	for range 3 {
		tenant := w.db.Tenant(t)
		tenants++
		for range 2 {
			prepare(tenant, w.db.Fleet(t, tenant))
			fleets++
		}
	}
	w.exec(`UPDATE fleet_history SET at = at - interval '8 days'`)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if c, err := w.app.CompactDue(t.Context()); err != nil || c.Tenants != tenants || c.Fleets != fleets || c.Failed != 0 {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
	both.Wait()
	if n := w.count(`SELECT count(*) FROM resources`); n != 0 {
		t.Errorf("%d tombstones are left", n)
	}
	// What was deleted meanwhile is passed by; a database that cannot be reached ends the run.
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	if c := w.compactDue(); c.Fleets != fleets-1 {
		t.Errorf("%+v", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.app.CompactDue(ctx)
	w.is(err, fleet.ErrUnavailable)
}

func TestCompactDueGoesOnAfterAFleetThatFails(t *testing.T) {
	w := setup(t)
	second := w.db.Fleet(t, w.tenant)
	for _, f := range []fleet.ID{w.fleet, second} {
		for _, c := range []store.ResourceChange{put(fleet.Cluster, "a", "A"), del(fleet.Cluster, "a")} {
			_, err := w.app.Apply(t.Context(), w.tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{c}})
			w.ok(err)
		}
	}
	w.exec(`UPDATE fleet_history SET at = at - interval '8 days'`)
	w.exec(`ALTER TABLE fleet_heads ADD CONSTRAINT broken CHECK (compacted = 0 OR fleet_id <> '` + w.fleet.String() + `')`)
	c, err := w.app.CompactDue(t.Context())
	if c.Failed != 1 || c.Fleets != 1 || c.Forgot != 1 {
		t.Errorf("%+v", c)
	}
	w.is(err, fleet.ErrInvalid)
}
