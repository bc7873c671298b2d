package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// documents is all that a rollback restores, by type, name and variant.
func (w *world) documents() map[store.Cursor]store.Resource {
	w.Helper()
	rs, _, err := w.app.Resources(w.Context(), w.tenant, w.fleet, store.Filter{Limit: 1000})
	w.ok(err)
	docs := map[store.Cursor]store.Resource{}
	for _, r := range rs {
		docs[r.Cursor()] = r
	}
	return docs
}

// sameDocuments ignores what a new revision changes.
var sameDocuments = cmpopts.IgnoreFields(store.Resource{}, "Row.Revision", "CreatedAt", "CreatedBy", "UpdatedAt", "UpdatedBy")

func TestRollbackRestoresEverything(t *testing.T) {
	w := setup(t)
	a := put(fleet.Cluster, "a", "A")
	a.TTL, a.Labels, a.Description = 3*time.Second, map[string]string{"k": "v"}, "words"
	a.Derived, a.DeriveVersion = fleet.Derived{EDSName: "a", ByName: true, Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: "a"}}}, 1
	a = fill(a)
	eu := put(fleet.Cluster, "a", "EU")
	eu.Variant, eu.Selector, eu.Priority = "eu", "locality.region=eu", 5
	eu = fill(eu)
	secret := put(fleet.Secret, "s", "sealed")
	secret.Summary = []byte(`{"kind": "certificate"}`)
	w.apply(a, eu, secret, put(fleet.Route, "same", "R"))
	want := w.documents()

	b := put(fleet.Cluster, "a", "A2")
	w.apply(b, put(fleet.Listener, "new", "L"))
	w.apply(del(fleet.Secret, "s"), store.ResourceChange{Type: fleet.Cluster, Name: "a", Variant: "eu", Delete: true})
	held := w.load()
	r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor})
	w.ok(err)
	if r.Revision != 4 || r.Changed != 4 {
		t.Fatalf("the rollback is %+v", r)
	}
	if d := cmp.Diff(want, w.documents(), sameDocuments); d != "" {
		t.Error("not restored:", d)
	}
	cs := w.catchUp(at(held))
	names := map[string]bool{}
	for _, row := range cs[0].Rows {
		names[row.Name+row.Variant] = row.Deleted
	}
	if d := cmp.Diff(map[string]bool{"a": false, "aeu": false, "s": false, "new": true}, names); d != "" {
		t.Error("what readers hear:", d)
	}
	if n := w.count(`SELECT count(*) FROM resource_refs`); n != 1 {
		t.Errorf("%d references after the rollback", n)
	}
	h, err := w.app.Revision(t.Context(), w.tenant, w.fleet, 4)
	w.ok(err)
	if h.Kind != "rollback" || h.Message != "rollback to revision 1" {
		t.Errorf("the history says %+v", h)
	}
	if again, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor}); err != nil || again.Changed != 0 || again.Revision != 4 {
		t.Errorf("rolling back again: %+v, %v", again, err)
	}
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, 9, store.Write{})
	w.is(err, fleet.ErrNotFound)
	expect := fleet.Revision(3)
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, 2, store.Write{Expect: &expect})
	w.is(err, fleet.ErrPrecondition)
	// A rollback of the rollback.
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, 3, store.Write{})
	w.ok(err)
	if docs := w.documents(); len(docs) != 3 {
		t.Errorf("revision 3 had 3 resources, now %d", len(docs))
	}
}

func TestRollbackIsIdempotent(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	w.apply(put(fleet.Cluster, "a", "2"))
	write := store.Write{Actor: actor, Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}}
	for range 2 {
		if r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, write); err != nil || r.Revision != 3 || r.Changed != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		w.apply(put(fleet.Cluster, "b", "later"))
	}
}

func TestCompact(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	for i := range 10 { // revisions 1 to 10: "a" is written ten times, "old" once, "gone" comes and goes
		cs := []store.ResourceChange{put(fleet.Cluster, "a", fmt.Sprint(i))}
		switch i {
		case 0:
			cs = append(cs, put(fleet.Cluster, "old", "O"), put(fleet.Cluster, "gone", "G"))
		case 3:
			cs = append(cs, del(fleet.Cluster, "gone"))
		}
		w.apply(cs...)
	}
	positions := map[int]fleet.Known{}
	rows, err := w.super.Query(ctx, `SELECT revision, token, (SELECT epoch FROM fleet_heads) FROM fleet_history`)
	w.ok(err)
	for rows.Next() {
		p := fleet.Position{}
		w.ok(rows.Scan((*int64)(&p.Revision), (*[16]byte)(&p.Token), &p.Epoch))
		positions[int(p.Revision)] = fleet.Known{Key: w.key(), At: p}
	}
	w.ok(rows.Err())
	restored := func(n fleet.Revision) []string {
		t.Helper()
		if _, err := w.app.Rollback(ctx, w.tenant, w.fleet, n, store.Write{}); err != nil {
			t.Fatalf("roll back to %d: %v", n, err)
		}
		var docs []string
		for _, r := range w.documents() {
			docs = append(docs, r.Name+"="+string(r.Body))
		}
		slices.Sort(docs)
		return docs
	}

	w.ok(w.app.Compact(ctx, w.tenant, w.fleet, store.Floors{Tombstones: 5, History: 3}))
	if c := w.catchUp(positions[4])[0]; !c.Reload {
		t.Error("a reader below the floor of tombstones was not told to reload")
	}
	if c := w.catchUp(positions[5])[0]; c.Reload || len(c.Rows) != 1 {
		t.Errorf("a reader at the floor: %+v", c)
	}
	if n := w.count(`SELECT count(*) FROM resources WHERE deleted`); n != 0 {
		t.Errorf("%d tombstones stayed", n)
	}
	if n := w.count(`SELECT count(*) FROM bodies WHERE body IN ('0', '1')`); n != 0 {
		t.Errorf("%d bodies stayed that nothing names", n)
	}
	if n := w.count(`SELECT revision FROM fleet_heads`); n != 10 {
		t.Errorf("compaction moved the revision to %d", n)
	}
	_, err = w.app.Rollback(ctx, w.tenant, w.fleet, 2, store.Write{})
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.Revision(ctx, w.tenant, w.fleet, 2)
	w.is(err, fleet.ErrNotFound)
	if d := cmp.Diff([]string{"a=2", "gone=G", "old=O"}, restored(3)); d != "" {
		t.Error("the state at the floor of history:", d)
	}
	if d := cmp.Diff([]string{"a=7", "old=O"}, restored(8)); d != "" {
		t.Error("a state above the floor:", d)
	}

	// Floors never go down, and may lie above the head.
	w.ok(w.app.Compact(ctx, w.tenant, w.fleet, store.Floors{Tombstones: 2, History: 2}))
	if n := w.count(`SELECT compacted FROM fleet_heads`); n != 5 {
		t.Errorf("the floor is %d", n)
	}
	w.ok(w.app.Compact(ctx, w.tenant, w.fleet, store.Floors{Tombstones: 1000, History: 1000}))
	if n := w.count(`SELECT count(*) FROM resource_history`); n != 2 {
		t.Errorf("of two live resources %d rows of history stay", n)
	}
	if n := w.count(`SELECT count(*) FROM bodies`); n != 2 {
		t.Errorf("of two live resources %d bodies stay", n)
	}
	if c := w.load(); len(c.Rows) != 2 {
		t.Errorf("a load after it gives %d rows", len(c.Rows))
	}
}

// A body that two fleets of a tenant share stays while either names it.
func TestCompactKeepsSharedBodies(t *testing.T) {
	w := setup(t)
	second := w.db.Fleet(t, w.tenant)
	w.apply(put(fleet.Cluster, "a", "shared"))
	_, err := w.app.Apply(t.Context(), w.tenant, second, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "b", "shared")}})
	w.ok(err)
	if n := w.count(`SELECT count(*) FROM bodies`); n != 1 {
		t.Fatalf("one content is kept %d times", n)
	}
	w.apply(del(fleet.Cluster, "a"))
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 2, History: 2}))
	if n := w.count(`SELECT count(*) FROM bodies`); n != 1 {
		t.Error("the body went away that the other fleet names")
	}
}

// Bodies are collected while writers of several fleets bring the same ones back.
func TestCollectBesideWriters(t *testing.T) {
	w := setup(t)
	fleets := []fleet.ID{w.fleet, w.db.Fleet(t, w.tenant)}
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for i := range 4 {
		writing.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				var cs []store.ResourceChange
				for j := range 5 {
					cs = append(cs, put(fleet.Cluster, fmt.Sprint("c", j), fmt.Sprint((n+j)%7)))
				}
				if _, err := w.app.Apply(t.Context(), w.tenant, fleets[i%2], store.Write{Changes: cs}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 40 {
		for _, f := range fleets {
			if err := w.app.Compact(t.Context(), w.tenant, f, store.Floors{Tombstones: 1 << 40, History: 1 << 40}); err != nil {
				t.Error(err)
			}
		}
	}
	cancel()
	writing.Wait()
	if n := w.count(`SELECT count(*) FROM resources r WHERE NOT EXISTS (SELECT FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash)`); n != 0 {
		t.Errorf("%d resources without a body", n)
	}
}
