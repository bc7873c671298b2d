package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// asked checks that something was not done because it is to be confirmed, and returns why.
func (w *world) asked(err error) *store.UnconfirmedError {
	w.Helper()
	var e *store.UnconfirmedError
	if !errors.As(err, &e) || !errors.Is(err, fleet.ErrPrecondition) {
		w.Fatalf("nothing is asked: %v", err)
	}
	return e
}

// clustersNamed puts a cluster for each letter, and deletes it.
func clustersNamed(letters string) (there, gone []store.ResourceChange) {
	for _, n := range letters {
		there, gone = append(there, put(fleet.Cluster, string(n), string(n))), append(gone, del(fleet.Cluster, string(n)))
	}
	return there, gone
}

// Who deletes more than half of a type, and three of it, is asked; a plan says so beforehand.
func TestDeletingMostOfATypeIsConfirmed(t *testing.T) {
	w := setup(t)
	all, gone := clustersNamed("abcdefg")
	w.apply(append(all, put(fleet.Route, "x", "X"), put(fleet.Route, "y", "Y"))...)
	routes := []store.ResourceChange{del(fleet.Route, "x"), del(fleet.Route, "y")}
	for name, c := range map[string]struct {
		changes []store.ResourceChange
		want    []store.Reason
	}{
		"half":             {changes: gone[:3]},
		"more than half":   {changes: gone[:4], want: []store.Reason{{Code: store.ReasonMostOfType, Count: 4, Of: 7}}},
		"all":              {changes: gone, want: []store.Reason{{Code: store.ReasonMostOfType, Count: 7, Of: 7}}},
		"all of two":       {changes: routes},
		"what is not":      {changes: append([]store.ResourceChange{del(fleet.Cluster, "z1"), del(fleet.Cluster, "z2"), del(fleet.Cluster, "z3")}, gone[:2]...)},
		"beside new ones":  {changes: append([]store.ResourceChange{put(fleet.Cluster, "new", "N")}, gone[:4]...), want: []store.Reason{{Code: store.ReasonMostOfType, Count: 4, Of: 7}}},
		"a change of most": {changes: []store.ResourceChange{put(fleet.Cluster, "a", "2"), put(fleet.Cluster, "b", "2"), put(fleet.Cluster, "c", "2"), put(fleet.Cluster, "d", "2")}},
	} {
		p := w.plan(store.Write{Changes: c.changes})
		if d := cmp.Diff(c.want, p.Confirm); d != "" {
			t.Errorf("%s: planned: %s", name, d)
		}
		before := w.content()
		wr := store.Write{Actor: actor, Changes: c.changes, Confirmed: new(store.Reasons)}
		if c.want == nil {
			continue
		}
		_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, wr)
		if e := w.asked(err); cmp.Diff(c.want, e.Reasons) != "" || e.Seen != p.Seen {
			t.Errorf("%s: %+v, planned on %+v", name, e, p.Seen)
		}
		if w.content() != before {
			t.Errorf("%s: something was written", name)
		}
		other := store.ReasonsOf([]store.Reason{{Code: store.ReasonMostOfType, Type: fleet.Route}, {Code: store.ReasonRemovesMany}})
		wr.Confirmed = &other
		_, err = w.app.Apply(t.Context(), w.tenant, w.fleet, wr)
		w.asked(err)
	}
	seen := store.ReasonsOf([]store.Reason{{Code: store.ReasonMostOfType}})
	key := &store.Idempotency{Key: "k"}
	_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: gone[:4], Confirmed: new(store.Reasons), Idempotency: key})
	w.asked(err) // and does not claim the key
	for range 2 {
		r, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: gone[:4], Confirmed: &seen, Idempotency: key})
		if w.ok(err); r.Revision != 2 || r.Changed != 4 {
			t.Errorf("confirmed: %+v", r)
		}
	}
	if _, err = w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: routes, Confirmed: new(store.Reasons)}); err != nil {
		t.Errorf("two of two: %v", err)
	}
}

func TestARollbackIsConfirmed(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Listener, "l", "first")) // 1
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n"), on("m")}})
	w.apply(put(fleet.Listener, "l", "bad"), put(fleet.Route, "r", "bad")) // 2
	bad := put(fleet.Listener, "l", "bad")
	labelled := bad
	labelled.Labels = map[string]string{"team": "shop"}
	w.apply(fill(labelled)) // 3: of the same version
	refusal := fleet.Refusal{Node: "n", Type: fleet.Listener, Name: "l", Version: bad.Version, Revision: 2, Detail: "no"}
	other := refusal
	other.Node = "m"
	s.report(fleet.Status{Settled: 3, Refusals: []fleet.Refusal{refusal, other}})
	w.apply(put(fleet.Listener, "l", "good"), put(fleet.Route, "r", "good")) // 4: the refusal is over
	many, _ := clustersNamed("abcdefghijk")
	w.apply(many...) // 5
	back := func(to fleet.Revision, only ...store.Cursor) error {
		_, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, to, store.Write{Actor: actor, Only: only, Confirmed: new(store.Reasons)})
		return err
	}
	refused := store.Reason{Code: store.ReasonRefusedVersion, Count: 1, Nodes: 2}
	removes := []store.Reason{{Code: store.ReasonMostOfType, Count: 11, Of: 11}, {Code: store.ReasonRemovesMany, Count: 11}}
	if d := cmp.Diff(removes, w.asked(back(4)).Reasons); d != "" {
		t.Error(d)
	}
	for _, to := range []fleet.Revision{2, 3} {
		if d := cmp.Diff(append(removes, refused), w.asked(back(to)).Reasons); d != "" {
			t.Errorf("to %d: %s", to, d)
		}
		if d := cmp.Diff([]store.Reason{refused}, w.asked(back(to, store.Cursor{Type: fleet.Listener, Name: "l"})).Reasons); d != "" {
			t.Errorf("of the listener to %d: %s", to, d)
		}
	}
	w.ok(back(2, store.Cursor{Type: fleet.Route, Name: "r"})) // which nobody refused
	w.ok(back(1, store.Cursor{Type: fleet.Listener, Name: "l"}))
	all := store.ReasonsOf(append(removes, refused))
	r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 3, store.Write{Actor: actor, Confirmed: &all})
	if w.ok(err); r.Changed != 12 {
		t.Errorf("%+v", r)
	}
}

// A refusal that names nobody is of all that its revision brought of the type.
func TestARollbackToWhatWasRefusedWithoutANameIsConfirmed(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B"), put(fleet.Route, "r", "R"))
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Revision: 1, Detail: "no", Action: fleet.ActionNoSuspect}}})
	w.apply(put(fleet.Cluster, "a", "A2"), put(fleet.Route, "r", "R2"))
	_, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor, Confirmed: new(store.Reasons)})
	if d := cmp.Diff([]store.Reason{{Code: store.ReasonRefusedVersion, Count: 1, Nodes: 1}}, w.asked(err).Reasons); d != "" {
		t.Error(d)
	}
}

func TestTheDeletionOfAFleetWithNodesIsConfirmed(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"))
	s := w.server("s")
	gone := on("gone")
	gone.Connected = false
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n"), on("m"), gone}})
	e := w.asked(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, w.fleet, store.Confirmation{}))
	if d := cmp.Diff([]store.Reason{{Code: store.ReasonLiveNodes, Count: 2}}, e.Reasons); d != "" {
		t.Error(d)
	}
	seen := store.Confirmation{Seen: e.Seen, Reasons: store.ReasonsOf(e.Reasons)}
	w.asked(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, w.fleet, store.Confirmation{Seen: e.Seen}))
	w.apply(put(fleet.Cluster, "a", "A2"))
	seen.Seen = w.asked(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, w.fleet, seen)).Seen // it is another fleet by now
	w.ok(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, w.fleet, seen))
	if w.count(`SELECT count(*) FROM fleets f JOIN fleet_heads h ON h.fleet_id = f.id AND h.deleted_at = f.deleted_at`) != 1 {
		t.Error("it is not deleted")
	}
	empty := w.db.Fleet(t, w.tenant)
	w.ok(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, empty, store.Confirmation{}))
	w.is(w.app.DeleteFleetConfirmed(t.Context(), w.tenant, actor, empty, store.Confirmation{}), fleet.ErrNotFound)
}

// What a confirmation asks reads what is deleted, not what the fleet holds.
func planOfAPlan() planCase {
	return planCase{most: 64 * 5, work: func(w *world, p *planned) { // for each change
		var gone []store.ResourceChange
		for i := range 5 {
			gone = append(gone, del(fleet.Cluster, fmt.Sprint("c", i+1)))
		}
		_, err := p.Plan(w.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: gone})
		w.ok(err)
	}}
}

// A plan of a rollback does nothing, tells what is there, and is refused what the rollback is.
func TestAPlanOfARollback(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "gone", "G")) // 1
	w.apply(put(fleet.Cluster, "a", "A2"), del(fleet.Cluster, "gone"))     // 2
	many, _ := clustersNamed("bcdefghijkl")
	w.apply(many...) // 3
	at, cs, err := w.app.RollbackChanges(t.Context(), w.tenant, w.fleet, 1, nil)
	w.ok(err)
	wr := store.Write{Actor: actor, Expect: &at.Revision}
	for _, c := range cs {
		wr.Changes = append(wr.Changes, c.ResourceChange)
	}
	before := w.content()
	p, err := w.app.PlanRollback(t.Context(), w.tenant, w.fleet, 1, wr)
	w.ok(err)
	if p.Seen.Revision != 3 || p.Changed != 13 || len(p.Before) != 13 || p.Before[0].Name != "a" || p.Before[0].Revision != 2 {
		t.Errorf("%+v", p)
	}
	if d := cmp.Diff([]store.Reason{{Code: store.ReasonMostOfType, Count: 11, Of: 12}, {Code: store.ReasonRemovesMany, Count: 11}}, p.Confirm); d != "" {
		t.Error(d)
	}
	old := fleet.Revision(2)
	for _, c := range []struct {
		to     fleet.Revision
		expect *fleet.Revision
		want   error
	}{{1, &old, fleet.ErrPrecondition}, {7, nil, fleet.ErrNotFound}} {
		_, err = w.app.PlanRollback(t.Context(), w.tenant, w.fleet, c.to, store.Write{Actor: actor, Expect: c.expect})
		if !errors.Is(err, c.want) {
			t.Errorf("to %d: %v, want %v", c.to, err, c.want)
		}
	}
	if w.content() != before {
		t.Error("a plan wrote")
	}
	seen := store.ReasonsOf(p.Confirm)
	r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor, Confirmed: &seen})
	if w.ok(err); r.Changed != p.Changed {
		t.Errorf("%+v", r)
	}
}
