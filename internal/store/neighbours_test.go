package store_test

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func linesOf(ns []store.Neighbour) (out []string) {
	for _, n := range ns {
		out = append(out, fmt.Sprintf("%s/%s@%s %d", n.Type, n.Name, n.Variant, len(n.Derived.Refs)))
	}
	slices.Sort(out)
	return out
}

// What a resource names is written when it names something else than before, and only then.
func TestWhatAWriteNamesAnew(t *testing.T) {
	w := setup(t)
	c, d := fleet.Ref{Type: fleet.Cluster, Name: "c"}, fleet.Ref{Type: fleet.Cluster, Name: "d"}
	polls := naming(fleet.Route, "r", "4", d)
	polls.Derived.Polled = []fleet.Ref{{Type: fleet.Endpoint, Name: "e"}}
	names := func(about string, want ...string) {
		t.Helper()
		if got := strings1(t, w.super, `SELECT ref_type || '/' || ref_name FROM resource_refs WHERE name = 'r' ORDER BY 1`); !slices.Equal(got, want) {
			t.Errorf("%s: it names %q, want %q", about, got, want)
		}
	}
	first := w.apply(naming(fleet.Route, "r", "1", c))
	names("new", "clusters/c")
	before := strings1(t, w.super, `SELECT ctid::text FROM resource_refs WHERE name = 'r'`)
	w.apply(naming(fleet.Route, "r", "2", c))
	if after := strings1(t, w.super, `SELECT ctid::text FROM resource_refs WHERE name = 'r'`); !slices.Equal(after, before) {
		t.Errorf("what it names is written anew, and it names the same")
	}
	names("other content", "clusters/c")
	w.apply(naming(fleet.Route, "r", "3", d))
	names("another cluster", "clusters/d")
	w.apply(polls)
	names("something that it asks for apart", "clusters/d", "polled:endpoints/e")
	_, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, first.Revision, store.Write{Actor: actor})
	w.ok(err)
	names("rolled back", "clusters/c")
	w.apply(del(fleet.Route, "r"))
	names("deleted")
	w.apply(naming(fleet.Route, "r", "1", c))
	names("again", "clusters/c")
}

func TestNeighbours(t *testing.T) {
	w := setup(t)
	eu := fill(put(fleet.Cluster, "c", "eu"))
	eu.Variant, eu.Selector = "eu", "node.id=x"
	other := w.db.Fleet(t, w.tenant)
	w.apply(edge, put(fleet.Cluster, "c", "1"), eu, put(fleet.Cluster, "cc", "1"), put(fleet.Cluster, "gone", "1"), put(fleet.VirtualHost, "r/a", "1"), put(fleet.VirtualHost, "r/b", "2"),
		put(fleet.VirtualHost, "r0", "3"), put(fleet.VirtualHost, "r", "3"), naming(fleet.Route, "r", "1", fleet.Ref{Type: fleet.Cluster, Name: "c"}))
	w.apply(del(fleet.Cluster, "gone"))
	_, err := w.app.Apply(t.Context(), w.tenant, other, store.Write{Actor: actor, Changes: []store.ResourceChange{naming(fleet.Route, "there", "1", fleet.Ref{Type: fleet.Cluster, Name: "c"})}})
	w.ok(err)
	c := fleet.Ref{Type: fleet.Cluster, Name: "c"}
	ns, err := w.app.Neighbours(t.Context(), w.tenant, w.fleet, []fleet.Ref{c, {Type: fleet.Cluster, Name: "gone"}, {Type: fleet.Route, Name: "r"}}, nil, 0)
	w.ok(err)
	if got, want := linesOf(ns), []string{"clusters/c@ 0", "clusters/c@eu 0", "routes/r@ 1"}; !slices.Equal(got, want) {
		t.Errorf("named: %q", got)
	}
	if ns, err = w.app.Neighbours(t.Context(), w.tenant, w.fleet, nil, []string{"r"}, 10); err != nil || !slices.Equal(linesOf(ns), []string{"virtual-hosts/r/a@ 0", "virtual-hosts/r/b@ 0"}) {
		t.Errorf("hosts: %q, %v", linesOf(ns), err)
	}
	if ns, err = w.app.Neighbours(t.Context(), w.tenant, w.fleet, nil, []string{"r"}, 1); err != nil || len(ns) != 1 {
		t.Errorf("one host: %q, %v", linesOf(ns), err)
	}
	ns, more, err := w.app.Referrers(t.Context(), w.tenant, w.fleet, []fleet.Ref{c, secretS}, 10)
	if got := linesOf(ns); err != nil || more || !slices.Equal(got, []string{"listeners/edge@ 4", "routes/r@ 1"}) {
		t.Errorf("referrers: %q, %v, %v", got, more, err)
	}
	if ns, more, err = w.app.Referrers(t.Context(), w.tenant, w.fleet, []fleet.Ref{c, secretS}, 1); err != nil || !more || len(ns) != 1 {
		t.Errorf("one referrer: %q, %v, %v", linesOf(ns), more, err)
	}
	polls := fill(put(fleet.Listener, "polls", "1"))
	polls.Derived.Polled = []fleet.Ref{{Type: fleet.Route, Name: "r"}}
	w.apply(polls)
	if ns, _, err = w.app.Referrers(t.Context(), w.tenant, w.fleet, []fleet.Ref{{Type: fleet.Route, Name: "r"}}, 10); err != nil || !slices.Contains(linesOf(ns), "listeners/polls@ 0") {
		t.Errorf("who polls for it: %q, %v", linesOf(ns), err)
	}
	if got := ns[slices.IndexFunc(ns, func(n store.Neighbour) bool { return n.Name == "polls" })].Derived.Polled; !slices.Equal(got, polls.Derived.Polled) {
		t.Errorf("it is stored as %v", got)
	}
	w.apply(del(fleet.Listener, "polls"))
	if n := w.count(`SELECT count(*) FROM resource_refs WHERE name = 'polls'`); n != 0 {
		t.Errorf("%d references of what is deleted stay", n)
	}
	alike, err := w.app.Alike(t.Context(), w.tenant, w.fleet, []fleet.Ref{c, {Type: fleet.Cluster, Name: "g"}, {Type: fleet.VirtualHost, Name: "r/"}}, 1000)
	slices.SortFunc(alike, func(a, b fleet.Ref) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	if err != nil || !slices.Equal(alike, []fleet.Ref{c, {Type: fleet.Cluster, Name: "cc"}, {Type: fleet.VirtualHost, Name: "r/a"}, {Type: fleet.VirtualHost, Name: "r/b"}}) {
		t.Errorf("alike: %v, %v", alike, err)
	}
	if ns, err = w.app.Neighbours(t.Context(), fleet.NewTenantID(), w.fleet, []fleet.Ref{c}, nil, 0); err != nil || len(ns) != 0 {
		t.Errorf("of another tenant: %q, %v", linesOf(ns), err)
	}
}

// What a write looks at costs what it names, whatever the fleet has.
func planOfNeighbours() planCase {
	const names = 50
	return planCase{
		most: 12 * names,
		work: func(w *world, p *planned) {
			var refs []fleet.Ref
			for i := range names {
				refs = append(refs, fleet.Ref{Type: fleet.Cluster, Name: fmt.Sprint("c", i+1)})
			}
			ns, err := p.Neighbours(w.Context(), w.tenant, w.fleet, refs, []string{"r"}, 100)
			if w.ok(err); len(ns) == 0 {
				w.Fatalf("no neighbours")
			}
		},
	}
}

func planOfReferrers() planCase {
	const names = 50
	return planCase{
		most: 16 * names,
		work: func(w *world, p *planned) {
			var refs []fleet.Ref
			for i := range names {
				refs = append(refs, fleet.Ref{Type: fleet.Secret, Name: fmt.Sprint("c", i+1)})
			}
			ns, _, err := p.Referrers(w.Context(), w.tenant, w.fleet, refs, 1000)
			if w.ok(err); len(ns) == 0 {
				w.Fatalf("no referrers")
			}
		},
	}
}

func planOfAlike() planCase {
	return planCase{
		most: 10 * 12,
		work: func(w *world, p *planned) {
			_, err := p.Alike(w.Context(), w.tenant, w.fleet, []fleet.Ref{{Type: fleet.Cluster, Name: "c7"}, {Type: fleet.Cluster, Name: "x"}}, 10)
			w.ok(err)
		},
	}
}
