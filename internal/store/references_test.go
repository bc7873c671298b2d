package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// naming is a change of a resource that names others.
func naming(t fleet.Type, name, body string, refs ...fleet.Ref) store.ResourceChange {
	c := put(t, name, body)
	c.Derived = fleet.Derived{Refs: refs}
	return c
}

func dangling(t fleet.Type, name string, missing fleet.Ref) fleet.Dangling {
	return fleet.Dangling{Ref: fleet.Ref{Type: t, Name: name}, Missing: missing}
}

func (w *world) strict() {
	w.Helper()
	f, err := w.app.UpdateFleet(w.Context(), w.tenant, actor, w.fleet, store.FleetSettings{References: fleet.ReferencesStrict})
	w.ok(err)
	if f.References != fleet.ReferencesStrict {
		w.Fatalf("the fleet is %q", f.References)
	}
}

var (
	routeR   = fleet.Ref{Type: fleet.Route, Name: "r"}
	secretS  = fleet.Ref{Type: fleet.Secret, Name: "s"}
	clusterC = fleet.Ref{Type: fleet.Cluster, Name: "c"}
	extE     = fleet.Ref{Type: fleet.Extension, Name: "e"}
	edge     = naming(fleet.Listener, "edge", "1", routeR, secretS, extE, fleet.Ref{Type: fleet.Cluster, Name: "als"})
)

// refused is what a strict fleet refuses of these changes.
func (w *world) refused(cs ...store.ResourceChange) []fleet.Dangling {
	w.Helper()
	_, err := w.try(cs...)
	var e *store.DanglingError
	if !errors.As(err, &e) || !errors.Is(err, fleet.ErrConflict) {
		w.Fatalf("%v", err)
	}
	return e.Dangling
}

// SEMANTICS 4.2, 4.3: looked at both ways, of changed names only; a cluster of the bootstrap is there, and endpoints are
// no matter. A fleet that warns stores all of it.
func TestLine4_3_LookedAtBothWays(t *testing.T) {
	w := setup(t)
	w.apply(edge)
	w.apply(del(fleet.Listener, "edge"))
	w.strict()
	w.set(store.FleetSettings{StaticClusters: &[]string{"bootstrapped"}, PrivateClusters: &[]string{"vault"}})
	all := []store.ResourceChange{edge, naming(fleet.Route, "r", "1", fleet.Ref{Type: fleet.Cluster, Name: "bootstrapped"}, fleet.Ref{Type: fleet.Cluster, Name: "fairlead_xds"}, fleet.Ref{Type: fleet.Cluster, Name: "vault"}, clusterC),
		naming(fleet.Cluster, "c", "1", secretS, fleet.Ref{Type: fleet.Endpoint, Name: "c"})}
	als := fleet.Ref{Type: fleet.Cluster, Name: "als"}
	want := []fleet.Dangling{dangling(fleet.Cluster, "c", secretS), dangling(fleet.Listener, "edge", als), dangling(fleet.Listener, "edge", extE), dangling(fleet.Listener, "edge", secretS)}
	if d := cmp.Diff(want, w.refused(all...)); d != "" {
		t.Error(d)
	}
	w.apply(append(all, put(fleet.Cluster, "als", "1"), put(fleet.Extension, "e", "1"), put(fleet.Secret, "s", "1"))...)
	if d := cmp.Diff([]fleet.Dangling{dangling(fleet.Listener, "edge", routeR)}, w.refused(del(fleet.Route, "r"))); d != "" {
		t.Error("a deletion:", d)
	}
	if d := cmp.Diff([]fleet.Dangling{dangling(fleet.Route, "r", clusterC)}, w.refused(del(fleet.Cluster, "c"))); d != "" {
		t.Error("the deletion of a cluster that a route names:", d)
	}
	w.apply(del(fleet.Listener, "edge"), del(fleet.Cluster, "c"), del(fleet.Secret, "s"), del(fleet.Route, "r")) // what goes together
	if r := w.apply(del(fleet.Listener, "edge")); r.Changed != 0 {
		t.Errorf("nothing changed: %+v", r)
	}
}

// Another variant of the name is enough: whether a node's view has it is the planner's.
func TestLine4_3_AVariantCounts(t *testing.T) {
	w := setup(t)
	eu := put(fleet.Route, "r", "eu")
	eu.Variant, eu.Selector = "eu", "x"
	w.strict()
	w.apply(naming(fleet.Listener, "edge", "1", routeR), fill(eu))
}

func TestLine4_3_StrictRefuses(t *testing.T) {
	w := setup(t)
	w.strict()
	one := naming(fleet.Listener, "edge", "1", routeR)
	refuses := func(what string, want []fleet.Dangling, cs ...store.ResourceChange) {
		t.Helper()
		if d := cmp.Diff(want, w.refused(cs...)); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	refuses("a listener without its route", []fleet.Dangling{dangling(fleet.Listener, "edge", routeR)}, one, put(fleet.Cluster, "c", "1"))
	if n := w.count(`SELECT count(*) FROM resources`) + w.count(`SELECT count(*) FROM fleet_history`); n != 0 {
		t.Errorf("%d rows of a refused write", n)
	}
	w.apply(one, put(fleet.Route, "r", "1"))
	refuses("a route that is named", []fleet.Dangling{dangling(fleet.Listener, "edge", routeR)}, del(fleet.Route, "r"))
	w.apply(del(fleet.Route, "r"), naming(fleet.Listener, "edge", "2"))
	nowhere := fleet.Ref{Type: fleet.Cluster, Name: "nowhere"}
	refuses("a route without its cluster", []fleet.Dangling{dangling(fleet.Route, "r2", nowhere)}, naming(fleet.Route, "r2", "1", nowhere))
	w.apply(put(fleet.Route, "r2", "1"))
	if rev := w.load().At.Revision; rev != 3 {
		t.Errorf("at revision %d", rev)
	}
}

// SEMANTICS 4.3: a rollback into a state that would leave something dangling.
func TestLine4_3_StrictRefusesARollback(t *testing.T) {
	w := setup(t)
	w.apply(naming(fleet.Listener, "edge", "1", routeR)) // 1: dangling, as the fleet only warns
	w.apply(put(fleet.Route, "r", "1"))                  // 2
	w.apply(put(fleet.Cluster, "c", "1"))                // 3
	_, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor})
	w.ok(err)
	w.apply(put(fleet.Route, "r", "1"))
	w.strict()
	var e *store.DanglingError
	if _, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor}); !errors.As(err, &e) || len(e.Dangling) != 1 {
		t.Errorf("a rollback that takes the route away: %v", err)
	}
	if _, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 2, store.Write{Actor: actor}); err != nil {
		t.Errorf("a rollback that leaves all whole: %v", err)
	}
}

func TestManyDangling(t *testing.T) {
	w := setup(t)
	w.strict()
	var cs []store.ResourceChange
	for i := range store.MaxDangling + 1 {
		cs = append(cs, naming(fleet.Listener, fmt.Sprintf("l%03d", i), "1", routeR))
	}
	_, err := w.try(cs...)
	var e *store.DanglingError
	if !errors.As(err, &e) || len(e.Dangling) != store.MaxDangling || !e.More {
		t.Errorf("%v", err)
	}
}

// Checked before the transaction, two writers would pass each other: one that takes the
// route away, one that names it.
func TestLine4_2_TwoWritersDoNotPassEachOther(t *testing.T) {
	w := setup(t)
	w.strict()
	for i := range 10 {
		w.apply(put(fleet.Route, "r", fmt.Sprint(i)))
		var wg sync.WaitGroup
		var named, removed error
		wg.Go(func() { _, named = w.try(naming(fleet.Listener, "edge", fmt.Sprint(i), routeR)) })
		wg.Go(func() { _, removed = w.try(del(fleet.Route, "r")) })
		wg.Wait()
		if (named == nil) == (removed == nil) {
			t.Fatalf("round %d: named %v, removed %v", i, named, removed)
		}
		if named == nil {
			w.apply(del(fleet.Listener, "edge"))
		}
	}
}

// SEMANTICS 8.3: settings move the epoch, not the revision.
func TestSettingsMoveTheEpoch(t *testing.T) {
	w := setup(t)
	before := w.load().At
	w.strict()
	if now := w.load().At; now.Epoch <= before.Epoch || now.Revision != before.Revision {
		t.Errorf("from %+v to %+v", before, now)
	}
	_, err := w.app.UpdateFleet(t.Context(), fleet.NewTenantID(), actor, w.fleet, store.FleetSettings{References: fleet.ReferencesWarn})
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{References: "sometimes"})
	w.is(err, fleet.ErrInvalid)
	f, err := w.app.CreateFleetWith(t.Context(), w.tenant, actor, "strict", "", store.FleetSettings{References: fleet.ReferencesStrict})
	w.ok(err)
	if again, err := w.app.FleetByName(t.Context(), w.tenant, "strict"); err != nil || again.References != fleet.ReferencesStrict || f.References != again.References {
		t.Errorf("made %+v, found %+v, %v", f, again, err)
	}
}
