package planner

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// aHost is a virtual host of the route r.
func aHost(name string, version int, domains ...string) *snapshot.Resource {
	return snapshot.NewResource(fleet.VirtualHost, fleet.Row{Name: "r/" + name, Version: fmt.Sprint(version), Derived: fleet.Derived{Domains: domains}}, nil)
}

// TestHostsThatAreAskedForAreFollowed: which virtual hosts are wanted is known of the names that come in addition, of a host's other version, and of what leads to
// none, without a look at the names of before. It is the same as if all were looked at, whatever comes and goes.
func TestHostsThatAreAskedForAreFollowed(t *testing.T) {
	t.Parallel()
	followed := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's
		in := interner{New(DefaultMemo), fleet.Key{}}
		var set *snapshot.Set
		s := in.derive(&Subscription{typ: fleet.VirtualHost}, false, false, nil)
		name := func() string {
			return "r/" + []string{"a", "b", "c.example", "d.c.example", "e.example", "www.e.example", "nobody.x", "h1", "h2"}[r.IntN(9)]
		}
		domains := []string{"a", "b", "*.example", "www.*", "c.example", "*.c.example"}
		for step := range 100 {
			switch r.IntN(5) {
			case 0, 1:
				n, _ := s.adding(NamesOf(name(), name()), set)
				s = in.derive(s, false, false, n)
			case 2:
				s = in.derive(s, false, false, s.dropping(NamesOf(name())))
			case 3:
				set = set.With(aHost(fmt.Sprint("h", r.IntN(4)), step, domains[r.IntN(len(domains))]))
			case 4:
				set = set.Without(fmt.Sprint("r/h", r.IntN(4)))
			}
			if s.last.known {
				followed++
			}
			got, _ := s.wants(in, set)
			if want := s.hosts(in, set); !got.Equal(want) {
				t.Fatalf("seed %d, step %d: %d hosts are wanted, want %d", seed, step, got.Len(), want.Len())
			}
		}
	}
	if followed < 3000 {
		t.Errorf("it was known %d times", followed)
	}
}

// TestANameThatIsSaidTwiceHidesNoneThatIsGivenUp.
func TestANameThatIsSaidTwiceHidesNoneThatIsGivenUp(t *testing.T) {
	t.Parallel()
	in := interner{New(DefaultMemo), fleet.Key{}}
	zero := &Subscription{typ: fleet.Secret}
	s := in.derive(zero, false, false, zero.replacing(NamesOf("a", "b"), nil))
	if s = in.derive(s, false, false, s.replacing(NamesOf("a", "a"), nil)); s.Len() != 1 || !s.Named("a") {
		t.Errorf("%d names are asked for", s.Len())
	}
}

// TestNamesThatLeadToNoHostCostThemselves: one more, or less, of them leaves what is known of the others.
func TestNamesThatLeadToNoHostCostThemselves(t *testing.T) {
	t.Parallel()
	in := interner{New(DefaultMemo), fleet.Key{}}
	var set *snapshot.Set
	set = set.With(aHost("a", 1, "a"))
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint("r/stray-", i))
	}
	zero := &Subscription{typ: fleet.VirtualHost}
	edits, _ := zero.adding(NamesOf(append(names, "r/a")...), set)
	s := in.derive(zero, false, false, edits)
	if want, _ := s.wants(in, set); want.Len() != 1 {
		t.Fatalf("%d hosts are wanted", want.Len())
	}
	edits, _ = s.adding(NamesOf("r/stray-new"), set)
	more := in.derive(s, false, false, edits)
	less := in.derive(more, false, false, more.dropping(NamesOf("r/stray-1", "r/stray-2")))
	for what, s := range map[string]*Subscription{"one more": more, "two less": less} {
		if !s.last.known || s.last.of != set || s.last.want.Len() != 1 {
			t.Errorf("%s: it has to be looked for anew", what)
		}
	}
	was := more.last.want
	next := set.With(aHost("a", 2, "a"))
	if want, _ := more.wants(in, next); want == was || want.Len() != 1 || want.Get("r/a").Version != "2" {
		t.Errorf("after a change %d hosts are wanted", want.Len())
	}
}
