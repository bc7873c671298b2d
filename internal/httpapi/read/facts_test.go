package read

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// aFleet is read.
type aFleet struct {
	rows   []store.Resource
	at     store.Seen
	after  []fleet.Revision // what it was asked for
	bodies int              // that were read
}

func (f *aFleet) Stands(context.Context, fleet.TenantID, fleet.ID) (store.Seen, error) {
	return f.at, nil
}

func (f *aFleet) Overview(_ context.Context, _ fleet.TenantID, _ fleet.ID, after fleet.Revision, give func(store.Resource)) (store.Seen, error) {
	f.after = append(f.after, after)
	for _, r := range f.rows {
		if r.Revision > after {
			r.Body = []byte("\n\x01" + r.Name)
			f.bodies++
		}
		give(r)
	}
	return f.at, nil
}

// TestFactsAreReadOnce: of a fleet that is known only what changed is read, of one that stands where it stood nothing, and where what
// is kept does not fit, all of it.
func TestFactsAreReadOnce(t *testing.T) {
	t.Parallel()
	cluster := func(name, version string, rev fleet.Revision) store.Resource {
		return store.Resource{Row: fleet.Row{Type: fleet.Cluster, Name: name, Version: version, Revision: rev}}
	}
	stands := func(rev fleet.Revision) store.Seen { return store.Seen{Revision: rev, Token: fleet.NewToken()} }
	f := &aFleet{rows: []store.Resource{cluster("a", "1", 1), cluster("b", "2", 2)}, at: stands(2)}
	b := NewBook(compute.New(compute.Config{Slots: 1, Waiting: 1, Patience: time.Minute}))
	want := func(what string, bodies int, after ...fleet.Revision) {
		t.Helper()
		f.after, f.bodies = nil, 0
		rs, at, err := b.Read(t.Context(), f, fleet.Key{Fleet: fleet.ID{1}}, func() {})
		if err != nil || at != f.at.Revision || len(rs) != len(f.rows) || slices.ContainsFunc(rs, func(r findings.Resource) bool { return r.Facts == nil }) {
			t.Errorf("%s: %v at %d, %v", what, rs, at, err)
		}
		if !slices.Equal(f.after, after) || f.bodies != bodies {
			t.Errorf("%s: asked after %v, want %v; %d bodies, want %d", what, f.after, after, f.bodies, bodies)
		}
	}
	want("unknown", 2, -1)
	want("known", 0)
	f.rows[1], f.at = cluster("b", "3", 3), stands(3)
	want("one changed", 1, 2)
	f.rows[1], f.at = cluster("b", "4", 2), stands(2)
	want("another past", 2, 3, -1)
	want("known again", 0)
	f.rows[1], f.at = cluster("b", "5", 2), stands(2)
	want("the same number, another past", 2, 2, -1)
	if b.kept != 2 {
		t.Errorf("%d are kept", b.kept)
	}
}

// TestAFleetThatStandsIsCheckedOnce: what was found counts until something changes in which it was found, and for ten seconds at most, as certificates end.
func TestAFleetThatStandsIsCheckedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := NewBook(nil), fleet.Key{Fleet: fleet.ID{1}}
		stands := func() findings.Fleet {
			return findings.Fleet{Resources: b.fleets[k].resources, Nodes: []fleet.Node{{ID: "n", Zone: "z"}}, Endpoints: map[string]int{"c": 1}, Values: map[string]string{"v": "1"}}
		}
		b.keep(k, knownFacts{resources: make([]findings.Resource, 3)})
		b.KeepChecked(k, Check{In: stands(), Out: Checked{Found: make([]findings.Finding, 2), Errors: 2}, At: time.Now()})
		if out, again := b.Checked(k, stands()); !again || out.Errors != 2 || b.kept != 5 {
			t.Errorf("the same fleet: %t, %+v; %d are kept", again, out, b.kept)
		}
		for what, change := range map[string]func(*findings.Fleet){
			"resource": func(f *findings.Fleet) { f.Resources = append(slices.Clone(f.Resources), findings.Resource{}) }, "node": func(f *findings.Fleet) { f.Nodes[0].Zone = "y" },
			"endpoints": func(f *findings.Fleet) { f.Endpoints["c"] = 0 }, "value": func(f *findings.Fleet) { f.Values["v"] = "2" },
		} {
			f := stands()
			if change(&f); func() bool { _, again := b.Checked(k, f); return again }() {
				t.Errorf("with another %s the last check counts", what)
			}
		}
		time.Sleep(checkedFor + 1)
		if _, again := b.Checked(k, stands()); again {
			t.Error("it counts for longer")
		}
		b.KeepChecked(k, Check{Out: Checked{Found: make([]findings.Finding, mostFacts)}})
		if b.KeepChecked(fleet.Key{}, Check{}); len(b.fleets[k].resources) != 3 || len(b.fleets) != 1 || b.kept != 5 {
			t.Errorf("facts are forgotten for findings: %d fleets, %d kept", len(b.fleets), b.kept)
		}
	})
}

// TestResourcesWithoutFactsTakeRoom: Secrets, and what has another's content, are kept too.
func TestResourcesWithoutFactsTakeRoom(t *testing.T) {
	t.Parallel()
	b := NewBook(nil)
	for i := range 3 {
		b.keep(fleet.Key{Fleet: fleet.ID{byte(i)}}, knownFacts{resources: make([]findings.Resource, mostFacts/2)})
	}
	if len(b.fleets) != 2 || b.kept != mostFacts {
		t.Errorf("%d fleets are kept, and %d resources", len(b.fleets), b.kept)
	}
}

// TestFactsMakeRoom for those of other fleets.
func TestFactsMakeRoom(t *testing.T) {
	t.Parallel()
	b := NewBook(nil)
	many := func(n int) knownFacts {
		k := knownFacts{facts: map[content]*resource.Facts{}}
		for i := range n {
			k.facts[content{version: fmt.Sprint(i)}] = &resource.Facts{}
			k.resources = append(k.resources, findings.Resource{})
		}
		return k
	}
	for i, c := range []struct{ n, fleets, kept int }{{mostFacts - 1, 1, mostFacts - 1}, {1, 2, mostFacts}, {2, 2, 0}, {mostFacts + 1, 2, 0}} {
		b.keep(fleet.Key{Fleet: fleet.ID{byte(i)}}, many(c.n))
		sum := 0
		for _, k := range b.fleets {
			sum += len(k.facts)
		}
		if sum != b.kept || b.kept > mostFacts || len(b.fleets) > c.fleets || c.kept > 0 && b.kept != c.kept {
			t.Errorf("after %d: %d fleets, %d kept, counted %d", c.n, len(b.fleets), b.kept, sum)
		}
	}
}
