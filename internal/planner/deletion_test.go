package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

func emptied(t fleet.Type, name string) string {
	return t.Slug() + " " + name + "@" + snapshot.Absent(t, name).Version
}

// TestDeletedEndpointsAreEmptied (SEMANTICS 4.5): while their cluster lives, whatever happens to it, and on the next stream too. They leave
// with it.
func TestDeletedEndpointsAreEmptied(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		one := world(t, 1, "clusters a@1; endpoints a@1")
		s.c.Subscribe(request{Type: fleet.Cluster}, one)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, one)
		s.steps(one)
		two := world(t, 2, "clusters a@1")
		s.step(two, emptied(fleet.Endpoint, "a"), "")
		s.step(two, "nothing", "")
		if s.c.Settled() != 2 {
			t.Errorf("delta=%v: settled at %d, want 2", delta, s.c.Settled())
		}
		three := world(t, 3, "clusters a@2")
		s.step(three, "clusters a@2", "")
		s.step(three, emptied(fleet.Endpoint, "a"), "")
		s.step(three, "nothing", "")

		r := request{Type: fleet.Endpoint, Names: []string{"a"}, Version: s.version(fleet.Endpoint)}
		clusters := request{Type: fleet.Cluster, Version: three.Types[fleet.Cluster].Sum().String()}
		if delta {
			r.Version, r.Versions = "", map[string]string{"a": snapshot.Absent(fleet.Endpoint, "a").Version}
			clusters.Version, clusters.Versions = "", map[string]string{"a": "2"}
		}
		next := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		next.c.Subscribe(clusters, three)
		next.c.Subscribe(r, three)
		next.step(three, map[bool]string{true: "clusters", false: "nothing"}[delta], "") // one answer
		next.step(three, "nothing", "")
		next.step(world(t, 4, "clusters a@2; endpoints a@2"), "endpoints a@2", "")

		five := world(t, 5, "listeners l@1")
		s.step(five, map[bool]string{true: "clusters -a", false: "clusters"}[delta], "")
	}
}

// TestADeletedRuntimeIsEmptied in state of the world, which cannot say that it is no more; one that never was is answered alike.
func TestADeletedRuntimeIsEmptied(t *testing.T) {
	t.Parallel()
	one, two := world(t, 1, "runtimes x@1"), world(t, 2, "clusters a@1")
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"x"}}, one)
	s.step(one, "runtimes x@1", "")
	s.step(two, emptied(fleet.Runtime, "x"), "")
	s.step(two, "nothing", "")
	if s.c.Settled() != 2 {
		t.Errorf("settled at %d, want 2", s.c.Settled())
	}
	next := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	next.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"x"}, Version: s.version(fleet.Runtime)}, two)
	next.step(two, "nothing", "")
	next.step(one, "runtimes x@1", "")

	anew := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	anew.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"x"}}, two)
	anew.step(two, emptied(fleet.Runtime, "x"), "")

	delta := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	delta.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"x"}}, one)
	delta.step(one, "runtimes x@1", "")
	delta.step(two, "runtimes -x", "")
}

// TestWhatIsStillNamedStays: a route, an extension or a secret that was deleted, and the clusters that it names, while what the client
// has goes on naming it. Then it goes.
func TestWhatIsStillNamedStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ by, named fleet.Type }{
		{fleet.Listener, fleet.Route}, {fleet.Listener, fleet.Extension}, {fleet.Listener, fleet.Secret}, {fleet.Cluster, fleet.Secret}, {fleet.ScopedRoute, fleet.Route},
	} {
		for _, delta := range []bool{true, false} {
			naming := func(version string, refs ...fleet.Ref) fleet.Row {
				return fleet.Row{Name: "x", Version: version, Derived: fleet.Derived{Refs: refs}}
			}
			y := fleet.Ref{Type: c.named, Name: "y"}
			named := fleet.Row{Name: "y", Version: "1"}
			clusters := []fleet.Row{}
			if c.named != fleet.Secret {
				named.Derived.Refs = []fleet.Ref{{Type: fleet.Cluster, Name: "c"}}
				clusters = append(clusters, row("c", "1"))
			}
			all := map[fleet.Type][]fleet.Row{fleet.Cluster: clusters}
			all[c.by] = append(all[c.by], naming("1", y))
			all[c.named] = append(all[c.named], named)
			one := fleetAt(1, 1, all)
			s := &script{t: t, c: client{t: t, Delta: delta, Now: start}}
			s.c.Subscribe(request{Type: fleet.Cluster}, one)
			s.c.Subscribe(request{Type: c.by}, one)
			s.c.Subscribe(request{Type: c.named, Names: []string{"y"}}, one)
			s.steps(one)
			what := c.by.Slug() + " and " + c.named.Slug()
			two := fleetAt(2, 1, map[fleet.Type][]fleet.Row{c.by: {naming("1", y)}})
			s.step(two, "nothing", "")
			if s.c.Settled() != 2 {
				t.Errorf("%s, delta=%v: settled at %d, want 2", what, delta, s.c.Settled())
			}
			three := fleetAt(3, 1, map[fleet.Type][]fleet.Row{c.by: {naming("2", y)}})
			for r := s.send(three); r != nil; r = s.send(three) {
				if r.Type != c.by {
					t.Errorf("%s, delta=%v: sent %s", what, delta, describe(r))
				}
				s.c.Acknowledge(r.Type, r.Nonce)
			}
			four := fleetAt(4, 1, map[fleet.Type][]fleet.Row{c.by: {naming("3")}})
			said := map[fleet.Type]bool{}
			for r := s.send(four); r != nil; r = s.send(four) {
				said[r.Type] = true
				s.c.Acknowledge(r.Type, r.Nonce)
			}
			if s.c.Settled() != 4 || delta && !said[c.named] || c.named != fleet.Secret && !said[fleet.Cluster] {
				t.Errorf("%s, delta=%v: at the end settled at %d, and %v were sent", what, delta, s.c.Settled(), said)
			}
		}
	}
}

// TestAnEnvoyGivesExtensionsUpItself: taken away before, it answers the last connections of a listener that is gone with 500.
func TestAnEnvoyGivesExtensionsUpItself(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	one := world(t, 1, "listeners l@1; extensions e@1")
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.c.Subscribe(request{Type: fleet.Extension, Names: []string{"e"}}, one)
	s.steps(one)
	two := world(t, 2, "clusters a@1")
	s.step(two, "listeners -l", "")
	s.step(two, "nothing", "")
	if s.c.Settled() != 2 {
		t.Errorf("settled at %d, want 2", s.c.Settled())
	}
	s.c.Subscribe(request{Type: fleet.Extension, Dropped: []string{"e"}}, two)
	s.step(two, "nothing", "")
}

// TestScopedRoutesThatNothingUses: an Envoy without a listener that takes some leaves an empty set unanswered in state of the world. It has taken it
// when it has answered what was sent behind it, and not before.
func TestScopedRoutesThatNothingUses(t *testing.T) {
	t.Parallel()
	one, two := world(t, 1, "listeners l@1; scoped-routes s@1"), world(t, 2, "listeners l@1")
	begin := func(c client) *script {
		s := &script{t: t, c: c}
		s.c.Subscribe(request{Type: fleet.Listener}, one)
		s.c.Subscribe(request{Type: fleet.ScopedRoute}, one)
		s.steps(one)
		return s
	}
	for name, refuses := range map[string]bool{"taken": false, "refused": true} {
		s := begin(client{t: t, Envoy: true, Now: start})
		unanswered := s.send(two)
		if got := describe(unanswered); got != "scoped-routes" {
			t.Fatalf("%s: got %s, want an empty set", name, got)
		}
		behind := s.send(two)
		if behind == nil || describe(behind) != "listeners l@1" {
			t.Fatalf("%s: no listeners behind it", name)
		}
		if s.c.Settled() != 1 || s.c.Clean() {
			t.Errorf("%s: before the answer settled at %d, clean %v", name, s.c.Settled(), s.c.Clean())
		}
		if refuses {
			s.c.Refuse(fleet.Listener, behind.Nonce, "no")
			s.c.Verdicts()
			s.step(world(t, 3, "listeners l@1; scoped-routes s@2"), "scoped-routes s@2", "") // goes on
			continue
		}
		s.c.Acknowledge(fleet.Listener, behind.Nonce)
		s.step(two, "nothing", "")
		if s.c.Settled() != 2 || !s.c.Clean() {
			t.Errorf("settled at %d, clean %v, want 2", s.c.Settled(), s.c.Clean())
		}
		s.c.Acknowledge(fleet.ScopedRoute, unanswered.Nonce) // a listener has come back, and waits for them
		s.step(two, "scoped-routes", "")
		s.step(two, "nothing", "")
	}
	s := begin(client{t: t, Envoy: true, Now: start}) // which uses them
	s.step(two, "scoped-routes", "")
	s.step(two, "listeners l@1", "")
	s.step(two, "nothing", "")
	s = begin(client{t: t, Now: start}) // who is no Envoy is waited for
	s.step(two, "scoped-routes", "")
	s.step(two, "nothing", "")
	s = begin(client{t: t, Delta: true, Envoy: true, Now: start}) // and in delta it answers
	s.step(two, "scoped-routes -s", "")
	s.step(two, "nothing", "")
}

// TestScopedRoutesAreSentBehindListeners: in delta an Envoy subscribes to them once per stream, whatever listeners come and go. One that takes some is
// followed by all of them or, if there are none, by an answer: a listener that is new or changed may take them from another source than before.
func TestScopedRoutesAreSentBehindListeners(t *testing.T) {
	t.Parallel()
	at := func(rev fleet.Revision, listener string, scopes ...fleet.Row) *snapshot.Target {
		var listeners []fleet.Row
		if listener != "" {
			listeners = append(listeners, fleet.Row{Name: "l", Version: listener, Derived: fleet.Derived{Scopes: listener != "plain"}})
		}
		return fleetAt(rev, 1, map[fleet.Type][]fleet.Row{fleet.Listener: listeners, fleet.ScopedRoute: scopes})
	}
	s1, u1 := row("s", "1"), row("u", "1")
	for _, envoy := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: true, Envoy: envoy, Now: start}}
		one := at(1, "1", s1)
		s.c.Subscribe(request{Type: fleet.Listener}, one)
		s.step(one, "listeners l@1", "")
		s.c.Subscribe(request{Type: fleet.ScopedRoute}, one)
		s.step(one, "scoped-routes s@1", "")
		behind := func(target *snapshot.Target, listener, scopes string) {
			t.Helper()
			s.step(target, listener, "")
			if envoy && scopes != "" {
				s.step(target, scopes, "")
			}
			s.step(target, "nothing", "")
		}
		behind(at(2, "2", s1), "listeners l@2", "scoped-routes s@1")
		behind(at(3, "", s1), "listeners -l", "")
		behind(at(4, "2", s1), "listeners l@2", "scoped-routes s@1")
		behind(at(5, "plain", s1), "listeners l@plain", "")
		s.step(at(6, "plain"), "scoped-routes -s", "")
		behind(at(7, "1"), "listeners l@1", "scoped-routes")
		seven := at(7, "1", s1, u1)
		s.step(seven, "scoped-routes s@1 u@1", "")

		// It was away as the listener came, and says what it has of scopes when that is on its way.
		eight := at(8, "3", s1, u1)
		s = &script{t: t, c: client{t: t, Delta: true, Envoy: envoy, Now: start}}
		s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, eight)
		r := s.send(eight)
		s.c.Subscribe(request{Type: fleet.ScopedRoute, Versions: map[string]string{"s": "1", "u": "1"}}, eight)
		if envoy {
			s.step(eight, "scoped-routes s@1 u@1", "")
		}
		s.c.Acknowledge(fleet.Listener, r.Nonce)
		s.step(eight, "nothing", "")
	}
}
