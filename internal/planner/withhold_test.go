package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestWhatNamesNothingWaits (SEMANTICS 4.3): what newly names a route, an extension or a
// secret that is not there waits, and goes out when that is.
func TestWhatNamesNothingWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   fleet.Type
		ref   fleet.Type
		waits bool
	}{
		{fleet.Listener, fleet.Route, true},
		{fleet.Listener, fleet.Extension, true},
		{fleet.Listener, fleet.Secret, true},
		{fleet.Cluster, fleet.Secret, true},
		{fleet.Listener, fleet.Cluster, false},
		{fleet.ScopedRoute, fleet.Route, false},
		{fleet.Route, fleet.Cluster, false},
	} {
		naming := func(version, name string) fleet.Row {
			return fleet.Row{Name: "x", Version: version, Revision: 1, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: c.ref, Name: name}}}}
		}
		for _, delta := range []bool{true, false} {
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
			without := fleetAt(1, 1, map[fleet.Type][]fleet.Row{c.typ: {naming("1", "y")}})
			r := request{Type: c.typ}
			if !c.typ.LegacyWildcard(delta) {
				r.Names = []string{"x"}
			}
			s.c.Subscribe(r, without)
			if !c.waits {
				s.step(without, c.typ.Slug()+" x@1", "")
				continue
			}
			s.step(without, c.typ.Slug(), "") // a wildcard is answered
			s.step(without, "nothing", "")
			if s.c.Settled() != 1 || !s.c.Keeps() {
				t.Errorf("%s: settled at %d with what is withheld, want 1", c.typ, s.c.Settled())
			}
			want := fleet.Withheld{Ref: fleet.Ref{Type: c.typ, Name: "x"}, By: fleet.Ref{Type: c.ref, Name: "y"}, Revision: 1}
			if w := s.c.Waits(without, false); len(w.Withheld) != 1 || w.Withheld[0] != want {
				t.Errorf("%s waits for %+v, want %+v", c.typ, w, want)
			}
			with := fleetAt(2, 1, map[fleet.Type][]fleet.Row{c.typ: {naming("1", "y")}, c.ref: {row("y", "1")}})
			s.step(with, c.typ.Slug()+" x@1", "")
			if s.c.Settled() != 2 || !s.c.Waits(with, true).Empty() {
				t.Errorf("%s: settled at %d at the end, waits for %+v", c.typ, s.c.Settled(), s.c.Waits(with, true))
			}
			// What it names already may go: that newly names nothing.
			gone := fleetAt(3, 1, map[fleet.Type][]fleet.Row{c.typ: {naming("2", "y")}})
			s.step(gone, c.typ.Slug()+" x@2", "")
			// It stays at that while the next one names what is not there.
			other := fleetAt(4, 1, map[fleet.Type][]fleet.Row{c.typ: {naming("3", "z")}})
			s.step(other, "nothing", "")
			both := fleetAt(5, 1, map[fleet.Type][]fleet.Row{c.typ: {naming("3", "z"), row("w", "1")}})
			if !delta && r.Names == nil {
				s.step(both, c.typ.Slug()+" w@1 x@2", "")
			}
		}
	}
}

// TestWhatReplacesAWithheldOneKeepsBothPending: the client has neither, until it has the
// later one.
func TestWhatReplacesAWithheldOneKeepsBothPending(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	one, two := world(t, 1, "listeners l@1>r"), world(t, 2, "listeners l@2>r")
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.steps(one)
	s.steps(two)
	revisions := func(target *snapshot.Target) (got []fleet.Revision) {
		for _, h := range s.c.Waits(target, false).Withheld {
			got = append(got, h.Revision)
		}
		return got
	}
	if got := revisions(two); s.c.Settled() != 2 || !slices.Equal(got, []fleet.Revision{1, 2}) {
		t.Errorf("settled at %d, withheld of %v, want both", s.c.Settled(), got)
	}
	three := world(t, 3, "listeners l@2>r; routes r@1")
	r := s.send(three)
	if got := revisions(three); r == nil || len(got) != 2 {
		t.Errorf("on its way, it is withheld of %v, want two revisions", got)
	}
	s.c.Acknowledge(fleet.Listener, r.Nonce)
	if got := revisions(three); len(got) > 0 {
		t.Errorf("at the end it is withheld of %v", got)
	}
}

// allButClusters sends what a target brings. All is ACKed but for the clusters, the nonce of which is returned.
func (s *script) allButClusters(target *snapshot.Target) (nonce string) {
	for r := s.send(target); r != nil; r = s.send(target) {
		if r.Type == fleet.Cluster {
			nonce = r.Nonce
			continue
		}
		s.c.Acknowledge(r.Type, r.Nonce)
	}
	return nonce
}

// TestWhatCameAtLastIsNotWithheld: a withheld version that goes out as it was is what the client should have where it has settled.
func TestWhatCameAtLastIsNotWithheld(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	l := fleet.Row{Name: "l", Version: "1", Revision: 1, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: "r"}}}}
	one := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("c", "1")}, fleet.Listener: {l}})
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.steps(one)
	if w := s.c.Waits(one, false); len(w.Withheld) != 1 {
		t.Fatalf("it waits for %+v", w)
	}
	two := fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("c", "2")}, fleet.Listener: {l}, fleet.Route: {row("r", "1")}})
	s.allButClusters(two)
	if w := s.c.Waits(two, false); !w.Empty() || s.c.Settled() != 1 {
		t.Errorf("settled at %d, it waits for %+v", s.c.Settled(), w)
	}
}

// TestWhatAWithheldListenerUsesStays: its old version goes on serving, with its route,
// although the fleet has deleted that.
func TestWhatAWithheldListenerUsesStays(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	before := world(t, 1, "clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>a")
	for typ, names := range map[fleet.Type][]string{fleet.Cluster: nil, fleet.Listener: nil, fleet.Endpoint: {"a"}, fleet.Route: {"r"}} {
		s.c.Subscribe(request{Type: typ, Names: names}, before)
	}
	s.steps(before)
	if got := s.steps(world(t, 2, "listeners l@2>s")); len(got) > 0 {
		t.Fatalf("sent %q, want nothing", got)
	}
	got := s.steps(world(t, 3, "clusters b@1; endpoints b@1; listeners l@2>s; routes s@1>b"))
	want := []string{"clusters b@1", "listeners l@2", "routes -r", "|", "clusters -a", "|", "endpoints -a"}
	if !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestAReturningClientIsKnownWithoutWhatIsWithheld: its set is none that the fleet ever had.
func TestAReturningClientIsKnownWithoutWhatIsWithheld(t *testing.T) {
	t.Parallel()
	before := first(t, "listeners l@1>r; routes r@1>a")
	_, now := after(t, before, "listeners l@2>s m@1>r n@1>s; routes r@1>a")
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: before.Types[fleet.Listener].Sum().String()}, now)
	s.step(now, "listeners l@1 m@1", "")
	version := world(t, 9, "listeners l@1>r m@1>r").Types[fleet.Listener].Sum().String()
	again := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	again.c.Subscribe(request{Type: fleet.Listener, Version: version}, now)
	again.step(now, "listeners l@1 m@1", "") // one answer
	again.step(now, "nothing", "")

	// Of a set that is not known nothing is taken away.
	unknown := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	unknown.c.Subscribe(request{Type: fleet.Listener, Version: "of before"}, now)
	unknown.step(now, "listeners l@2 m@1 n@1", "")
}

// TestWarmingIsTold once clusters are unanswered for a second, and what a cluster that is
// withheld or refused holds up.
func TestWarmingIsTold(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "clusters a@1; routes r@1>a")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, target)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, target)
	s.send(target)
	if w := s.c.Waits(target, true); !w.Empty() {
		t.Errorf("waits for %+v at once", w)
	}
	s.at(time.Second)
	want := []fleet.Ref{{Type: fleet.Cluster, Name: "a"}}
	if w := s.c.Waits(target, true); !slices.Equal(w.Warming, want) || len(w.Withheld) > 0 {
		t.Errorf("waits for %+v, want a warming", w)
	}
	s.c.Refuse(fleet.Cluster, "1", says(fleet.Cluster, "a"))
	s.c.Verdicts()
	w := s.c.Waits(target, true)
	if len(w.Withheld) != 1 || w.Withheld[0].Ref.Name != "r" || w.Withheld[0].By != want[0] {
		t.Errorf("waits for %+v, want r for a", w)
	}
}

// TestWhatAReportedListenerMayUseStays: its bytes are not known.
func TestWhatAReportedListenerMayUseStays(t *testing.T) {
	t.Parallel()
	naming := fleet.Row{Name: "l", Version: "2", Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Extension, Name: "f"}}}}
	s := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	now := fleetAt(9, 1, map[fleet.Type][]fleet.Row{fleet.Listener: {naming}})
	s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, now)
	s.c.Subscribe(request{Type: fleet.Extension, Names: []string{"e"}, Versions: map[string]string{"e": "1"}}, now)
	s.step(now, "listeners", "") // one answer
	s.step(now, "nothing", "")
	s.step(fleetAt(10, 1, map[fleet.Type][]fleet.Row{fleet.Listener: {naming}, fleet.Extension: {row("f", "1")}}), "listeners l@2", "")
	s.step(fleetAt(10, 1, map[fleet.Type][]fleet.Row{fleet.Listener: {naming}, fleet.Extension: {row("f", "1")}}), "extensions -e", "")
}

// TestWhatIsLeftAloneIsThere: the node has some version of it.
func TestWhatIsLeftAloneIsThere(t *testing.T) {
	t.Parallel()
	snap := &snapshot.Snapshot{Revision: 2, Types: fleetAt(2, 1, map[fleet.Type][]fleet.Row{
		fleet.Listener: {row("l", "1", "r")}, fleet.Route: {row("r", "2")},
	}).Types}
	target := snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Route, Refused: snapshot.Reported("r", "2"), Leave: true}})
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Listener}, target)
	s.step(target, "listeners l@1", "")
}

// refers is a row that names clusters, or what stands behind "secrets/".
func refers(name, version string, names ...string) fleet.Row {
	r := row(name, version)
	for _, n := range names {
		ref := fleet.Ref{Type: fleet.Cluster, Name: n}
		if s, ok := strings.CutPrefix(n, "secrets/"); ok {
			ref = fleet.Ref{Type: fleet.Secret, Name: s}
		}
		r.Derived.Refs = append(r.Derived.Refs, ref)
	}
	return r
}

// TestARouteWaitsForAWithheldCluster: the client has all clusters that it can be given, and not that one. It goes on with
// the route that it has.
func TestARouteWaitsForAWithheldCluster(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		zero := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "1")}, fleet.Route: {refers("r", "1", "a")}})
		s.c.Subscribe(request{Type: fleet.Cluster}, zero)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, zero)
		s.steps(zero)
		rows := map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "1"), refers("b", "1", "secrets/s")}, fleet.Route: {refers("r", "2", "b")}}
		without := fleetAt(2, 1, rows)
		s.step(without, "nothing", "")
		rows[fleet.Secret] = []fleet.Row{row("s", "1")}
		with := fleetAt(3, 1, rows)
		if got := s.steps(with); len(got) < 2 || !strings.HasPrefix(got[0], "clusters") || !slices.Contains(got, "routes r@2") {
			t.Errorf("delta %v: sent %q", delta, got)
		}
	}
}

// TestARouteThatTheClientHasNotGoesWithoutACluster: a client that has none of a route is not better off without it, for all that it
// leads to, than with requests to one cluster that fail. It waits for the clusters that are on their way, and for none that
// comes only when somebody writes something.
func TestARouteThatTheClientHasNotGoesWithoutACluster(t *testing.T) {
	t.Parallel()
	refusing := func(rev fleet.Revision, rows map[fleet.Type][]fleet.Row, names ...string) *snapshot.Target {
		var all []snapshot.Exception
		for _, n := range names {
			all = append(all, snapshot.Exception{Type: fleet.Cluster, Refused: snapshot.Reported(n, "1")})
		}
		return snapshot.NewTarget(&snapshot.Snapshot{Revision: rev, Types: fleetAt(rev, 1, rows).Types}, all)
	}
	clusters := []fleet.Row{row("a", "1"), row("b", "1"), refers("c", "1", "secrets/s")}
	for _, c := range []struct {
		name        string
		typ         fleet.Type
		names       []string
		refuses     []string
		goes, early bool
	}{
		{"what it refuses", fleet.Route, []string{"a", "b"}, []string{"b"}, true, false},
		{"what is withheld", fleet.Route, []string{"a", "c"}, nil, true, false},
		{"both", fleet.Route, []string{"a", "b", "c"}, []string{"b"}, true, false},
		{"all that it names", fleet.Route, []string{"a"}, []string{"a"}, true, true},
		{"what it refuses, of a virtual host", fleet.VirtualHost, []string{"a", "b"}, []string{"b"}, true, false},
		{"what it refuses, of a listener", fleet.Listener, []string{"a", "b"}, []string{"b"}, false, false}, // Envoy would refuse it
	} {
		for _, delta := range []bool{true, false} {
			if !delta && c.typ == fleet.VirtualHost {
				continue
			}
			t.Run(fmt.Sprintf("%s, delta %v", c.name, delta), func(t *testing.T) {
				t.Parallel()
				s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
				target := refusing(1, map[fleet.Type][]fleet.Row{fleet.Cluster: clusters, c.typ: {refers("r/v", "1", c.names...)}}, c.refuses...)
				s.c.Subscribe(request{Type: fleet.Cluster}, target)
				r := request{Type: c.typ, Names: []string{"r/v"}}
				if c.typ == fleet.Listener {
					r.Names = nil
				}
				s.c.Subscribe(r, target)
				got := s.send(target)
				if got == nil || got.Type != fleet.Cluster {
					t.Fatalf("sent %+v, want clusters", got)
				}
				early, has := "", c.typ.Slug()+" r/v@1"
				if next := s.send(target); next != nil && c.typ != fleet.Listener {
					early = told(next.Response)
					s.c.Acknowledge(c.typ, next.Nonce)
				}
				if (early != "") != c.early {
					t.Fatalf("sent %q before the clusters are there", early)
				}
				s.c.Acknowledge(fleet.Cluster, got.Nonce)
				all := append([]string{early}, s.steps(target)...)
				if slices.Contains(all, has) != c.goes {
					t.Fatalf("sent %q at last", all)
				}
				if !c.goes {
					return
				}
				for _, w := range s.c.Waits(target, false).Withheld {
					if w.Ref.Type == c.typ {
						t.Errorf("the client has it, and it waits for %v", w.By)
					}
				}
				// A later one that newly names what it cannot have waits: the client goes on with the one that it has.
				later := refusing(2, map[fleet.Type][]fleet.Row{fleet.Cluster: append([]fleet.Row{row("z", "1")}, clusters...), c.typ: {refers("r/v", "2", append(c.names, "z")...)}}, append(c.refuses, "z")...)
				if all := s.steps(later); len(all) > 0 {
					t.Errorf("sent %q, want nothing", all)
				}
			})
		}
	}
}

// TestWhatIsWithheldIsToldWhileItsTypeIsUnanswered, before a step has come to it.
func TestWhatIsWithheldIsToldWhileItsTypeIsUnanswered(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	one, two := world(t, 1, "listeners l@1"), world(t, 2, "listeners l@1 m@1>r")
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.send(one)
	w := s.c.Waits(two, true)
	if len(w.Withheld) != 1 || w.Withheld[0].Ref.Name != "m" || w.Withheld[0].By != (fleet.Ref{Type: fleet.Route, Name: "r"}) {
		t.Errorf("waits for %+v, want m for r", w)
	}
}

// TestARefusedRouteThatIsWithheldKeepsNoCluster: the client refused a route to a cluster that the fleet has
// deleted, and the next version of the route is withheld. What the client may have of it ends.
func TestARefusedRouteThatIsWithheldKeepsNoCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		delta, before bool
		want          []string
	}{
		{"delta, it had none", true, false, []string{"routes -r", "routes r@2", "clusters -a", "|"}},
		{"delta, it had one", true, true, []string{"routes r@0", "clusters -a", "|"}},
		{"state of the world, it had one", false, true, []string{"routes r@0", "clusters z@1", "|"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, c: client{t: t, Delta: c.delta, Envoy: true, Now: start}}
			zero := world(t, 1, "clusters a@1 z@1; routes r@0>z")
			one := world(t, 2, "clusters a@1 z@1; routes r@1>a")
			s.c.Subscribe(request{Type: fleet.Cluster}, zero)
			s.steps(zero)
			s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
			if c.before {
				s.steps(zero)
			}
			s.step(one, "routes r@1", says(fleet.Route, "r"))
			two := world(t, 3, "clusters b@1 z@1; routes r@2>b")
			withheld := snapshot.NewTarget(&snapshot.Snapshot{Revision: 3, Types: two.Types}, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("b", "1")}})
			if got := s.steps(withheld); !slices.Equal(got, c.want) {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

// TestARefusedRouteThatIsOnItsWayIsNotTakenAway: its next version waits for a cluster's ACK alone.
func TestARefusedRouteThatIsOnItsWayIsNotTakenAway(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		zero := world(t, 1, "clusters a@1; routes r@0>a")
		s.c.Subscribe(request{Type: fleet.Cluster}, zero)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, zero)
		s.steps(zero)
		s.step(world(t, 2, "clusters a@1; routes r@1>a"), "routes r@1", says(fleet.Route, "r"))
		two := world(t, 3, "clusters a@1 b@1; routes r@2>b")
		clusters := s.send(two)
		s.step(two, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
		s.step(two, "routes r@2", "")
	}
}

// TestWhatWasWithheldIsKnownByItsReport: a client that comes back has what it had of a withheld listener before that, and
// says so: what it names is known, and nothing that names something missing goes out.
func TestWhatWasWithheldIsKnownByItsReport(t *testing.T) {
	t.Parallel()
	settled := &snapshot.Snapshot{Types: world(t, 4, "clusters a@1 x@1; listeners l@1>r m@1; routes r@1>a").Types}
	before := &snapshot.Snapshot{Types: world(t, 5, "clusters a@1 x@1; listeners l@2>q m@1; routes r@1>a").Types, Revision: 5}
	before.Unknown = []fleet.Ref{{Type: fleet.Listener, Name: "l"}}
	before.Types[fleet.Listener] = before.Types[fleet.Listener].With(settled.Types[fleet.Listener].Get("l"))
	now := snapshot.NewTarget(&snapshot.Snapshot{Types: world(t, 6, "clusters a@1; listeners l@2>q m@2; routes r@1>a").Types, Revision: 6}, nil)
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start, Before: before, Past: planner.Past{Settled: 4}}}
		for _, r := range []request{{Type: fleet.Cluster}, {Type: fleet.Listener}, {Type: fleet.Route, Names: []string{"r"}}} {
			if r.Version = settled.Types[r.Type].Sum().String(); delta {
				r.Version, r.Versions = "", make(map[string]string)
				for x := range settled.Types[r.Type].All() {
					r.Versions[x.Name] = x.Version
				}
			}
			s.c.Subscribe(r, now)
		}
		s.c.Opened()
		got := strings.Join(s.steps(now), ", ")
		if strings.Contains(got, "l@2") || !strings.Contains(got, "m@2") {
			t.Errorf("delta %v: %s: l names a route that is not there", delta, got)
		}
		if delta && !strings.Contains(got, "clusters -x") {
			t.Errorf("%s: nothing names x, and it stays", got)
		}
		if w := s.c.Waits(now, false); len(w.Withheld) != 1 || w.Withheld[0].Ref.Name != "l" {
			t.Errorf("delta %v: withheld is %+v", delta, w.Withheld)
		}
	}
}

// TestWhatLackedAClusterIsOfferedAgain: an Envoy refuses a listener whose own routes name a cluster that is not there, and others in which it
// checks clusters. The content that the stream refused goes out again when the cluster comes: one that did not exist, or that the node refused.
func TestWhatLackedAClusterIsOfferedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ    fleet.Type
		before string // what the view has of the cluster: the client is not given it
	}{{fleet.Listener, ""}, {fleet.Route, ""}, {fleet.Extension, ""}, {fleet.Route, "bad"}} {
		for _, delta := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %q delta %v", c.typ.Slug(), c.before, delta), func(t *testing.T) {
				t.Parallel()
				at := func(rev fleet.Revision, cluster string, without bool) *snapshot.Target {
					rows := map[fleet.Type][]fleet.Row{c.typ: {refers("x", "1", "a", "b", "z")}, fleet.Cluster: {row("b", "1")}}
					var es []snapshot.Exception
					if cluster != "" {
						rows[fleet.Cluster] = append(rows[fleet.Cluster], row("a", cluster))
					}
					if cluster == "bad" {
						es = append(es, snapshot.Exception{Type: fleet.Cluster, Refused: snapshot.Reported("a", "bad")})
					}
					if without {
						es = append(es, snapshot.Exception{Type: c.typ, Refused: snapshot.Reported("x", "1")})
					}
					return snapshot.NewTarget(&snapshot.Snapshot{Revision: rev, Types: fleetAt(rev, 1, rows).Types}, es)
				}
				s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
				first := at(1, c.before, false)
				s.c.Subscribe(request{Type: fleet.Cluster}, first)
				r := request{Type: c.typ}
				if c.typ != fleet.Listener {
					r.Names = []string{"x"}
				}
				s.c.Subscribe(r, first)
				s.step(first, "clusters b@1", "")
				got := s.send(first)
				if got == nil || describe(got) != c.typ.Slug()+" x@1" {
					t.Fatalf("sent %v, want what names the cluster", got)
				}
				s.c.Refuse(c.typ, got.Nonce, "Error adding/updating listener(s) x: route: unknown cluster 'z'\n")
				vs := s.c.Verdicts()
				want := []snapshot.Lack{{Name: "z"}, {Name: "a", Version: c.before}} // what the words name first
				if len(vs) != 1 || len(vs[0].Blame) != 1 || !slices.Equal(vs[0].Blame[0].Lacked, want) {
					t.Errorf("verdicts %+v, want x for lack of %v", vs, want)
				}
				s.steps(at(1, c.before, true))
				if again := s.steps(at(2, c.before, false)); slices.Contains(again, c.typ.Slug()+" x@1") {
					t.Errorf("sent %q: nothing that it lacked has come", again)
				}
				s.c.Verdicts() // it refused that
				s.steps(at(2, c.before, true))
				next := at(3, "1", false)
				if sent := s.send(next); sent == nil || sent.Type != fleet.Cluster {
					t.Fatalf("sent %v, want clusters first", sent)
				} else {
					s.c.Acknowledge(fleet.Cluster, sent.Nonce)
				}
				s.step(next, c.typ.Slug()+" x@1", "")
			})
		}
	}
}

// TestWhatTheClientStillHasIsNotLacked: a cluster that was deleted goes last, so the client has it still as it refuses what names it. That the
// cluster comes again is then no reason to send again what was refused. It is one if the client may have been without it.
func TestWhatTheClientStillHasIsNotLacked(t *testing.T) {
	t.Parallel()
	at := func(rev fleet.Revision, clusters ...string) *snapshot.Target {
		rows := map[fleet.Type][]fleet.Row{fleet.Route: {refers("x", "1", "a"), refers("y", "1", "a")}}
		for _, name := range clusters {
			rows[fleet.Cluster] = append(rows[fleet.Cluster], row(name, "1"))
		}
		return snapshot.NewTarget(&snapshot.Snapshot{Revision: rev, Types: fleetAt(rev, 1, rows).Types}, nil)
	}
	routes := func(s *script, target *snapshot.Target, names ...string) *response {
		s.c.Subscribe(request{Type: fleet.Route, Names: names}, target)
		return s.send(target)
	}
	for _, c := range []struct {
		what   string
		lacked bool
		// refused names the cluster a, and is sent to a client that had it in the beginning; clusters are unanswered then.
		send func(s *script) (refused, clusters *response)
	}{
		{"it has it", false, func(s *script) (refused, clusters *response) { return routes(s, at(2, "b"), "x"), nil }},
		{"it has it, and words name nothing", false, func(s *script) (refused, clusters *response) { return routes(s, at(2, "b"), "x", "y"), nil }},
		{"it gets it before it refuses", false, func(s *script) (refused, clusters *response) {
			s.c.Acknowledge(fleet.Cluster, s.send(at(2, "b")).Nonce)
			clusters = s.send(at(3, "a", "b"))
			refused = routes(s, at(4, "b"), "x")
			s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
			return refused, nil
		}},
		{"it is on its way", true, func(s *script) (refused, clusters *response) {
			s.c.Acknowledge(fleet.Cluster, s.send(at(2, "b")).Nonce)
			clusters = s.send(at(3, "a", "b"))
			return routes(s, at(4, "b"), "x"), clusters
		}},
		{"it is being taken away", true, func(s *script) (refused, clusters *response) {
			clusters = s.send(at(2, "b"))
			return routes(s, at(2, "b"), "x"), clusters
		}},
		{"it is in doubt", true, func(s *script) (refused, clusters *response) {
			s.c.Refuse(fleet.Cluster, s.send(at(2, "b")).Nonce, "no")
			s.c.Verdicts()
			clusters = routes(s, at(2, "b"), "x") // which say again that it has a
			return s.send(at(2, "b")), clusters
		}},
	} {
		for _, delta := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, delta %v", c.what, delta), func(t *testing.T) {
				t.Parallel()
				s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
				s.c.Subscribe(request{Type: fleet.Cluster}, at(1, "a", "b"))
				s.step(at(1, "a", "b"), "clusters a@1 b@1", "")
				refused, clusters := c.send(s)
				if refused == nil || refused.Type != fleet.Route {
					t.Fatalf("sent %s, want routes", describe(refused))
				}
				s.c.Refuse(fleet.Route, refused.Nonce, "no")
				for _, v := range s.c.Verdicts() {
					for _, b := range v.Blame {
						if (len(b.Lacked) > 0) != c.lacked {
							t.Errorf("%s lacked %v, want %v", b.Refused.Name, b.Lacked, c.lacked)
						}
					}
				}
				if clusters != nil {
					s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
				}
				back := at(5, "a", "b")
				s.steps(back.Except([]snapshot.Exception{{Type: fleet.Route, Refused: snapshot.Reported("x", "1")}, {Type: fleet.Route, Refused: snapshot.Reported("y", "1")}}))
				again := false // whatever ends the exceptions
				for sent := s.send(back); sent != nil && !again; sent = s.send(back) {
					if again = describe(sent) == describe(refused); sent.Type == fleet.Route {
						s.c.Refuse(fleet.Route, sent.Nonce, "no")
					} else {
						s.c.Acknowledge(sent.Type, sent.Nonce)
					}
				}
				if again != c.lacked {
					t.Errorf("what was refused is sent again: %v, want %v", again, c.lacked)
				}
			})
		}
	}
}
