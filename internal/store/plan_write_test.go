package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) plan(wr store.Write) store.Planned {
	w.Helper()
	p, err := w.app.Plan(w.Context(), w.tenant, w.fleet, wr)
	w.ok(err)
	return p
}

// content is every row of every table.
func (w *world) content() string {
	w.Helper()
	tables := strings1(w.T, w.super, `SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`)
	var all []string
	for _, table := range tables {
		all = append(all, strings1(w.T, w.super, `SELECT '`+table+` ' || t::text FROM `+table+` t ORDER BY 1`)...)
	}
	return strings.Join(all, "\n")
}

func TestAPlanWritesNothing(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B"))
	w.apply(put(fleet.Cluster, "a", "A2"))
	before := w.content()
	labelled := put(fleet.Cluster, "b", "B")
	labelled.Labels = map[string]string{"team": "shop"}
	p := w.plan(store.Write{Actor: actor, Message: "why", Idempotency: &store.Idempotency{Key: "k"}, Changes: []store.ResourceChange{
		put(fleet.Cluster, "new", "N"), fill(labelled), put(fleet.Cluster, "a", "A2"), del(fleet.Cluster, "a2"), put(fleet.Runtime, "empty", ""),
	}})
	if p.Seen.Revision != 2 || p.Changed != 3 || len(p.Before) != 5 {
		t.Fatalf("planned: %+v", p)
	}
	var revisions []fleet.Revision
	for _, b := range p.Before {
		revisions = append(revisions, b.Revision)
	}
	if d := cmp.Diff([]fleet.Revision{0, 1, 2, 0, 0}, revisions); d != "" {
		t.Error(d)
	}
	w.ok(w.app.PlannedBodies(t.Context(), w.tenant, []*store.Before{&p.Before[1], &p.Before[2]}))
	got, err := w.app.Resource(t.Context(), w.tenant, w.fleet, fleet.Cluster, "b", "")
	w.ok(err)
	if d := cmp.Diff(got, p.Before[1].Resource); d != "" {
		t.Error("before is not what is stored:", d)
	}
	if string(p.Before[2].Body) != "A2" {
		t.Errorf("the body is %q", p.Before[2].Body)
	}
	if now := w.content(); now != before {
		t.Errorf("a plan wrote: %s", cmp.Diff(strings.Split(before, "\n"), strings.Split(now, "\n")))
	}
	if r := w.apply(put(fleet.Cluster, "new", "N")); r.Revision != 3 {
		t.Errorf("after it: %+v", r)
	}
}

// What an apply is refused a plan is refused, in the same words.
func TestAPlanIsRefusedWhatAnApplyIs(t *testing.T) {
	w := setup(t)
	tag := w.apply(put(fleet.Cluster, "a", "A")).Resources[0].ETag()
	must := func(c store.ResourceChange, tag string) store.ResourceChange { c.IfMatch = tag; return c }
	nine := fleet.Revision(9)
	two := int64(2)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitResources: &two}))
	listener := put(fleet.Listener, "l", "L")
	listener.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: "nowhere"}}}
	listener = fill(listener)
	references := func(how string) {
		_, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{References: how})
		w.ok(err)
	}
	for name, c := range map[string]struct {
		w      store.Write
		strict bool
		want   error
	}{
		"fits":          {w: store.Write{Changes: []store.ResourceChange{must(put(fleet.Cluster, "a", "B"), tag)}}},
		"stale":         {w: store.Write{Changes: []store.ResourceChange{must(put(fleet.Cluster, "a", "B"), `"1-00000000"`)}}, want: fleet.ErrPrecondition},
		"revision":      {w: store.Write{Expect: &nine, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "B")}}, want: fleet.ErrPrecondition},
		"too many":      {w: store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "b", "B"), put(fleet.Cluster, "c", "C")}}, want: fleet.ErrLimit},
		"twice":         {w: store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "b", "B"), put(fleet.Cluster, "b", "C")}}, want: fleet.ErrInvalid},
		"dangling":      {w: store.Write{Changes: []store.ResourceChange{listener}}, strict: true, want: fleet.ErrConflict},
		"only warned":   {w: store.Write{Changes: []store.ResourceChange{listener}}},
		"what is there": {w: store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "a", "A")}}},
	} {
		if c.strict {
			references(fleet.ReferencesStrict)
		}
		before := w.content()
		p, err := w.app.Plan(t.Context(), w.tenant, w.fleet, c.w)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: planned %+v, %v, want %v", name, p, err, c.want)
		}
		if w.content() != before {
			t.Errorf("%s: the plan wrote", name)
		}
		if c.want == nil {
			continue
		}
		_, same := w.app.Apply(t.Context(), w.tenant, w.fleet, c.w)
		_, words, _ := strings.Cut(fmt.Sprint(same), ": ")
		if same == nil || !strings.HasSuffix(err.Error(), words) {
			t.Errorf("%s: the plan says %v, the apply %v", name, err, same)
		}
		if c.strict {
			references(fleet.ReferencesWarn)
		}
	}
	if _, err := w.app.Plan(t.Context(), w.tenant, fleet.NewID(), store.Write{}); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("of no fleet: %v", err)
	}
}

// A write on what was seen meets what others did to the resources that it changes, and is
// not in the way of what they did to others.
func TestSeenIsOfTheResources(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B"))
	seen := w.plan(store.Write{}).Seen
	if seen.Revision != 1 || seen.Token == (fleet.Token{}) {
		t.Fatalf("seen: %+v", seen)
	}
	write := func(cs ...store.ResourceChange) (store.Result, error) {
		return w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Seen: &seen, Changes: cs})
	}
	w.apply(put(fleet.Cluster, "other", "O"))
	if r, err := write(put(fleet.Cluster, "new", "N"), put(fleet.Cluster, "a", "A")); err != nil || r.Revision != 3 {
		t.Fatalf("what others did elsewhere is in the way: %+v, %v", r, err)
	}
	w.apply(del(fleet.Cluster, "b"))
	r := w.apply(put(fleet.Cluster, "a", "A2"))
	_, err := write(put(fleet.Cluster, "other2", "O"), put(fleet.Cluster, "a", "A3"), del(fleet.Cluster, "b"))
	var stale *store.StaleError
	if !errors.As(err, &stale) || !errors.Is(err, fleet.ErrPrecondition) {
		t.Fatalf("%v", err)
	}
	want := []store.Changed{
		{Index: 1, ETag: r.Resources[0].ETag(), Revision: 5, Actor: "ada", At: r.CommittedAt},
		{Index: 2, Revision: 4, Actor: "ada"},
	}
	if len(stale.Changed) == 2 {
		want[1].At, want[0].At = stale.Changed[1].At, stale.Changed[0].At
	}
	if d := cmp.Diff(want, stale.Changed); d != "" || stale.Changed[1].At.IsZero() {
		t.Error(d)
	}
	seen = w.plan(store.Write{}).Seen
	if _, err = write(put(fleet.Cluster, "a", "A3")); err != nil {
		t.Errorf("seen anew: %v", err)
	}
	var moved *store.MovedError
	for name, wrong := range map[string]store.Seen{
		"another history": {Revision: 2, Token: fleet.Token{1}}, "the future": {Revision: 99, Token: seen.Token}, "before all": {Revision: -1},
	} {
		seen = wrong
		if _, err = write(put(fleet.Cluster, "zz", "Z")); !errors.As(err, &moved) || moved.Newest.Revision != 6 || moved.Newest.Actor != "ada" {
			t.Errorf("%s: %v, %+v", name, err, moved)
		}
	}
	w.exec(`UPDATE fleet_heads SET compacted = 5`)
	seen = store.Seen{Revision: 4, Token: fleet.Token(uuidOf(t, w, 4))}
	if _, err = write(put(fleet.Cluster, "zz", "Z")); !errors.As(err, &moved) {
		t.Errorf("tombstones are gone: %v", err)
	}
}

func uuidOf(t *testing.T, w *world, rev int) (id [16]byte) {
	t.Helper()
	w.ok(w.super.QueryRow(t.Context(), `SELECT token FROM fleet_history WHERE revision = $1`, rev).Scan(&id))
	return id
}

// Of writers that saw the same one wins, however they come.
func TestOneOfThoseWhoSawTheSameWins(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"))
	seen := w.plan(store.Write{}).Seen
	var all sync.WaitGroup
	won := make(chan int, 20)
	for i := range 20 {
		all.Go(func() {
			c := put(fleet.Cluster, "a", fmt.Sprint(i))
			if i%2 == 0 { // and some look again
				if _, err := w.app.Plan(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{c}}); err != nil {
					t.Error(err)
				}
			}
			_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Seen: &seen, Changes: []store.ResourceChange{c}})
			switch {
			case err == nil:
				won <- i
			case !errors.Is(err, fleet.ErrPrecondition):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Errorf("%d won", len(won))
	}
}

func TestWhoMovedTheFleetIsTold(t *testing.T) {
	w := setup(t)
	zero := fleet.Revision(0)
	_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Expect: &zero})
	w.ok(err)
	r := w.apply(put(fleet.Cluster, "a", "A"))
	_, err = w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Expect: &zero, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "B")}})
	_, back := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Expect: &zero})
	for _, err := range []error{err, back} {
		var moved *store.MovedError
		if !errors.As(err, &moved) || !errors.Is(err, fleet.ErrPrecondition) {
			t.Fatal(err)
		}
		if d := cmp.Diff(store.RevisionInfo{Revision: 1, At: r.CommittedAt, Kind: "apply", Actor: "ada", Changes: 1, Created: 1}, moved.Newest); d != "" {
			t.Error(d)
		}
	}
	if w.count(`SELECT count(*) FROM fleet_history`) != 1 {
		t.Error("something was written")
	}
}

// A change that was made from what is not there any more is stale, unless it changes nothing.
func TestReadAt(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "gone", "G")) // 1
	w.apply(put(fleet.Cluster, "a", "A2"), del(fleet.Cluster, "gone"))     // 2
	read := func(c store.ResourceChange, at fleet.Revision) store.ResourceChange { c.ReadAt = &at; return c }
	for name, c := range map[string]struct {
		change store.ResourceChange
		stale  fleet.Revision // who changed it since; -1: it is not stale
	}{
		"of now":                 {read(put(fleet.Cluster, "a", "A3"), 2), -1},
		"of before":              {read(put(fleet.Cluster, "a", "A3"), 1), 2},
		"the same again":         {read(put(fleet.Cluster, "a", "A2"), 1), -1},
		"must not be there":      {read(put(fleet.Cluster, "a", "A3"), 0), 2},
		"is not there":           {read(put(fleet.Cluster, "new", "N"), 0), -1},
		"never was there":        {read(put(fleet.Cluster, "new", "N"), 7), 0},
		"is not there any more":  {read(put(fleet.Cluster, "gone", "G"), 1), 2},
		"deleted, and that seen": {read(put(fleet.Cluster, "gone", "G2"), 2), -1},
		"a tombstone":            {read(put(fleet.Cluster, "gone", "G2"), 0), -1},
	} {
		_, err := w.app.Plan(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "other", "O"), c.change}})
		var stale *store.StaleError
		switch {
		case c.stale < 0:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.As(err, &stale) || stale.Changed[0].Index != 1 || stale.Changed[0].Revision != c.stale:
			t.Errorf("%s: %v %+v", name, err, stale)
		}
	}
}
