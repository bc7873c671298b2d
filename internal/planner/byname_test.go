package planner_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// clustersAt is a target of clusters, "a@1", of which those with a "?" in front are delivered by name alone, and of the route r to all of them.
func clustersAt(rev fleet.Revision, clusters string) *snapshot.Target {
	s := &snapshot.Snapshot{Revision: rev}
	route := fleet.Row{Name: "r", Version: "1"}
	for text := range strings.FieldsSeq(clusters) {
		text, byName := strings.CutPrefix(text, "?")
		name, version, _ := strings.Cut(text, "@")
		row := fleet.Row{Name: name, Version: version, Revision: rev, Derived: fleet.Derived{ByName: byName}}
		s.Types[fleet.Cluster] = s.Types[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, row, []byte{1}))
		route.Derived.Refs = append(route.Derived.Refs, fleet.Ref{Type: fleet.Cluster, Name: name})
	}
	s.Types[fleet.Route] = s.Types[fleet.Route].With(snapshot.NewResource(fleet.Route, route, []byte{1}))
	return snapshot.NewTarget(s, nil)
}

// settles fails unless the client has settled at the target, with nothing more to be sent.
func (s *script) settles(target *snapshot.Target) {
	s.t.Helper()
	s.step(target, "nothing", "")
	if got := s.c.Settled(); got != target.Revision {
		s.t.Errorf("settled at %d, want %d", got, target.Revision)
	}
}

// TestAWildcardLeavesOutWhatIsDeliveredByName: who asks for everything is not given it, and nothing waits for it. Who asks for its name gets it,
// its changes and its removal. That it is delivered otherwise from now on is a change for those alone who did not name it.
func TestAWildcardLeavesOutWhatIsDeliveredByName(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	one := clustersAt(1, "a@1 ?b@1 ?c@1")
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
	s.step(one, "clusters a@1", "")
	s.step(one, "routes r@1", "") // it names b, and does not wait for it
	s.settles(one)

	s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"b"}}, one)
	s.step(one, "clusters b@1", "")
	s.settles(one)
	two := clustersAt(2, "a@1 ?b@2 ?c@2")
	s.step(two, "clusters b@2", "")
	s.settles(two)
	three := clustersAt(3, "a@1 ?c@2")
	s.step(three, "clusters -b", "")
	s.settles(three)
	four := clustersAt(4, "a@1 ?b@3 ?c@2")
	s.step(four, "clusters b@3", "")
	five := clustersAt(5, "?a@1 b@3 ?c@2")
	s.step(five, "clusters -a", "") // b was named, and stays as it is
	s.settles(five)
	six := clustersAt(6, "a@1 b@3 c@2")
	s.step(six, "clusters a@1 c@2", "")
	s.settles(six)
	seven := clustersAt(7, "a@1 ?b@3 ?c@2")
	s.step(seven, "clusters -c", "")
	s.settles(seven)
	s.c.Subscribe(request{Type: fleet.Cluster, Dropped: []string{"b"}}, seven)
	s.step(seven, "clusters -b", "") // the answer to a name that is given up under a wildcard
	s.settles(seven)
}

// TestByNameInStateOfTheWorld: the full set has what was named of it, and no more.
func TestByNameInStateOfTheWorld(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	one := clustersAt(1, "a@1 ?b@1 ?c@1")
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.step(one, "clusters a@1", "")
	s.settles(one)
	s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*", "b"}, Version: s.version(fleet.Cluster)}, one)
	s.step(one, "clusters a@1 b@1", "")
	two := clustersAt(2, "a@1 ?b@2 ?c@2")
	s.step(two, "clusters a@1 b@2", "")
	s.settles(two)
	s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*"}, Version: s.version(fleet.Cluster)}, two)
	s.step(two, "clusters a@1", "")
	s.settles(two)
	s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"c"}, Version: s.version(fleet.Cluster)}, two)
	s.step(two, "clusters c@2", "")
	s.settles(two)
}

// TestWhoReturnsWithWhatItNamed is sent nothing of it again, and who names it no more is told that it is gone.
func TestWhoReturnsWithWhatItNamed(t *testing.T) {
	t.Parallel()
	one := clustersAt(1, "a@1 ?b@1 ?c@1")
	back := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	back.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*", "b"}, Versions: map[string]string{"a": "1", "b": "1"}}, one)
	back.step(one, "clusters", "") // one answer
	back.settles(one)
	without := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	without.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*"}, Versions: map[string]string{"a": "1", "b": "1"}}, one)
	without.step(one, "clusters", "") // one answer
	without.step(one, "clusters -b", "")
	without.settles(one)
	sotw := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	sotw.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*", "b"}, Version: one.Types[fleet.Cluster].Without("c").Sum().String()}, one)
	sotw.settles(one)
	names := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	names.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"b", "x"}}, one)
	names.step(one, "clusters b@1 -x", "")
	names.settles(one)
}

// TestNothingWaitsForWhatIsDeliveredByName: a route goes out while clusters are unanswered, though it names one that the client has not.
func TestNothingWaitsForWhatIsDeliveredByName(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	one := clustersAt(1, "a@1 ?b@1")
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.step(one, "clusters a@1", "")
	two := clustersAt(2, "a@2 ?b@1")
	if r := s.send(two); r == nil || describe(r) != "clusters a@2" {
		t.Fatalf("got %v, want the changed cluster", r)
	}
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, two)
	s.step(two, "routes r@1", "") // the clusters' answer is not waited for
}

// TestMemoryOfWhoNamesClusters: streams that come back with clusters of their own share all that everybody gets. What one of them holds besides follows its names, also
// when something has changed.
func TestMemoryOfWhoNamesClusters(t *testing.T) { // not beside others: the heap is counted
	const many, streams, named = 4_000, 50, 5
	resource := func(name, version string, rev fleet.Revision, byName bool) *snapshot.Resource {
		return snapshot.NewResource(fleet.Cluster, fleet.Row{Name: name, Version: version, Revision: rev, Derived: fleet.Derived{ByName: byName}}, []byte{1})
	}
	at := &snapshot.Snapshot{Revision: 1}
	var edits []snapshot.Edit
	for i := range many {
		edits = append(edits, snapshot.Edit{New: resource(fmt.Sprintf("all-%06d", i), "1", 1, false)}, snapshot.Edit{New: resource(fmt.Sprintf("own-%06d", i), "1", 1, true)})
	}
	at.Types[fleet.Cluster] = at.Types[fleet.Cluster].Apply(edits)
	target := snapshot.NewTarget(at, nil)
	pl := planner.New(planner.DefaultMemo)
	keep := make([]*stream, 0, streams+1)
	comesBack := func() {
		var names []string
		versions := map[string]string{}
		for i := range named {
			name := fmt.Sprintf("own-%06d", len(keep)*named+i)
			names, versions[name] = append(names, name), "1"
		}
		for i := range many {
			versions[fmt.Sprintf("all-%06d", i)] = "1"
		}
		s := newStream(pl, true)
		s.Request(start, planner.Request{Type: fleet.Cluster, Named: true, Star: true, Names: planner.NamesOf(names...), Versions: planner.VersionsOf(versions)}, target)
		if n := s.settle(target); n > 1 || s.Settled() != 1 {
			t.Fatalf("%d responses to who is up to date, and it settled at %d", n, s.Settled())
		}
		keep = append(keep, s)
	}
	comesBack()
	begin := heap()
	for range streams {
		comesBack()
	}
	bounded := func(when string) {
		t.Helper()
		each := (heap() - begin) / streams
		t.Logf("%s: %d bytes a stream", when, each)
		if each > 32<<10 {
			t.Errorf("%s: %d bytes a stream, at most %d would be right", when, each, 32<<10)
		}
	}
	bounded("up to date")
	next := &snapshot.Snapshot{Revision: 2, Types: at.Types}
	for i := range 100 {
		next.Types[fleet.Cluster] = next.Types[fleet.Cluster].With(resource(fmt.Sprintf("all-%06d", i*many/100), "2", 2, false))
	}
	target = snapshot.NewTarget(next, nil)
	for _, s := range keep {
		if n := s.settle(target); n != 1 {
			t.Fatalf("%d responses for one change", n)
		}
	}
	bounded("after a change")
	runtime.KeepAlive(keep)
}

// TestAnUnknownVersionOfWhatIsDeliveredByNameHoldsUpNobodyElse: what a node has of a cluster and nobody knows is taken away by no full set. A client that does not name the
// cluster has nothing of it: it is sent its clusters, and who names it is not.
func TestAnUnknownVersionOfWhatIsDeliveredByNameHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	of := clustersAt(1, "a@1 ?b@1")
	left := of.Except([]snapshot.Exception{{Type: fleet.Cluster, Refused: of.Types[fleet.Cluster].Get("b"), Leave: true}})
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, left)
	s.step(left, "clusters a@1", "")
	s.settles(left)
	names := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	names.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"*", "b"}}, left)
	if r := names.send(left); r != nil {
		t.Errorf("who names it is sent %s, which takes it away", describe(r))
	}
}
