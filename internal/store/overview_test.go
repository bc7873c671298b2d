package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// look returns "type/name@variant" of each resource, with the body where it was read.
func (w *world) look(after fleet.Revision) (out []string, at fleet.Revision) {
	w.Helper()
	seen, err := w.app.Overview(w.Context(), w.tenant, w.fleet, after, func(r store.Resource) {
		line := fmt.Sprintf("%s/%s@%s %d %s", r.Type, r.Name, r.Variant, len(r.Derived.Refs), r.Selector)
		if r.Body != nil {
			line += " " + string(r.Body)
		}
		out = append(out, line)
	})
	w.ok(err)
	stands, err := w.app.Stands(w.Context(), w.tenant, w.fleet)
	w.ok(err)
	if stands != seen {
		w.Errorf("it stands at %v, and was read at %v", stands, seen)
	}
	slices.Sort(out)
	return out, seen.Revision
}

func TestOverview(t *testing.T) {
	w := setup(t)
	want := func(what string, after, at fleet.Revision, want ...string) {
		t.Helper()
		if got, now := w.look(after); now != at || !slices.Equal(got, want) {
			t.Errorf("%s: %q at %d, want %q at %d", what, got, now, want, at)
		}
	}
	want("an empty fleet", -1, 0)
	variant := put(fleet.Cluster, "c", "3")
	variant.Variant, variant.Selector = "eu", "node.id=x"
	w.apply(edge, put(fleet.Cluster, "gone", "2"))
	w.apply(variant, put(fleet.Secret, "s", "sealed"), del(fleet.Cluster, "gone"))
	want("all", -1, 2, "clusters/c@eu 0 node.id=x 3", "listeners/edge@ 4  1", "secrets/s@ 0 ")
	want("what changed", 1, 2, "clusters/c@eu 0 node.id=x 3", "listeners/edge@ 4 ", "secrets/s@ 0 ")
	want("nothing changed", 2, 2, "clusters/c@eu 0 node.id=x", "listeners/edge@ 4 ", "secrets/s@ 0 ")
	if _, err := w.app.Overview(w.Context(), w.tenant, fleet.NewID(), -1, nil); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("no fleet: %v", err)
	}
	if _, err := w.app.Stands(w.Context(), w.tenant, fleet.NewID()); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("no fleet: %v", err)
	}
}

func TestT22_LocalPortsAreKept(t *testing.T) {
	w := setup(t)
	want := func(want ...int32) {
		t.Helper()
		fs, _, err := w.app.Fleets(w.Context(), w.tenant, "", 0)
		w.ok(err)
		if !slices.Equal(fs[0].LocalPorts, want) {
			t.Errorf("%v, want %v", fs[0].LocalPorts, want)
		}
	}
	want()
	w.set(store.FleetSettings{LocalPorts: &[]int32{9000, 8080, 9000}})
	want(8080, 9000)
	w.set(store.FleetSettings{References: fleet.ReferencesStrict})
	want(8080, 9000)
	w.set(store.FleetSettings{LocalPorts: &[]int32{}})
	want()
	many := make([]int32, 101)
	for i := range many {
		many[i] = int32(i) + 1
	}
	for _, bad := range [][]int32{{0}, {65536}, {-1}, many} {
		if _, err := w.app.UpdateFleet(w.Context(), w.tenant, store.Actor{Name: "t"}, w.fleet, store.FleetSettings{LocalPorts: &bad}); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%v are taken: %v", bad, err)
		}
	}
	created, err := w.app.CreateFleetWith(w.Context(), w.tenant, store.Actor{Name: "t"}, "other", "", store.FleetSettings{LocalPorts: &[]int32{2, 1}})
	if w.ok(err); !slices.Equal(created.LocalPorts, []int32{1, 2}) {
		t.Errorf("%v", created.LocalPorts)
	}
}

func TestStaticClusters(t *testing.T) {
	w := setup(t)
	want := func(want ...string) {
		t.Helper()
		fs, _, err := w.app.Fleets(w.Context(), w.tenant, "", 0)
		w.ok(err)
		if !slices.Equal(fs[0].StaticClusters, want) {
			t.Errorf("%q, want %q", fs[0].StaticClusters, want)
		}
	}
	want()
	w.set(store.FleetSettings{StaticClusters: &[]string{"b", "a", "b"}})
	want("a", "b")
	w.set(store.FleetSettings{References: fleet.ReferencesStrict})
	want("a", "b")
	w.set(store.FleetSettings{StaticClusters: &[]string{}})
	want()
}

// The private ones are a list of its own: to change the one leaves the other alone.
func TestPrivateClusters(t *testing.T) {
	w := setup(t)
	w.set(store.FleetSettings{StaticClusters: &[]string{"s"}, PrivateClusters: &[]string{"b", "a", "b"}})
	w.set(store.FleetSettings{StaticClusters: &[]string{}})
	fs, _, err := w.app.Fleets(w.Context(), w.tenant, "", 0)
	w.ok(err)
	if f := fs[0]; !slices.Equal(f.PrivateClusters, []string{"a", "b"}) || len(f.StaticClusters) != 0 {
		t.Errorf("static %q, private %q", f.StaticClusters, f.PrivateClusters)
	}
	made, err := w.app.CreateFleetWith(w.Context(), w.tenant, actor, "private", "", store.FleetSettings{PrivateClusters: &[]string{"v"}})
	if w.ok(err); !slices.Equal(made.PrivateClusters, []string{"v"}) || len(made.StaticClusters) != 0 {
		t.Errorf("a new one: static %q, private %q", made.StaticClusters, made.PrivateClusters)
	}
}
