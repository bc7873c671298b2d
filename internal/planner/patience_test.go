package planner_test

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestMissingRouteIsAnsweredLate: told at once that a route or an extension does not
// exist, an Envoy keeps its listener warming for ever (PROTOCOL rule 5).
func TestMissingRouteIsAnsweredLate(t *testing.T) {
	t.Parallel()
	none := fleetAt(1, 1, nil)
	for i := range 4 { // both types, on an aggregated stream and on one of their own
		typ := []fleet.Type{fleet.Route, fleet.Extension}[i%2]
		s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, SingleType: i > 1, Now: start}}
		s.c.Subscribe(request{Type: typ, Names: []string{"x"}}, none)
		s.step(none, "nothing", "")
		if got, want := s.c.Due(), start.Add(20*time.Second); !got.Equal(want) {
			t.Fatalf("due %s, want %s", got, want)
		}
		s.at(20 * time.Second)
		s.step(none, typ.Slug()+" -x", "")
		s.step(none, "nothing", "")
		if due := s.c.Due(); !due.IsZero() {
			t.Errorf("due %s after the answer, want never", due)
		}
		s.step(fleetAt(2, 1, map[fleet.Type][]fleet.Row{typ: {row("x", "1")}}), typ.Slug()+" x@1", "")
	}
	other := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	other.c.Subscribe(request{Type: fleet.Route, Names: []string{"x"}}, none)
	other.step(none, "routes -x", "")
}

// TestWarmingNodeGetsNewerClusters after 20 s, and only if there are any (PROTOCOL rule
// 15); what it then says of the older ones is recorded against what those carried.
func TestWarmingNodeGetsNewerClusters(t *testing.T) {
	t.Parallel()
	clusters := func(rev fleet.Revision, rows ...fleet.Row) *snapshot.Target {
		return fleetAt(rev, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: rows, fleet.Endpoint: {row("a", "1")}})
	}
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		old, newer := clusters(1, row("a", "1")), clusters(2, row("a", "1"), row("b", "1"))
		s.c.Subscribe(request{Type: fleet.Cluster}, old)
		first := s.send(old)
		warm := s.warms(old)
		s.at(19 * time.Second)
		s.step(newer, "nothing", "")
		if got, want := s.c.Due(), start.Add(20*time.Second); !got.Equal(want) {
			t.Fatalf("due %s, want %s", got, want)
		}
		s.at(20 * time.Second)
		s.step(old, "nothing", "") // nothing newer
		second := s.send(newer)
		if got := describe(second); got != "clusters a@1 b@1" {
			t.Fatalf("got %s, want both", got)
		}
		s.c.Refuse(fleet.Cluster, first.Nonce, says(fleet.Cluster, "a"))
		if vs := s.c.Verdicts(); len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Refused.Name != "a" {
			t.Fatalf("verdicts %+v, want a", vs)
		}
		if s.c.c.Answerable(fleet.Cluster, second.Nonce) != second.Response {
			t.Error("the late answer ended the newer response")
		}
		s.c.Acknowledge(fleet.Cluster, second.Nonce)
		without := clusters(2, row("b", "1"))
		if delta {
			s.step(without, "clusters -a", "")
		} else {
			s.step(without, "clusters b@1", "")
		}
		warm(without)
		if got := s.c.Settled(); got != 2 {
			t.Errorf("settled %d, want 2", got)
		}
	}
}

// warms leaves endpoints that the client asked for unanswered, until what it returns is
// called.
func (s *script) warms(target *snapshot.Target) (done func(*snapshot.Target)) {
	s.t.Helper()
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, target)
	r := s.send(target)
	if r == nil || r.Type != fleet.Endpoint {
		s.t.Fatalf("got %v, want endpoints", r)
	}
	return func(target *snapshot.Target) {
		for ; r != nil; r = s.send(target) {
			s.c.Acknowledge(r.Type, r.Nonce)
		}
	}
}

// TestLateAckSettlesNothing: the newer response is still out.
func TestLateAckSettlesNothing(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	endpoints := []fleet.Row{row("a", "1")}
	old := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "1")}, fleet.Endpoint: endpoints})
	newer := fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("a", "2")}, fleet.Endpoint: endpoints})
	s.c.Subscribe(request{Type: fleet.Cluster}, old)
	first := s.send(old)
	warm := s.warms(old)
	s.at(time.Minute)
	second := s.send(newer)
	s.c.Acknowledge(fleet.Cluster, first.Nonce)
	if got := s.c.Settled(); got != 0 {
		t.Errorf("settled %d by a late ACK, want 0", got)
	}
	s.c.Acknowledge(fleet.Cluster, second.Nonce)
	warm(newer)
	s.step(newer, "nothing", "")
	if got := s.c.Settled(); got != 2 {
		t.Errorf("settled %d, want 2", got)
	}
}

// TestManyNamesThatDoNotExist are asked for one by one, as fast as a stream may, and each is answered when it is overdue.
func TestManyNamesThatDoNotExist(t *testing.T) {
	t.Parallel()
	askForMany(t, 100, 50)
}

// BenchmarkPatience is such a stream, beside many names that wait: what falls due costs what was asked for then, and not all
// that waits once for each.
func BenchmarkPatience(b *testing.B) {
	for b.Loop() {
		askForMany(b, 2_000, 200)
	}
}

func askForMany(t testing.TB, waiting, asked int) {
	const missingAfter = 20 * time.Second
	none := fleetAt(1, 1, nil)
	c := planner.New(planner.DefaultMemo).Client(fleet.Key{}, planner.Kind{Delta: true, Envoy: true}, planner.Origin{}, false, start)
	ask := func(at time.Duration, names ...string) {
		c.Request(start.Add(at), planner.Request{Type: fleet.Route, Names: planner.NamesOf(names...)}, none)
	}
	for i := range asked {
		ask(time.Duration(i)*time.Millisecond, fmt.Sprint("one-", i))
	}
	ask(missingAfter-time.Millisecond, manyNames(waiting)...)
	for i := range asked {
		now := start.Add(missingAfter + time.Duration(i)*time.Millisecond)
		out := c.Step(now, none)
		if out.Response == nil || len(out.Response.Removed) != 1 || out.Response.Removed[0] != fmt.Sprint("one-", i) {
			t.Fatalf("name %d: sent %v", i, out.Response)
		}
		c.Sent(now, out.Response, fmt.Sprint(i))
		c.Ack(now, fleet.Route, fmt.Sprint(i), "")
	}
	if left := c.Pending(fleet.Route); left != waiting {
		t.Errorf("%d wait, want %d", left, waiting)
	}
}
