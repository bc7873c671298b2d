package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func TestApplyMakesOneRevision(t *testing.T) {
	w := setup(t)
	a, b := put(fleet.Cluster, "a", "A"), put(fleet.Endpoint, "a", "E")
	a.TTL, a.Labels, a.Description = 1500*time.Millisecond, map[string]string{"team": "shop"}, "the a"
	a.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: "a"}}, EDSName: "a", VHDS: true, Domains: []string{"x", "y"}}
	a = fill(a)
	r := w.apply(a, b)
	if r.Revision != 1 || r.Changed != 2 || r.CommittedAt.IsZero() || len(r.Resources) != 2 {
		t.Fatalf("the first write gave %+v", r)
	}
	got, err := w.app.Resource(t.Context(), w.tenant, w.fleet, fleet.Cluster, "a", "")
	w.ok(err)
	if d := cmp.Diff(r.Resources[0], got); d != "" {
		t.Error("what Apply answered is not what is stored:", d)
	}
	if got.TTL != a.TTL || got.Labels["team"] != "shop" || string(got.Body) != "A" || got.CreatedBy != "ada" || !cmp.Equal(got.Derived, a.Derived) {
		t.Errorf("stored is %+v", got)
	}
	if n := w.count(`SELECT count(*) FROM resource_refs WHERE ref_type = 'endpoints' AND ref_name = 'a'`); n != 1 {
		t.Errorf("%d references", n)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'resources.apply' AND new_revision = 1 AND actor = 'ada' AND ip = '127.0.0.1'`); n != 1 {
		t.Errorf("%d audit events", n)
	}
	h, err := w.app.Revision(t.Context(), w.tenant, w.fleet, 1)
	w.ok(err)
	if h.Changes != 2 || h.Actor != "ada" || h.Kind != "apply" || !h.At.Equal(r.CommittedAt) {
		t.Errorf("the history says %+v", h)
	}
}

func TestApplyEffects(t *testing.T) {
	w := setup(t)
	labelled := put(fleet.Cluster, "a", "A")
	labelled.Labels = map[string]string{"x": "y"}
	labelled = fill(labelled)
	slow := labelled
	slow.TTL = time.Second
	slow = fill(slow)
	for _, step := range []struct {
		name     string
		changes  []store.ResourceChange
		revision fleet.Revision
		changed  int
	}{
		{"create", []store.ResourceChange{put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B")}, 1, 2},
		{"the same", []store.ResourceChange{put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B")}, 1, 0},
		{"one of two", []store.ResourceChange{put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B2")}, 2, 1},
		{"a label alone", []store.ResourceChange{labelled}, 3, 1},
		{"a TTL alone", []store.ResourceChange{slow}, 4, 1},
		{"delete what is not there", []store.ResourceChange{del(fleet.Cluster, "zz")}, 4, 0},
		{"delete", []store.ResourceChange{del(fleet.Cluster, "a")}, 5, 1},
		{"delete again", []store.ResourceChange{del(fleet.Cluster, "a")}, 5, 0},
		{"create again what was deleted", []store.ResourceChange{slow}, 6, 1},
		{"nothing", nil, 6, 0},
		{"an empty message", []store.ResourceChange{put(fleet.Runtime, "empty", "")}, 7, 1},
	} {
		r := w.apply(step.changes...)
		if r.Revision != step.revision || r.Changed != step.changed {
			t.Fatalf("%s: revision %d with %d changes, want %d with %d", step.name, r.Revision, r.Changed, step.revision, step.changed)
		}
	}
	rs, more, err := w.app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{})
	w.ok(err)
	if len(rs) != 3 || more {
		t.Fatalf("there are %d resources", len(rs))
	}
	if n := w.count(`SELECT count(*) FROM fleet_history`); n != 7 {
		t.Errorf("%d history rows for 7 revisions", n)
	}
}

func TestPreconditions(t *testing.T) {
	w := setup(t)
	tag := w.apply(put(fleet.Cluster, "a", "A")).Resources[0].ETag()
	match := func(c store.ResourceChange, tag string) store.ResourceChange { c.IfMatch = tag; return c }
	none := func(c store.ResourceChange) store.ResourceChange { c.IfNoneMatch = true; return c }
	for name, c := range map[string]store.ResourceChange{
		"stale tag":            match(put(fleet.Cluster, "a", "A2"), `"1-00000000"`),
		"tag of an absent one": match(put(fleet.Cluster, "b", "B"), tag),
		"must exist":           match(put(fleet.Cluster, "b", "B"), "*"),
		"must not exist":       none(put(fleet.Cluster, "a", "A2")),
		"delete with a stale":  match(del(fleet.Cluster, "a"), `"9-00000000"`),
		"even if nothing new":  match(put(fleet.Cluster, "a", "A"), `"9-00000000"`),
	} {
		r, err := w.try(put(fleet.Cluster, "other", name), c)
		var stale *store.StaleError
		if !errors.Is(err, fleet.ErrPrecondition) || !errors.As(err, &stale) || stale.Changed[0].Index != 1 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if c.Name == "a" && stale.Changed[0].ETag != tag || c.Name == "b" && stale.Changed[0].ETag != "" {
			t.Errorf("%s: the present tag is said to be %q", name, stale.Changed[0].ETag)
		}
	}
	zero, one := fleet.Revision(0), fleet.Revision(1)
	_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Expect: &zero, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A3")}})
	w.is(err, fleet.ErrPrecondition)
	r, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Expect: &one, Changes: []store.ResourceChange{match(put(fleet.Cluster, "a", "A3"), tag)}})
	w.ok(err)
	if r.Revision != 2 || w.count(`SELECT count(*) FROM resources`) != 1 {
		t.Errorf("after refused writes: %+v", r)
	}
	// A -> B -> A never has the same tag.
	if again := w.apply(put(fleet.Cluster, "a", "A")).Resources[0].ETag(); again == tag {
		t.Errorf("the tag %s came back", tag)
	}
}

func TestApplyRefuses(t *testing.T) {
	w := setup(t)
	long := make([]byte, store.MaxName+1)
	for name, cs := range map[string][]store.ResourceChange{
		"the same twice": {put(fleet.Cluster, "a", "A"), del(fleet.Cluster, "a")},
		"no name":        {put(fleet.Cluster, "", "A")},
		"a long name":    {put(fleet.Cluster, string(long), "A")},
		"broken UTF-8":   {put(fleet.Cluster, "a\xff", "A")},
		"NUL":            {put(fleet.Cluster, "a\x00", "A")},
		"unknown type":   {{Type: fleet.NumTypes, Name: "a"}},
		"TTL below zero": {{Type: fleet.Cluster, Name: "a", TTL: -1}},
	} {
		if _, err := w.try(cs...); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := w.app.Apply(t.Context(), w.tenant, fleet.NewID(), store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A")}})
	w.is(err, fleet.ErrNotFound)
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	_, err = w.try(put(fleet.Cluster, "a", "A"))
	w.is(err, fleet.ErrNotFound)
	if n := w.count(`SELECT count(*) FROM resources`); n != 0 {
		t.Errorf("%d resources were written", n)
	}
}

// A Secret's body hash leaves out the TTL, but its sealed bytes open for one version alone.
func TestSecretBodiesFollowTheVersion(t *testing.T) {
	w := setup(t)
	c := put(fleet.Secret, "s", "sealed for version 1")
	w.apply(c)
	c.Version, c.TTL, c.Body, c.DocHash = "version 2", time.Second, []byte("sealed for version 2"), [32]byte{2}
	w.apply(c) // the same BodyHash
	got, err := w.app.Resource(t.Context(), w.tenant, w.fleet, fleet.Secret, "s", "")
	w.ok(err)
	if string(got.Body) != "sealed for version 2" {
		t.Errorf("version 2 comes with %q", got.Body)
	}
}

func TestIdempotency(t *testing.T) {
	w := setup(t)
	write := func(key string, hash byte, cs ...store.ResourceChange) (store.Result, error) {
		return w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: cs,
			Idempotency: &store.Idempotency{Key: key, RequestHash: [32]byte{hash}}})
	}
	first, err := write("k", 1, put(fleet.Cluster, "a", "A"))
	w.ok(err)
	w.apply(put(fleet.Cluster, "a", "later"))
	again, err := write("k", 1, put(fleet.Cluster, "a", "A"))
	w.ok(err)
	if !again.Replayed || first.Replayed {
		t.Error("it is the second that is a replay")
	}
	again.Replayed = false
	if d := cmp.Diff(first, again); d != "" {
		t.Error("the repeat got another answer:", d)
	}
	_, err = write("k", 2, put(fleet.Cluster, "a", "B"))
	w.is(err, store.ErrKeyReused)
	// A refused request keeps its key free.
	bad := put(fleet.Cluster, "a", "C")
	bad.IfNoneMatch = true
	_, err = write("k2", 1, bad)
	w.is(err, fleet.ErrPrecondition)
	if r, err := write("k2", 1, put(fleet.Cluster, "a", "C")); err != nil || r.Revision != 3 {
		t.Errorf("after a refusal: %+v, %v", r, err)
	}
	// An old key is free again.
	w.exec(`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'`)
	if r, err := write("k", 2, put(fleet.Cluster, "a", "D")); err != nil || r.Revision != 4 || r.Replayed {
		t.Errorf("after a day: %+v, %v", r, err)
	}
	_, err = w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Idempotency: &store.Idempotency{Key: "k"}})
	w.is(err, fleet.ErrInvalid)
}

// SEMANTICS 7.2: forty repeats at once make one revision and one event.
func TestConcurrentRepeatsHaveOneEffect(t *testing.T) {
	w := setup(t)
	const repeats = 40
	results, errs := make([]store.Result, repeats), make([]error, repeats)
	var wg sync.WaitGroup
	for i := range repeats {
		wg.Go(func() {
			results[i], errs[i] = w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor,
				Changes:     []store.ResourceChange{put(fleet.Cluster, "a", "A")},
				Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}})
		})
	}
	wg.Wait()
	fresh := 0
	for i := range repeats {
		w.ok(errs[i])
		if results[i].Revision != 1 || results[i].Changed != 1 {
			t.Errorf("repeat %d got %+v", i, results[i])
		}
		if !results[i].Replayed {
			fresh++
		}
	}
	if fresh != 1 || w.count(`SELECT count(*) FROM fleet_history`) != 1 || w.count(`SELECT count(*) FROM audit_events WHERE action = 'resources.apply'`) != 1 {
		t.Errorf("%d of %d had an effect", fresh, repeats)
	}
}

func TestRepeatWaitsForTheFirst(t *testing.T) {
	w := setup(t)
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `INSERT INTO idempotency_keys (tenant_id, principal, key, request_hash) VALUES ($1, $2, 'k', '\x01')`,
		w.tenant.String(), actor.Credential.String())
	w.ok(err)
	write := func(s *store.Store) error {
		_, err := s.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A")},
			Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}})
		return err
	}
	hasty, start := w.hasty(), time.Now()
	storetest.Within(t, 9*time.Second, "a repeat that waits in vain", func() { w.is(write(hasty), store.ErrBusy) })
	if d := time.Since(start); d < 4*time.Second {
		t.Errorf("it waited %v", d)
	}
	done := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { done <- write(w.app) })
	until(t, "the repeat waits for a lock", func() bool {
		if len(done) > 0 {
			t.Fatalf("the repeat does not wait: %v", <-done)
		}
		return w.waitingForLocks() > 0
	})
	w.ok(tx.Rollback(t.Context())) // the first came to nothing
	w.ok(<-done)
	wg.Wait()
}

func TestBusyHeadIsUnavailable(t *testing.T) {
	w := setup(t)
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM fleet_heads FOR UPDATE`)
	w.ok(err)
	hasty := w.hasty()
	storetest.Within(t, 2500*time.Millisecond, "a write that waits for the head", func() {
		_, err = hasty.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A")}})
	})
	waitedFor(t, err, store.WaitHead)
	w.ok(tx.Rollback(t.Context()))
	w.apply(put(fleet.Cluster, "a", "A"))
}

func TestCancelledWriteIsUnavailable(t *testing.T) {
	w := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.app.Apply(ctx, w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A")}})
	w.is(err, fleet.ErrUnavailable)
	w.is(err, context.Canceled)
}
