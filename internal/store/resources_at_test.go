package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// What has changed, put back to how it was, is what there was then.
func TestResourcesAt(t *testing.T) {
	w := setup(t)
	type key struct{ name, variant string }
	states := map[fleet.Revision]map[key]string{}
	rows := func() map[key]string {
		s := map[key]string{}
		for _, r := range w.load().Rows {
			if !r.Deleted {
				s[key{r.Name, r.Variant}] = r.Version + string(r.Body) + r.Selector
			}
		}
		return s
	}
	variant := put(fleet.Cluster, "b", "B in the east")
	variant.Variant, variant.Selector = "east", "locality.zone=east"
	variant = fill(variant)
	for i := range 3 {
		w.apply(put(fleet.Cluster, "a", fmt.Sprint("A", i)))
		states[fleet.Revision(3*i+1)] = rows()
		r := w.apply(put(fleet.Cluster, "b", fmt.Sprint("B", i)), put(fleet.Cluster, fmt.Sprint("new", i), "N"), variant)
		states[r.Revision] = rows()
		gone := del(fleet.Cluster, "b")
		gone.Variant = "east"
		states[w.apply(del(fleet.Cluster, fmt.Sprint("new", i)), gone).Revision] = rows()
	}
	for at, want := range states {
		changed, err := w.node.ResourcesAt(t.Context(), w.key(), at)
		w.ok(err)
		got := rows()
		for _, r := range changed {
			if r.Deleted {
				delete(got, key{r.Name, r.Variant})
				continue
			}
			if r.Revision > at {
				t.Errorf("at %d: %s is of revision %d", at, r.Name, r.Revision)
			}
			got[key{r.Name, r.Variant}] = r.Version + string(r.Body) + r.Selector
		}
		if !maps.Equal(got, want) {
			t.Errorf("at %d: %v, want %v", at, got, want)
		}
	}
	for at, want := range states { // the same, from the first revision on
		changes, err := w.node.ChangesUpTo(t.Context(), w.key(), at)
		w.ok(err)
		slices.SortFunc(changes, func(a, b fleet.Row) int { return cmp.Compare(a.Revision, b.Revision) })
		got := maps.Clone(states[1])
		for _, r := range changes {
			if got[key{r.Name, r.Variant}] = r.Version + string(r.Body) + r.Selector; r.Deleted {
				delete(got, key{r.Name, r.Variant})
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", at, got, want)
		}
	}
	for _, at := range []fleet.Revision{0, 10} {
		_, err := w.node.ResourcesAt(t.Context(), w.key(), at)
		w.is(err, fleet.ErrNotFound)
	}
	_, err := w.node.ChangesUpTo(t.Context(), w.key(), 10)
	w.is(err, fleet.ErrNotFound)
	other := w.key()
	other.Tenant = fleet.NewTenantID()
	_, err = w.node.ResourcesAt(t.Context(), other, 1)
	w.is(err, fleet.ErrNotFound)
	_, err = w.node.ChangesUpTo(t.Context(), other, 1)
	w.is(err, fleet.ErrNotFound)
}

// ChangesUpTo goes back by so many revisions, and by so many resources.
func TestChangesUpToGoesSoFar(t *testing.T) {
	w := setup(t)
	for i := range 70 {
		w.apply(put(fleet.Cluster, "a", fmt.Sprint(i)))
	}
	rows, err := w.node.ChangesUpTo(t.Context(), w.key(), 69)
	w.ok(err)
	if len(rows) != 64 || slices.ContainsFunc(rows, func(r fleet.Row) bool { return r.Revision < 6 || r.Revision > 69 }) {
		t.Errorf("%d rows, want those of 6 to 69", len(rows))
	}
	w.exec(`SET session_replication_role = replica`) // written behind the store's back: it is about reading
	w.exec(`INSERT INTO resource_history SELECT (jsonb_populate_record(r, jsonb_build_object('name', 'a' || g))).* FROM resource_history r, generate_series(1, 990) g WHERE r.revision = 65`)
	w.exec(`RESET session_replication_role`)
	rows, err = w.node.ChangesUpTo(t.Context(), w.key(), 70)
	w.ok(err)
	if len(rows) != 1+1_000 || slices.ContainsFunc(rows, func(r fleet.Row) bool { return r.Revision < 60 }) {
		t.Errorf("%d rows, want the newest 1,001", len(rows))
	}
}

// TestT11_ChangesUpToIsBoundedInBytes: one client that comes back has the server read it. The newest are told, whole but for the oldest of them.
func TestT11_ChangesUpToIsBoundedInBytes(t *testing.T) {
	w := setup(t)
	const mib = 1 << 20
	for i := range 10 { // 30 MiB
		var cs []store.ResourceChange
		for _, name := range []string{"a", "b", "c"} {
			cs = append(cs, put(fleet.Endpoint, name, strings.Repeat(string(rune('a'+i)), mib-1_000)+name))
		}
		w.apply(cs...)
	}
	rows, err := w.node.ChangesUpTo(t.Context(), w.key(), 10)
	w.ok(err)
	bytes, of := 0, map[fleet.Revision]int{}
	for _, r := range rows {
		bytes += len(r.Body)
		of[r.Revision]++
	}
	if bytes > 16*mib || of[10] != 3 || of[7] != 3 {
		t.Errorf("%d bytes are told, of %v", bytes, of)
	}
}

// The most that may have changed since the revision still can be read.
func TestResourcesAtOfMany(t *testing.T) {
	w := setup(t)
	first := w.apply(put(fleet.Cluster, "first", "1")).Revision
	const many = 20_000
	w.apply(put(fleet.Endpoint, "e0", "1"))
	w.exec(`SET session_replication_role = replica`)
	for _, table := range []string{"resources", "resource_history"} { // written behind the store's back: it is about reading
		w.exec(`INSERT INTO `+table+` SELECT (jsonb_populate_record(r, jsonb_build_object('name', 'e' || g))).* FROM `+table+` r, generate_series(1, $1::int) g WHERE r.name = 'e0'`, many-1)
	}
	w.exec(`RESET session_replication_role`)
	rows, err := w.node.ResourcesAt(t.Context(), w.key(), first)
	w.ok(err)
	if len(rows) != many {
		t.Errorf("%d rows, want %d", len(rows), many)
	}
	w.apply(put(fleet.Cluster, "one more", "1"))
	_, err = w.node.ResourcesAt(t.Context(), w.key(), first)
	w.is(err, fleet.ErrLimit)
}
