package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// frozen is a target of a node that refuses the cluster p and keeps the clusters that it had.
func frozen(now, had *snapshot.Target) *snapshot.Target {
	snap := &snapshot.Snapshot{Revision: now.Revision, Types: now.Types, Gone: now.Gone}
	target := snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("p", "bad")}})
	target.Freeze(fleet.Cluster, had.Types[fleet.Cluster])
	return target
}

// TestWhatNamesAFrozenOutClusterWaits (SEMANTICS 3.3, 3.7): a route goes on with the cluster that it has while a freeze keeps the next one from the
// client, whatever names it; the cluster counts as withheld for what is refused, and what the client has of before stays.
func TestWhatNamesAFrozenOutClusterWaits(t *testing.T) {
	t.Parallel()
	for _, typ := range []fleet.Type{fleet.Listener, fleet.Route, fleet.ScopedRoute, fleet.VirtualHost, fleet.Extension} {
		for _, delta := range []bool{true, false} {
			if typ == fleet.VirtualHost && !delta {
				continue
			}
			t.Run(fmt.Sprintf("%s delta %v", typ.Slug(), delta), func(t *testing.T) {
				t.Parallel()
				slug, name := typ.Slug(), "x"
				if typ == fleet.VirtualHost {
					name = "r/x"
				}
				at := func(rev fleet.Revision, clusters, version, cluster string) *snapshot.Target {
					x := refers(name, version, cluster)
					x.Revision = rev
					types := world(t, rev, "clusters "+clusters).Types
					types[typ] = types[typ].With(snapshot.NewResource(typ, x, nil))
					return snapshot.NewTarget(&snapshot.Snapshot{Revision: rev, Types: types}, nil)
				}
				s := &script{t: t, c: client{Delta: delta, Envoy: true, Now: start}}
				one := at(1, "a@1", "1", "a")
				s.c.Subscribe(request{Type: fleet.Cluster}, one)
				r := request{Type: typ}
				if !typ.LegacyWildcard(delta) {
					r.Names = []string{name}
				}
				s.c.Subscribe(r, one)
				s.steps(one)
				two := frozen(at(2, "a@1 new@1 p@bad", "2", "new"), one)
				if got := s.steps(two); len(got) > 0 {
					t.Errorf("sent %q: it names a cluster that the client does not get", got)
				}
				p := fleet.Ref{Type: fleet.Cluster, Name: "p"}
				added := fleet.Ref{Type: fleet.Cluster, Name: "new"}
				want := []fleet.Withheld{{Ref: added, By: p, Revision: 2, Frozen: true}, {Ref: fleet.Ref{Type: typ, Name: name}, By: added, Revision: 2, Frozen: true}}
				w := s.c.Waits(two, false)
				if !slices.Equal(w.Withheld, want) || w.Withheld[1].Cause(func(fleet.Ref) bool { return false }) != fleet.CauseRefused {
					t.Errorf("withheld is %+v, want %+v", w.Withheld, want)
				}
				if s.c.Settled() != 2 || !s.c.Keeps() {
					t.Errorf("settled at %d", s.c.Settled())
				}
				if got := s.c.Waits(two, false).Confirmed(2); got != 1 {
					t.Errorf("settled without a gap at %d", got)
				}
				three := at(3, "a@1 new@1", "2", "new")
				if got := strings.Join(s.steps(three), ", "); !strings.Contains(got, "new@1, |, "+slug+" "+name+"@2") {
					t.Errorf("thawed it is sent %q, want first the cluster", got)
				}
				if w := s.c.Waits(three, false); len(w.Withheld) > 0 || s.c.Settled() != 3 {
					t.Errorf("it waits for %+v", w)
				}
			})
		}
	}
}

// TestWhatAFreezeKeepsBackIsNotSettled: a cluster that changed, came or went while clusters are frozen is withheld, though nothing names it; for a
// client that asks by name of those names alone.
func TestWhatAFreezeKeepsBackIsNotSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, "[a@2 gone@2 new@2]"}, {[]string{"a"}, "[a@2]"}, {[]string{"same"}, "[]"}} {
		s := &script{t: t, c: client{Delta: true, Envoy: true, Now: start}}
		one := world(t, 1, "clusters a@1 gone@1 same@1")
		s.c.Subscribe(request{Type: fleet.Cluster, Names: c.names}, one)
		s.steps(one)
		next := world(t, 2, "clusters a@2 new@1 p@bad")
		next.Types[fleet.Cluster] = next.Types[fleet.Cluster].With(one.Types[fleet.Cluster].Get("same"))
		next.Gone[fleet.Cluster] = next.Gone[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, fleet.Row{Name: "gone", Revision: 2}, nil))
		two := frozen(next, one)
		s.step(two, "nothing", "")
		got := []string{}
		for _, h := range s.c.Waits(two, false).Withheld {
			got = append(got, fmt.Sprintf("%s@%d", h.Ref.Name, h.Revision))
			if h.TooLarge() || h.By.Name != "p" {
				t.Errorf("%+v: want it kept back for p", h)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("of %q withheld is %v, want %s", c.names, got, c.want)
		}
	}
}

// TestWhatAFrozenRouteNamesStays: the fleet deletes a cluster that the route names which the client keeps.
func TestWhatAFrozenRouteNamesStays(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{Delta: true, Envoy: true, Now: start}}
	one := world(t, 1, "clusters a@1 b@1; routes x@1>a")
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"x"}}, one)
	s.steps(one)
	two := snapshot.NewTarget(&snapshot.Snapshot{Revision: 2, Types: world(t, 2, "clusters c@1; routes x@2>c").Types}, nil)
	two.Freeze(fleet.Route, one.Types[fleet.Route])
	if got := strings.Join(s.steps(two), ", "); !strings.Contains(got, "-b") || strings.Contains(got, "-a") {
		t.Errorf("sent %q: want b to go, and a to stay for the route that is kept", got)
	}
}

// TestWhyAFrozenOutClusterIsNotSent: a client that is told of errors hears what keeps the cluster back, and that it is no missing one.
func TestWhyAFrozenOutClusterIsNotSent(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{Delta: true, Errors: true, Now: start}}
	one := world(t, 1, "clusters a@1")
	two := frozen(world(t, 2, "clusters a@1 new@1 p@bad"), one)
	s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"a", "new", "never"}}, two)
	var told []planner.Error
	for r := s.send(two); r != nil; r = s.send(two) {
		told = append(told, r.Errors...)
		s.c.Acknowledge(r.Type, r.Nonce)
	}
	if len(told) != 2 || told[0].Code != planner.NotFound || told[1].Code != planner.FailedPrecondition || !strings.Contains(told[1].Why, "withheld, refused: this node refuses clusters/p") {
		t.Errorf("told %+v", told)
	}
}
