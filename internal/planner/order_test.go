package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// world reads a fleet out of words: "clusters a@1 b@1; routes r@2>a,b". A cluster gets its
// endpoints under its own name; what stands behind > is what a resource names, clusters
// or, of a listener and a scope, routes.
func world(t *testing.T, rev fleet.Revision, words string) *snapshot.Target {
	t.Helper()
	s := &snapshot.Snapshot{Revision: rev}
	for part := range strings.SplitSeq(words, ";") {
		fields := strings.Fields(part)
		typ, ok := fleet.TypeFromSlug(fields[0])
		if !ok {
			t.Fatalf("no type is called %q", fields[0])
		}
		for _, f := range fields[1:] {
			f, refs, _ := strings.Cut(f, ">")
			name, version, _ := strings.Cut(f, "@")
			row := fleet.Row{Name: name, Version: version, Revision: rev}
			if typ == fleet.Cluster {
				row.Derived.EDSName = name
			}
			for ref := range strings.SplitSeq(refs, ",") {
				to := fleet.Cluster
				if typ == fleet.Listener || typ == fleet.ScopedRoute {
					to = fleet.Route
				}
				if ref != "" {
					row.Derived.Refs = append(row.Derived.Refs, fleet.Ref{Type: to, Name: ref})
				}
			}
			s.Types[typ] = s.Types[typ].With(snapshot.NewResource(typ, row, []byte(f)))
		}
	}
	return snapshot.NewTarget(s, nil)
}

// steps plays a change and returns the responses in order, each ACKed at once; but of the
// clusters, as Envoy does it, when nothing else is left to send. "|" stands where that
// ACK was waited for.
func (s *script) steps(target *snapshot.Target) []string {
	s.t.Helper()
	var out []string
	var held *response
	for range 100 {
		r := s.send(target)
		switch {
		case r != nil && r.Type == fleet.Cluster:
			held = r
		case r != nil:
			s.c.Acknowledge(r.Type, r.Nonce)
		case held == nil:
			return out
		default:
			s.c.Acknowledge(fleet.Cluster, held.Nonce)
			held = nil
			out = append(out, "|")
			continue
		}
		out = append(out, describe(r))
	}
	s.t.Fatalf("no end: %v", out)
	return nil
}

// TestOrder is make before break, step by step (PROTOCOL rule 19).
func TestOrder(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		before, after string
		delta, sotw   string
	}{
		"a route moves to a new cluster": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters b@1; endpoints b@1; routes r@2>b",
			"clusters b@1, endpoints b@1, |, routes r@2, clusters -a, |, endpoints -a",
			"clusters a@1 b@1, endpoints b@1, |, routes r@2, clusters b@1, |",
		},
		"a changed cluster keeps nothing waiting, and is sent its endpoints": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters a@2; endpoints a@1; routes r@2>a",
			"clusters a@2, endpoints a@1, routes r@2, |",
			"clusters a@2, endpoints a@1, routes r@2, |",
		},
		"all that names a cluster waits for it, listeners first": {
			"clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>a; scoped-routes s@1>r; virtual-hosts r/h@1>a",
			"clusters a@1 b@1; endpoints a@1 b@1; listeners l@2>r m@1>r; routes r@2>b; scoped-routes s@2>r; virtual-hosts r/h@2>b",
			"clusters b@1, endpoints b@1, listeners l@2 m@1, scoped-routes s@2, |, routes r@2, virtual-hosts r/h@2",
			"clusters a@1 b@1, endpoints b@1, listeners l@2 m@1, scoped-routes s@2, |, routes r@2",
		},
		"a cluster goes when the route that named it is gone, the rest in between": {
			"clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>a; runtimes x@1; extensions e@1", "routes r@2; runtimes x@2; extensions e@2",
			"listeners -l, routes r@2, runtimes x@2, extensions e@2, clusters -a, |, endpoints -a",
			"listeners, routes r@2, runtimes x@2, extensions e@2, clusters, |",
		},
		"a route names a cluster that the fleet does not have: it may be in the bootstrap": {
			"clusters a@1; endpoints a@1; routes r@1>a", "clusters a@1; endpoints a@1; routes r@2>static",
			"routes r@2", "routes r@2",
		},
		"two routes swap their clusters": {
			"clusters a@1 b@1; endpoints a@1 b@1; routes r@1>a s@1>b", "clusters a@1 b@1; endpoints a@1 b@1; routes r@2>b s@2>a",
			"routes r@2 s@2", "routes r@2 s@2",
		},
		"a secret and endpoints change by themselves": {
			"clusters a@1; endpoints a@1; secrets k@1", "clusters a@1; endpoints a@2; secrets k@2",
			"endpoints a@2, secrets k@2", "endpoints a@2, secrets k@2",
		},
	} {
		for _, delta := range []bool{true, false} {
			want := x.sotw
			if delta {
				want = x.delta
			}
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true}}
			before := world(t, 1, x.before)
			for typ, names := range map[fleet.Type][]string{
				fleet.Cluster: nil, fleet.Listener: nil, fleet.ScopedRoute: nil, fleet.VirtualHost: nil,
				fleet.Endpoint: {"a", "b"}, fleet.Route: {"r", "s"}, fleet.Secret: {"k"}, fleet.Runtime: {"x"}, fleet.Extension: {"e"},
			} {
				if typ == fleet.VirtualHost && !delta {
					continue
				}
				s.c.Subscribe(request{Type: typ, Names: names}, before)
			}
			s.steps(before)
			got := strings.Join(s.steps(world(t, 2, x.after)), ", ")
			if got != want {
				t.Errorf("%s (delta=%v):\ngot  %s\nwant %s", name, delta, got, want)
			}
		}
	}
}

// TestWaitingRouteDoesNotGoBack: what stands in for a route that waits is never older than
// what the client has.
func TestWaitingRouteDoesNotGoBack(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	first := world(t, 1, "clusters a@1; routes r@1>a")
	s.c.Subscribe(request{Type: fleet.Cluster}, first)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, first)
	if got := s.steps(first); !slices.Contains(got, "routes r@1") {
		t.Fatalf("got %v, want r@1 among it", got)
	}
	second := world(t, 2, "clusters a@1 b@1; routes r@2>a")
	if got := describe(s.send(second)); got != "clusters b@1" { // and is not answered
		t.Fatalf("got %s, want b@1", got)
	}
	s.step(second, "routes r@2", "")
	s.step(world(t, 3, "clusters a@1 b@1 c@1; routes r@3>c"), "nothing", "")
}

// TestWhatMayArriveNamesItsCluster: the client gave a route up and took it up again while that was on its way, so it may take
// it in or not. The cluster that it names stays until more is known.
func TestWhatMayArriveNamesItsCluster(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1; routes r@1>a")
	s := &script{t: t, c: client{t: t, Delta: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.step(one, "clusters a@1", "")
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	routes := s.send(one)
	s.c.Subscribe(request{Type: fleet.Route, Dropped: []string{"r"}}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	two := world(t, 2, "clusters b@1; routes r@2>b")
	s.step(two, "clusters b@1", "")
	s.step(two, "nothing", "")
	s.c.Acknowledge(fleet.Route, routes.Nonce)
	s.step(two, "routes r@2", "")
	s.step(two, "clusters -a", "")
}

// TestAListenersRouteInFlightNamesItsCluster: the listener that is about to leave a route may have its newer version already.
func TestAListenersRouteInFlightNamesItsCluster(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1 b@1; listeners l@1>r; routes r@1>a s@1>a")
	two := world(t, 2, "clusters a@1 b@1; listeners l@1>r; routes r@2>b s@1>a")
	three := world(t, 3, "clusters a@1; listeners l@2>s; routes r@2>b s@1>a")
	s := &script{t: t, c: client{t: t, Delta: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r", "s"}}, one)
	s.steps(one)
	if got := describe(s.send(two)); got != "routes r@2" { // and is not answered
		t.Fatalf("got %s, want r@2", got)
	}
	listener := s.send(three)
	if got := describe(listener); got != "listeners l@2" {
		t.Fatalf("got %s, want l@2", got)
	}
	s.step(three, "nothing", "")
	s.c.Acknowledge(fleet.Listener, listener.Nonce)
	s.step(three, "clusters -b", "")
}

// TestARefusedRemovalMayHaveBeenTakenIn: the cluster may be gone, so what names it waits until it is back for sure.
func TestARefusedRemovalMayHaveBeenTakenIn(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1 b@1; routes r@1>b")
	s := &script{t: t, c: client{t: t, Delta: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.steps(one)
	s.step(world(t, 2, "clusters b@1; routes r@1>b"), "clusters -a", "no")
	three := world(t, 3, "clusters a@1 b@1; routes r@2>a")
	back := s.send(three)
	if got := describe(back); got != "clusters a@1" {
		t.Fatalf("got %s, want a@1", got)
	}
	s.step(three, "nothing", "")
	s.c.Acknowledge(fleet.Cluster, back.Nonce)
	s.step(three, "routes r@2", "")
}

// TestWhatWaitsIsTakenFromClustersThatAllCame: a part of a later target's clusters does not take the place of an earlier
// target whose clusters the client has.
func TestWhatWaitsIsTakenFromClustersThatAllCame(t *testing.T) {
	t.Parallel()
	target := func(rev fleet.Revision, version, to string, clusters ...string) *snapshot.Target {
		all := map[fleet.Type][]fleet.Row{fleet.Route: {{Name: "r", Version: version, Revision: rev, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: to}}}}}}
		for _, c := range clusters {
			all[fleet.Cluster] = append(all[fleet.Cluster], row(c, "1"))
		}
		return fleetAt(rev, 1_000_000, all)
	}
	one, two, three := target(1, "1", "a", "a"), target(2, "2", "b", "a", "b"), target(3, "3", "h", "a", "b", "c", "d", "e", "f", "g", "h")
	s := &script{t: t, c: client{t: t, Delta: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.step(one, "clusters a@1", "")
	routes := s.send(one) // is not answered
	s.step(two, "clusters b@1", "")
	s.step(three, "clusters c@1 d@1 e@1", "")
	s.send(three)
	s.c.Acknowledge(fleet.Route, routes.Nonce)
	s.step(three, "routes r@2", "")
}

// TestAnEarlierRouteWaitsForEndpointsToo: a route of a target that was passed over does not go out to a cluster whose endpoints the client
// never had and the fleet has no more. Envoy would answer with 503 until the newest one follows. That there are none is said in state of the world.
func TestAnEarlierRouteWaitsForEndpointsToo(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, had := range []bool{true, false} {
			s, one := routed(t, delta)
			two, three := world(t, 2, "clusters b@1; endpoints b@1; routes r@2>b"), world(t, 3, "clusters c@1; endpoints c@1; routes r@3>c")
			clusters := s.send(two)
			s.asks(one, "a", "b")
			switch {
			case had:
				s.step(two, "endpoints b@1", "")
			case delta:
				s.step(three, "endpoints -b", "")
			default:
				s.step(three, "endpoints "+none("b"), "")
			}
			s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
			clusters = s.send(three)
			s.asks(three, "a", "b", "c")
			s.step(three, "endpoints c@1", "")
			s.step(three, map[bool]string{true: "routes r@2", false: "nothing"}[had], "")
			s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
			s.step(three, "routes r@3", "")
		}
	}
}

// TestARouteWaitsForEndpointsBehindAResponse: a cluster comes back while the client is told that it has no endpoints, or gets others. The route that
// goes to it waits until they were sent.
func TestARouteWaitsForEndpointsBehindAResponse(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s, one := routed(t, delta)
		clusters := s.send(world(t, 2, "clusters a@1 b@1; endpoints a@1 b@1; routes r@2>b"))
		s.asks(one, "a", "b")
		endpoints := s.send(world(t, 3, "clusters a@1; endpoints a@2; routes r@1>a"))
		if want := map[bool]string{true: "endpoints a@2 -b", false: "endpoints a@2 " + none("b")}[delta]; endpoints == nil || describe(endpoints) != want {
			t.Fatalf("delta=%v: got %v, want %s", delta, endpoints, want)
		}
		s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
		four := world(t, 4, "clusters a@1 b@1; endpoints a@2 b@1; routes r@2>b")
		s.step(four, "nothing", "")
		s.c.Acknowledge(fleet.Endpoint, endpoints.Nonce)
		if endpoints = s.send(four); endpoints == nil || describe(endpoints) != "endpoints b@1" {
			t.Fatalf("delta=%v: got %v, want endpoints b@1", delta, endpoints)
		}
		s.step(four, "routes r@2", "") // they come first
		s.c.Acknowledge(fleet.Endpoint, endpoints.Nonce)
		s.step(four, "nothing", "")
	}
}

// routed is an Envoy in step, with a route to a cluster with endpoints, all called a but the route.
func routed(t *testing.T, delta bool) (*script, *snapshot.Target) {
	one := world(t, 1, "clusters a@1; endpoints a@1; routes r@1>a")
	s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.steps(one)
	return s, one
}

// asks has it ask for endpoints: in delta for the last of the names, in state of the world for all of them.
func (s *script) asks(target *snapshot.Target, names ...string) {
	if s.c.Delta {
		names = names[len(names)-1:]
	}
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: names}, target)
}

// none is what says in state of the world that there are no endpoints of a name.
func none(name string) string { return name + "@" + snapshot.Absent(fleet.Endpoint, name).Version }

// TestAChangedClusterIsSentItsEndpointsThoughItLeaves: it waits for them, and is named until a route has moved. Told that there are none, an
// Envoy would answer with 503.
func TestAChangedClusterIsSentItsEndpointsThoughItLeaves(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s, _ := routed(t, delta)
		clusters := s.send(world(t, 2, "clusters a@2; endpoints a@1; routes r@1>a"))
		three := world(t, 3, "clusters b@1; endpoints b@1; routes r@3>b")
		s.step(three, "endpoints a@1", "")
		s.step(three, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
		clusters = s.send(three)
		s.step(three, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
		s.step(three, "routes r@3", "")
	}
}

// TestEndpointsOfASetThatIsNotKnownStay: a client of state of the world returns with a version of endpoints that no revision had, as it gave up one of
// two names since. A cluster that leaves, which a route names still, is given those that it had.
func TestEndpointsOfASetThatIsNotKnownStay(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1; endpoints a@1; routes r@1>a")
	two := world(t, 2, "clusters b@1; endpoints b@1; routes r@2>b")
	s := &script{t: t, c: client{t: t, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: one.Types[fleet.Cluster].Sum().String()}, one)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}, Version: "of a and z"}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: one.Types[fleet.Route].Sum().String()}, one)
	clusters := s.send(two)
	if got := describe(clusters); got != "clusters a@1 b@1" {
		t.Fatalf("got %s", got)
	}
	s.step(two, "endpoints a@1", "")
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}, Version: "of a and z"}, two)
	s.step(two, "endpoints b@1", "")
	s.step(two, "nothing", "")
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	s.step(two, "routes r@2", "")
	s.step(two, "clusters b@1", "")
	s.step(two, "nothing", "")
	if s.c.Settled() != 2 {
		t.Errorf("settled at %d, want 2", s.c.Settled())
	}
}

// TestClustersOfASetThatIsNotKnownStay: a client of state of the world comes with a version of clusters that nobody knows, to a server that reads of a swap
// only then, that has just read of it, or of one more change, or that was started after it, and knows from the database what the node had. The cluster that its route names leaves after the route has gone elsewhere, one that nothing named with it, if not at once.
func TestClustersOfASetThatIsNotKnownStay(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 u@1 z@1; endpoints a@1 z@1; routes r@1>a")
	swap, swapped := after(t, before, "clusters b@2 z@2; endpoints b@2 z@2; routes r@2>b")
	_, later := after(t, swap, "clusters b@2 z@3; endpoints b@2 z@2; routes r@2>b")
	started := world(t, 2, "clusters b@2 z@2; endpoints b@2 z@2; routes r@2>b")
	for about, c := range map[string]struct {
		then, now *snapshot.Target
		first, z  string
		origin    planner.Origin
	}{
		"was behind":              {snapshot.NewTarget(before, nil), swapped, "clusters a@1 b@2 u@1 z@2", "z@2", planner.Origin{}},
		"has just read of it":     {swapped, swapped, "clusters a@1 b@2 z@2", "z@2", planner.Origin{}},
		"has read of more":        {later, later, "clusters a@1 b@2 z@3", "z@3", planner.Origin{}},
		"was just started":        {started, started, "clusters a@1 b@2 z@2", "z@2", planner.Origin{Before: before}},
		"was started after it":    {started, started, "clusters a@1 b@2 z@2", "z@2", planner.Origin{Between: swap}},
		"was behind it, and more": {swapped, later, "clusters a@1 b@2 z@3", "z@3", planner.Origin{}},
	} {
		s := &script{t: t, c: client{t: t, Envoy: true, Before: c.origin.Before, Between: c.origin.Between}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of a, y and z"}, c.then)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "y", "z"}, Version: "of a, y and z"}, c.then)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, c.then)
		clusters := s.send(c.now)
		if got := describe(clusters); got != c.first {
			t.Fatalf("%s: got %s", about, got)
		}
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b", "z"}, Version: "of a, y and z"}, c.now)
		s.step(c.now, "endpoints a@1 b@2 z@2", "")
		s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
		s.step(c.now, "routes r@2", "")
		s.step(c.now, "clusters b@2 "+c.z, "")
		s.step(c.now, "nothing", "")
		if s.c.Settled() != c.now.Revision {
			t.Errorf("%s: settled at %d, want %d", about, s.c.Settled(), c.now.Revision)
		}
	}
}

// TestWhatMayBeHeldIsOfferedAsItWasLast: a route of the client's may go to a cluster that is no more, and that the client may have as it was after
// that route had gone elsewhere.
func TestWhatMayBeHeldIsOfferedAsItWasLast(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 z@1; endpoints a@1 z@1; routes r@1>a")
	moved, _ := after(t, before, "clusters a@2 z@1; endpoints a@1 z@1; routes r@2>z")
	last, _ := after(t, moved, "clusters z@1; endpoints z@1; routes r@2>z")
	last.Gone[fleet.Cluster] = last.Gone[fleet.Cluster].With(snapshot.Tombstone("a", last.Revision))
	now := snapshot.NewTarget(last, nil)
	origin := client{t: t, Envoy: true, Before: before, Past: planner.Past{Unclean: true, Settled: 1}}
	for about, c := range map[string]struct {
		request request
		delta   bool
	}{
		"a set that is not known": {request{Type: fleet.Cluster, Version: "of a and z"}, false},
		"a report without it":     {request{Type: fleet.Cluster, Versions: map[string]string{"z": "1"}}, true},
	} {
		s := &script{t: t, c: origin}
		s.c.Delta = c.delta
		s.c.Subscribe(c.request, now)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, now)
		if got := describe(s.send(now)); got != "clusters a@2 z@1" {
			t.Errorf("%s: got %s, want a as it was last", about, got)
		}
	}
}

// reports leaves of a request what such a client says of what it has.
func (c *client) reports(r request) request {
	if r.Version = ""; !c.Delta {
		r.Version, r.Versions = "of another set", nil
	}
	return r
}

// TestASecretThatIsGoneIsNotOffered: its key may have been withdrawn. Of all types but clusters and endpoints a client that may have what is gone is sent none of it,
// though something names it that may be held still.
func TestASecretThatIsGoneIsNotOffered(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters z@1; routes r@1>a")
	before.Types[fleet.Cluster] = before.Types[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, fleet.Row{
		Name: "a", Version: "1", Revision: 1, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Secret, Name: "gone"}}},
	}, []byte("a")))
	var others []fleet.Type
	for _, typ := range fleet.Types() {
		if typ == fleet.Cluster || typ == fleet.Endpoint {
			continue
		}
		others = append(others, typ)
		before.Types[typ] = before.Types[typ].With(snapshot.NewResource(typ, fleet.Row{Name: "gone", Version: "1", Revision: 1}, []byte("gone")))
	}
	last, _ := after(t, before, "clusters z@1; routes r@2>z; secrets s@2")
	for _, typ := range others {
		last.Gone[typ] = last.Gone[typ].With(snapshot.Tombstone("gone", 2))
	}
	last.Gone[fleet.Cluster] = last.Gone[fleet.Cluster].With(snapshot.Tombstone("a", 2))
	now := snapshot.NewTarget(last, nil)
	for about, c := range map[string]client{
		"it is believed":        {Before: before, Between: last},
		"it ended unclean":      {Before: before, Between: last, Past: planner.Past{Unclean: true, Settled: 1}},
		"nothing is known":      {Between: last, Past: planner.Past{Unclean: true}},
		"another server had it": {Between: last},
		"it does not report it": {Delta: true, Before: before, Past: planner.Past{Unclean: true, Settled: 1}},
	} {
		for _, typ := range others {
			s := &script{t: t, c: c}
			s.c.t, s.c.Envoy, s.c.Now = t, true, start
			s.c.Subscribe(c.reports(request{Type: fleet.Cluster, Versions: map[string]string{"z": "1"}}), now)
			asks := request{Type: typ, Versions: map[string]string{"s": "1"}}
			if !typ.FullSet() {
				asks.Names = []string{"gone", "s"}
			}
			s.c.Subscribe(c.reports(asks), now)
			if typ != fleet.Route { // else it goes elsewhere at once
				s.c.Subscribe(c.reports(request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}}), now)
			}
			offered := false
			for range 10 {
				r := s.send(now)
				if r == nil {
					break
				}
				offered = offered || r.Type == fleet.Cluster && strings.Contains(describe(r), "a@1")
				if strings.Contains(describe(r), "gone@1") {
					t.Errorf("%s: %s", about, describe(r))
				}
				if typ == fleet.Route || r.Type != fleet.Route { // a stays until that is answered
					s.c.Acknowledge(r.Type, r.Nonce)
				}
			}
			if !offered {
				t.Errorf("%s: a was not offered, which names it", about)
			}
		}
	}
}

// TestASetFromBeforeTheServerCameIsKnown: what a client has of it that the fleet has no more goes when nothing names it.
func TestASetFromBeforeTheServerCameIsKnown(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 u@1; endpoints a@1; routes r@1>a")
	swap, _ := after(t, before, "clusters a@1 b@2; endpoints a@1 b@2; routes r@2>b")
	started := world(t, 2, "clusters a@1 b@2; endpoints a@1 b@2; routes r@2>b")
	s := &script{t: t, c: client{t: t, Envoy: true, Between: swap, Past: planner.Past{Unclean: true}}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: before.Types[fleet.Cluster].Sum().String()}, started)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}, Version: before.Types[fleet.Endpoint].Sum().String()}, started)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, started)
	clusters := s.send(started)
	if got := describe(clusters); got != "clusters a@1 b@2 u@1" {
		t.Fatalf("got %s", got)
	}
	s.step(started, "endpoints a@1", "") // which a changed cluster would wait for
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	s.step(started, "routes r@2", "")
	s.step(started, "clusters a@1 b@2", "")
}

// TestWhatStandsInForASetThatIsNotKnownIsNotBlamed: a client refuses clusters, or waits in them for endpoints, with one among them that the fleet has no more. That goes
// first. What is left is to blame only if it is refused again.
func TestWhatStandsInForASetThatIsNotKnownIsNotBlamed(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 z@1; endpoints a@1 z@1; routes r@1>a")
	_, now := after(t, before, "clusters b@2 z@2; endpoints b@2 z@2; routes r@2>b")
	for _, refused := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of a, y and z"}, now)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "y", "z"}, Version: "of a, y and z"}, now)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, now)
		clusters := s.send(now)
		if refused {
			s.c.Refuse(fleet.Cluster, clusters.Nonce, "error initializing configuration")
		} else {
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b", "z"}, Version: "of a, y and z"}, now)
			s.step(now, "endpoints a@1 b@2 z@2", "")
			s.c.Now = s.c.Now.Add(time.Minute)
		}
		clusters = s.send(now)
		if clusters == nil || describe(clusters) != "clusters b@2 z@2" {
			t.Fatalf("refused %v: it is sent %v", refused, clusters)
		}
		if vs := s.c.Verdicts(); len(vs) > 0 {
			t.Errorf("refused %v: blamed is %+v", refused, vs)
		}
		if refused {
			s.c.Refuse(fleet.Cluster, clusters.Nonce, says(fleet.Cluster, "b"))
			if vs := s.c.Verdicts(); len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Refused.Name != "b" {
				t.Errorf("it is refused again, and blamed is %+v", vs)
			}
		}
	}
}

// TestWhoIsStuckOnWhatIsGoneIsNotBlamedForTheRest: of clusters whose endpoints an Envoy never asks for, some are offered as it may have them and the fleet has no
// more. They go first. What is left is blamed if the Envoy is stuck without them.
func TestWhoIsStuckOnWhatIsGoneIsNotBlamedForTheRest(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1; endpoints a@1; routes r@1>a")
	_, now := after(t, before, "clusters b@2; endpoints b@2; routes r@2>b")
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: "of a and y"}, now)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"y"}, Version: "of a and y"}, now)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, now)
	for _, want := range []string{"clusters a@1 b@2", "clusters b@2"} {
		clusters := s.send(now)
		if clusters == nil || describe(clusters) != want {
			t.Fatalf("it is sent %v, want %s", clusters, want)
		}
		if vs := s.c.Verdicts(); len(vs) > 0 {
			t.Fatalf("blamed is %+v", vs)
		}
		s.c.Now = s.c.Now.Add(time.Minute)
	}
	clusters := s.send(now)
	if clusters == nil || describe(clusters) != "clusters" {
		t.Fatalf("it is sent %v, want no clusters", clusters)
	}
	s.c.acknowledge(fleet.Cluster, clusters.Nonce, says(fleet.Cluster, "b"))
	s.send(now)
	if vs := s.c.Verdicts(); len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Refused.Name != "b" {
		t.Errorf("it is stuck on the rest, and blamed is %+v", vs)
	}
}

// TestWhatAPartOfARefusalBroughtStays: a client refuses responses of clusters, of which it applies what is good, and reports what it ACKed before. Its route names a
// cluster that came in one of them, and that is deleted when it comes back.
func TestWhatAPartOfARefusalBroughtStays(t *testing.T) {
	t.Parallel()
	one := first(t, "clusters a@1; endpoints a@1; routes r@1>a")
	two, _ := after(t, one, "clusters b@1 u@1; endpoints b@1; routes r@2>b")
	three, _ := after(t, two, "clusters c@1; endpoints c@1; routes r@3>c")
	for _, name := range []string{"b", "u"} {
		three.Gone[fleet.Cluster] = three.Gone[fleet.Cluster].With(snapshot.Tombstone(name, three.Revision))
	}
	now := snapshot.NewTarget(three, nil)
	s := &script{t: t, c: client{t: t, Envoy: true, Past: planner.Past{Unclean: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: one.Types[fleet.Cluster].Sum().String()}, now)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}, Version: "of a and b"}, now)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: two.Types[fleet.Route].Sum().String()}, now)
	clusters := s.send(now)
	if got := describe(clusters); got != "clusters a@1 b@1 c@1" {
		t.Fatalf("got %s", got)
	}
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b", "c"}, Version: "of a and b"}, now)
	s.step(now, "endpoints a@1 b@1 c@1", "")
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	s.step(now, "routes r@3", "")
	s.step(now, "clusters c@1", "")
	s.step(now, "nothing", "")
	if s.c.Settled() != now.Revision {
		t.Errorf("settled at %d, want %d", s.c.Settled(), now.Revision)
	}
}

// TestWhatIsNamedIsBlamedBesideWhatStandsIn: a client refuses a cluster of the fleet by name. What it may have besides, and the fleet has no more, stays
// while its route names it. If that is named, it goes.
func TestWhatIsNamedIsBlamedBesideWhatStandsIn(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 z@1; endpoints a@1 z@1; routes r@1>a")
	snap, now := after(t, before, "clusters b@2 z@2; endpoints b@2 z@2; routes r@2>b")
	for _, c := range []struct{ named, blamed, then string }{{"z", "z", "nothing"}, {"a", "", "clusters b@2 z@2"}} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of a, y and z"}, now)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "y", "z"}, Version: "of a, y and z"}, now)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: before.Types[fleet.Route].Sum().String()}, now)
		clusters := s.send(now)
		s.c.Refuse(fleet.Cluster, clusters.Nonce, says(fleet.Cluster, c.named))
		blamed, target := "", now
		for _, v := range s.c.Verdicts() {
			for _, x := range v.Blame {
				blamed += x.Refused.Name
			}
			target = snapshot.NewTarget(snap, v.Blame)
		}
		if blamed != c.blamed {
			t.Errorf("it names %s, and blamed is %q", c.named, blamed)
		}
		if r := s.send(target); c.then == "nothing" && r != nil && r.Type == fleet.Cluster || c.then != "nothing" && (r == nil || describe(r) != c.then) {
			t.Errorf("it names %s, and is sent %v", c.named, r)
		}
	}
}

// TestEndpointsOfAClusterInDoubtStay while it does: the client may have the cluster, and something may name it.
func TestEndpointsOfAClusterInDoubtStay(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1; endpoints a@1; routes r@1>a")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.steps(one)
	s.step(world(t, 2, "clusters a@2 bad@1; endpoints a@1; routes r@1>a"), "clusters a@2 bad@1", says(fleet.Cluster, "bad"))
	three := world(t, 3, "clusters b@1; endpoints b@1; routes r@3>b")
	clusters := s.send(three)
	if got := describe(clusters); got != "clusters a@1 b@1 -bad" {
		t.Fatalf("got %s", got)
	}
	s.step(three, "endpoints a@1", "") // a@1 may take the place of a@2, and waits for them
	s.step(three, "nothing", "")
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	s.step(three, "routes r@3", "")
	s.step(three, "clusters -a", "")
	s.step(three, "endpoints -a", "")

	s = &script{t: t, c: client{t: t, Delta: true, Envoy: true}} // what it reports of a nobody knows: so nothing can take the place of a@2
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "9"}}, one)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}, Versions: map[string]string{"a": "1"}}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}}, one)
	two := world(t, 2, "clusters a@2 bad@1; endpoints a@1; routes r@1>a")
	s.step(two, "clusters a@2 bad@1", says(fleet.Cluster, "bad"))
	clusters = s.send(three)
	if got := describe(clusters); got != "clusters b@1 -bad" {
		t.Fatalf("got %s", got)
	}
	s.step(three, "endpoints a@1", "")
	s.step(three, "nothing", "")
}

// TestWhatWasRefusedMeanwhileDoesNotStandIn for what waits, though the clusters that the client ACKed went out for a target
// that held it.
func TestWhatWasRefusedMeanwhileDoesNotStandIn(t *testing.T) {
	t.Parallel()
	one := world(t, 1, "clusters a@1; routes r@1>a")
	s := &script{t: t, c: client{t: t, Delta: true}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.steps(one)
	two := world(t, 2, "clusters a@1 b@1; routes r@2>a")
	clusters := s.send(two)
	s.step(two, "routes r@2", says(fleet.Route, "r"))
	s.step(two, "routes r@1", "")
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	three := world(t, 3, "clusters a@1 b@1 c@1; routes r@3>c")
	clusters = s.send(three)
	s.step(three, "nothing", "")
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	s.step(three, "routes r@3", "")
}

// TestEndpointsOfAClusterInFlight are answered though the fleet has lost the cluster meanwhile: the client waits for them.
func TestEndpointsOfAClusterInFlight(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	one := world(t, 1, "clusters a@1")
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	if got := describe(s.send(one)); got != "clusters a@1" { // and is not answered
		t.Fatalf("got %s, want a@1", got)
	}
	two := world(t, 2, "listeners l@1")
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, two)
	s.step(two, "endpoints "+none("a"), "")
}

// TestAClusterWhoseRemovalIsInFlightIsWaitedFor: the client has it until it takes the removal in, so what names it waits until
// it has come back.
func TestAClusterWhoseRemovalIsInFlightIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		delta         bool
		removal, back string
	}{
		{true, "clusters -c", "clusters c@1"},
		{false, "clusters a@1", "clusters a@1 c@1"},
	} {
		one := world(t, 1, "clusters a@1 c@1; routes r@1>a")
		s := &script{t: t, c: client{t: t, Delta: x.delta}}
		s.c.Subscribe(request{Type: fleet.Cluster}, one)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
		s.steps(one)
		removal := s.send(world(t, 2, "clusters a@1; routes r@1>a")) // and is not answered
		if removal == nil || describe(removal) != x.removal {
			t.Fatalf("delta=%v: got %v, want %s", x.delta, removal, x.removal)
		}
		three := world(t, 3, "clusters a@1 c@1; routes r@2>c")
		s.step(three, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, removal.Nonce)
		back := s.send(three) // and is not answered
		if back == nil || describe(back) != x.back {
			t.Fatalf("delta=%v: got %v, want %s", x.delta, back, x.back)
		}
		s.step(three, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, back.Nonce)
		s.step(three, "routes r@2", "")
	}
}
