package planner_test

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// fleetAt is a target of resources of one size.
func fleetAt(rev fleet.Revision, size int, rs map[fleet.Type][]fleet.Row) *snapshot.Target {
	s := &snapshot.Snapshot{Revision: rev}
	for t, rows := range rs {
		for _, row := range rows {
			s.Types[t] = s.Types[t].With(snapshot.NewResource(t, row, make([]byte, size)))
		}
	}
	return snapshot.NewTarget(s, nil)
}

func row(name, version string, routes ...string) fleet.Row {
	r := fleet.Row{Name: name, Version: version}
	for _, n := range routes {
		r.Derived.Refs = append(r.Derived.Refs, fleet.Ref{Type: fleet.Route, Name: n})
	}
	return r
}

// script drives a client.
type script struct {
	t *testing.T
	c client
	n int
	v [fleet.NumTypes]string // the version of each type's last response
}

func (s *script) version(t fleet.Type) string { return s.v[t] }

// send takes the next response out, nil if there is none.
func (s *script) send(target *snapshot.Target) *response {
	r := s.c.Next(target)
	if r != nil {
		s.n++
		s.v[r.Type] = r.Version.String()
		s.c.Sent(r, fmt.Sprint(s.n))
	}
	return r
}

// step sends the next response, which must be this one, and answers it.
func (s *script) step(target *snapshot.Target, want, nack string) {
	s.t.Helper()
	got := "nothing"
	r := s.send(target)
	if r != nil {
		got = describe(r)
	}
	if got != want {
		s.t.Fatalf("got %s, want %s", got, want)
	}
	switch {
	case r == nil:
	case nack != "":
		s.c.Refuse(r.Type, r.Nonce, nack)
		s.c.Verdicts()
	default:
		s.c.Acknowledge(r.Type, r.Nonce)
	}
}

// TestDeltaResponsesAreSplit: also where every name was asked for and is owed an answer
// (PROTOCOL rule 25).
func TestDeltaResponsesAreSplit(t *testing.T) {
	t.Parallel()
	var rows []fleet.Row
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("c%02d", i))
		rows = append(rows, row(names[i], "1"))
	}
	target := fleetAt(1, 900_000, map[fleet.Type][]fleet.Row{fleet.Endpoint: rows, fleet.Cluster: rows})
	for _, typ := range []fleet.Type{fleet.Endpoint, fleet.Cluster} {
		s := script{t: t, c: client{t: t, Delta: true}}
		if typ == fleet.Endpoint {
			s.c.Subscribe(request{Type: typ, Names: names}, target)
		} else {
			s.c.Subscribe(request{Type: typ}, target)
		}
		seen := 0
		for r := s.send(target); r != nil; r = s.send(target) {
			size := 0
			for _, x := range r.Resources {
				size += x.Size()
			}
			if size > planner.MaxResponse {
				t.Errorf("one response of %d bytes, %d is the limit", size, planner.MaxResponse)
			}
			if s.c.Settled() != 0 {
				t.Errorf("settled %d before the last part was ACKed", s.c.Settled())
			}
			seen += len(r.Resources)
			s.c.Acknowledge(r.Type, r.Nonce)
		}
		if seen != len(rows) || s.c.Settled() != 1 {
			t.Errorf("%s: %d resources came, settled %d; want %d and 1", typ, seen, s.c.Settled(), len(rows))
		}
	}
}

// TestRefusedVersionThatComesBackIsAskedAgainOnce (SEMANTICS 3.6a).
func TestRefusedVersionThatComesBackIsAskedAgainOnce(t *testing.T) {
	t.Parallel()
	at := func(rev fleet.Revision, version string) *snapshot.Target {
		return fleetAt(rev, 1, map[fleet.Type][]fleet.Row{fleet.Listener: {row("l", version)}})
	}
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta}}
		s.c.Subscribe(request{Type: fleet.Listener}, at(1, "1"))
		s.step(at(1, "1"), "listeners l@1", "")
		s.step(at(2, "2"), "listeners l@2", says(fleet.Listener, "l"))
		s.step(at(2, "2"), "listeners l@1", "")
		s.step(at(2, "2"), "nothing", "") // no content twice
		s.step(at(3, "1"), "nothing", "")
		s.step(at(4, "2"), "listeners l@2", "l: still no")
		s.step(at(4, "2"), "listeners l@1", "")
		s.step(at(4, "2"), "nothing", "")
		s.step(at(5, "3"), "listeners l@3", "")
		if got := s.c.Settled(); got != 5 {
			t.Errorf("settled %d, want 5", got)
		}
	}
}

// TestNewNamesAreNotSettledWithTheOld: one revision brings a listener and its route; the
// listener is ACKed, the route, which the client has asked for by now, is not.
func TestNewNamesAreNotSettledWithTheOld(t *testing.T) {
	t.Parallel()
	one := fleetAt(1, 1, map[fleet.Type][]fleet.Row{
		fleet.Listener: {row("l1", "1", "r1")}, fleet.Route: {row("r1", "1")}})
	two := fleetAt(2, 1, map[fleet.Type][]fleet.Row{
		fleet.Listener: {row("l1", "1", "r1"), row("l2", "1", "r2")}, fleet.Route: {row("r1", "1"), row("r2", "1")}})
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta, Envoy: true}}
		s.c.Subscribe(request{Type: fleet.Listener}, one)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r1"}}, one)
		s.step(one, "listeners l1@1", "")
		s.step(one, "routes r1@1", "")
		s.step(one, "nothing", "")
		listeners := s.send(two)
		s.step(two, "nothing", "")
		names := []string{"r2"}
		if !delta {
			names = []string{"r1", "r2"}
		}
		s.c.Subscribe(request{Type: fleet.Route, Names: names}, two)
		routes := s.send(two)
		s.c.Acknowledge(fleet.Listener, listeners.Nonce)
		s.step(two, "nothing", "")
		if got := s.c.Settled(); got != 1 {
			t.Errorf("settled %d while %s is unanswered, want 1", got, describe(routes))
		}
		s.c.Acknowledge(fleet.Route, routes.Nonce)
		s.step(two, "nothing", "")
		if got := s.c.Settled(); got != 2 {
			t.Errorf("settled %d, want 2", got)
		}
	}
}

// TestOneNameForAnotherIsNotSettled: as many names as before, and one of them new.
func TestOneNameForAnotherIsNotSettled(t *testing.T) {
	t.Parallel()
	target := fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Route: {row("r1", "1"), row("r2", "1")}})
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta}}
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r1"}}, target)
		s.step(target, "routes r1@1", "")
		s.step(target, "nothing", "")
		change := request{Type: fleet.Route, Names: []string{"r2"}}
		if delta {
			change.Dropped = []string{"r1"}
		}
		s.c.Subscribe(change, target)
		r := s.send(target)
		if got := s.c.Settled(); got != 1 {
			t.Errorf("settled %d while %s is unanswered, want 1", got, describe(r))
		}
	}
}

// TestNothingIsSettledWhileAStreamOpens: the clusters are current, and of the rest the
// client has not spoken yet.
func TestNothingIsSettledWhileAStreamOpens(t *testing.T) {
	t.Parallel()
	target := fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "1")}, fleet.Route: {row("r", "2")}})
	s := script{t: t, c: client{t: t, Envoy: true, Opening: true}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: target.Types[fleet.Cluster].Sum().String()}, target)
	s.step(target, "nothing", "")
	if got := s.c.Settled(); got != 0 {
		t.Errorf("settled %d after one request of a new stream, want 0", got)
	}
	// It has no listeners: the one answer that resets its backoff is a set of clusters.
	s.c.Opened()
	s.step(target, "clusters a@1", "")
	s.step(target, "nothing", "")
	if got := s.c.Settled(); got != 2 {
		t.Errorf("settled %d, want 2", got)
	}
}

// BenchmarkPlan is the first plan for 10,000 names that were asked for.
func BenchmarkPlan(b *testing.B) {
	var rows []fleet.Row
	names := manyNames(10_000)
	for _, n := range names {
		rows = append(rows, row(n, "1"))
	}
	target := fleetAt(1, 100, map[fleet.Type][]fleet.Row{fleet.Endpoint: rows})
	c := client{t: b, Delta: true}
	c.Subscribe(request{Type: fleet.Endpoint, Names: names}, target)
	b.ReportAllocs()
	for b.Loop() {
		if c.Next(target) == nil {
			b.Fatal("nothing to send")
		}
	}
}

// TestNameTakenUpAgainInFlight: the client gives a route up and asks for it again while
// the response that carries it is on its way. It may have the route then, so the cluster
// that the route names stays until a later one is ACKed.
func TestNameTakenUpAgainInFlight(t *testing.T) {
	t.Parallel()
	clusters := func(names ...string) (refs []fleet.Ref) {
		for _, n := range names {
			refs = append(refs, fleet.Ref{Type: fleet.Cluster, Name: n})
		}
		return refs
	}
	routeTo := func(version, cluster string) fleet.Row {
		r := row("r", version)
		r.Derived.Refs = clusters(cluster)
		return r
	}
	one := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "1")}, fleet.Route: {routeTo("1", "a")}})
	two := fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("b", "1")}, fleet.Route: {routeTo("2", "b")}})
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta}}
		s.c.Subscribe(request{Type: fleet.Cluster}, one)
		s.step(one, "clusters a@1", "")
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
		routes := s.send(one)
		s.c.Subscribe(request{Type: fleet.Route, Dropped: []string{"r"}}, one)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, one)
		s.c.Acknowledge(fleet.Route, routes.Nonce)
		if delta {
			s.step(two, "clusters b@1", "")
		} else {
			s.step(two, "clusters a@1 b@1", "")
		}
		moved := s.send(two)
		if got := describe(moved); got != "routes r@2" {
			t.Fatalf("got %s, want r@2", got)
		}
		s.step(two, "nothing", "") // the client may have the route that names a
		s.c.Acknowledge(fleet.Route, moved.Nonce)
		if delta {
			s.step(two, "clusters -a", "")
		} else {
			s.step(two, "clusters b@1", "")
		}
		s.step(two, "nothing", "")
	}
}

// TestNameGivenUpInFlight: the client gives a name up while the response that carries it
// is on its way, and ACKs that. It does not have the name then: taken up again, in the same
// version, it is sent again.
func TestNameGivenUpInFlight(t *testing.T) {
	t.Parallel()
	target := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Endpoint: {row("a", "1"), row("b", "1")}})
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta, Envoy: true}}
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}}, target)
		endpoints := s.send(target)
		less, more := request{Type: fleet.Endpoint, Names: []string{"a"}}, request{Type: fleet.Endpoint, Names: []string{"a", "b"}}
		if delta {
			less, more = request{Type: fleet.Endpoint, Dropped: []string{"b"}}, request{Type: fleet.Endpoint, Names: []string{"b"}}
		}
		s.c.Subscribe(less, target)
		s.c.Acknowledge(fleet.Endpoint, endpoints.Nonce)
		s.step(target, "nothing", "") // nor a removal of what it does not ask for
		s.c.Subscribe(more, target)
		s.step(target, "endpoints b@1", "")
		s.step(target, "nothing", "")
	}
}

// TestWhatAStreamKeepsBackAloneIsNotSettled: what the node's target goes on to have although the client refused it (one of more than a thousand) is kept back by
// the stream, and then no revision is settled, with whatever else of it the client has. It is when the cluster has another version.
func TestWhatAStreamKeepsBackAloneIsNotSettled(t *testing.T) {
	t.Parallel()
	at := func(rev fleet.Revision, cluster, listener string) *snapshot.Target {
		return fleetAt(rev, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("c", cluster)}, fleet.Listener: {row("l", listener)}})
	}
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta}}
		one, bad, later, fixed := at(1, "1", "1"), at(2, "2", "1"), at(3, "2", "3"), at(4, "4", "3")
		s.c.Subscribe(request{Type: fleet.Cluster}, one)
		s.c.Subscribe(request{Type: fleet.Listener}, one)
		s.step(one, "clusters c@1", "")
		s.step(one, "listeners l@1", "")
		s.step(bad, "clusters c@2", says(fleet.Cluster, "c"))
		s.step(bad, "clusters c@1", "")
		s.step(later, "listeners l@3", "")
		s.step(later, "nothing", "")
		if got := s.c.Settled(); got != 1 {
			t.Errorf("delta=%v: settled %d while the stream keeps something back, want 1", delta, got)
		}
		s.step(fixed, "clusters c@4", "")
		s.step(fixed, "nothing", "")
		if got := s.c.Settled(); got != 4 {
			t.Errorf("delta=%v: settled %d with another version, want 4", delta, got)
		}
	}
}

// TestWhatIsRefusedAtARevisionIsNotSettledThere: clusters are in step at a revision whose listener is still unanswered. There the client is offered a
// cluster that it was kept from, and refuses it: when the listener is ACKed, the revision is not settled until that is repaired.
func TestWhatIsRefusedAtARevisionIsNotSettledThere(t *testing.T) {
	t.Parallel()
	at := func(rev fleet.Revision, cluster, listener string) *snapshot.Target {
		return fleetAt(rev, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("c", cluster)}, fleet.Listener: {row("l", listener)}})
	}
	for _, delta := range []bool{true, false} {
		s := script{t: t, c: client{t: t, Delta: delta}}
		one, kept, offered := at(1, "1", "1"), at(2, "1", "2"), at(2, "2", "2")
		s.c.Subscribe(request{Type: fleet.Cluster}, one)
		s.c.Subscribe(request{Type: fleet.Listener}, one)
		s.step(one, "clusters c@1", "")
		s.step(one, "listeners l@1", "")
		s.step(one, "nothing", "")
		listener := s.send(kept)
		s.step(kept, "nothing", "")
		s.step(offered, "clusters c@2", says(fleet.Cluster, "c"))
		repair := s.send(offered)
		if got := describe(repair); got != "clusters c@1" {
			t.Fatalf("got %s for the repair", got)
		}
		s.c.Acknowledge(fleet.Listener, listener.Nonce)
		s.step(offered, "nothing", "")
		if got := s.c.Settled(); got != 1 {
			t.Errorf("delta=%v: settled %d with a refusal there, want 1", delta, got)
		}
		s.c.Acknowledge(fleet.Cluster, repair.Nonce)
		s.step(kept, "nothing", "")
		if got := s.c.Settled(); got != 2 {
			t.Errorf("delta=%v: settled %d after the repair, want 2", delta, got)
		}
	}
}
