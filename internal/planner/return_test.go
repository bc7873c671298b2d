package planner_test

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestSetOfAnUnknownClientWaits: on a new state-of-the-world stream it is not known what
// the client holds; a set without the listener that waits for a cluster would take the
// one away that serves.
func TestSetOfAnUnknownClientWaits(t *testing.T) {
	t.Parallel()
	target := world(t, 2, "clusters a@1 b@1; listeners l@2")
	l := fleet.Row{Name: "l", Version: "2", Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "b"}}}}
	s := &snapshot.Snapshot{Revision: 2, Types: target.Types}
	s.Types[fleet.Listener] = s.Types[fleet.Listener].With(snapshot.NewResource(fleet.Listener, fleet.Row{Name: "l", Version: "3", Derived: l.Derived}, nil))
	target = snapshot.NewTarget(s, nil)
	c := &script{t: t, c: client{t: t, Envoy: true}}
	c.c.Subscribe(request{Type: fleet.Cluster, Version: "of before"}, target)
	c.c.Subscribe(request{Type: fleet.Listener, Version: "of before"}, target)
	clusters := c.send(target)
	c.step(target, "nothing", "")
	c.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	c.step(target, "listeners l@3", "")
}

// TestEndpointsFollowTheirClusterThoughTheFleetLostThem (PROTOCOL rule 14).
func TestEndpointsFollowTheirClusterThoughTheFleetLostThem(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Envoy: true}}
	none := world(t, 1, "clusters a@1")
	s.c.Subscribe(request{Type: fleet.Cluster}, none)
	clusters := s.send(none)
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, none)
	empty := s.send(none)
	s.c.Acknowledge(fleet.Endpoint, empty.Nonce)
	s.c.Acknowledge(fleet.Cluster, clusters.Nonce)
	changed := world(t, 2, "clusters a@2")
	if got := describe(s.send(changed)); got != "clusters a@2" {
		t.Fatalf("got %s, want a@2", got)
	}
	s.step(changed, describe(empty), "")
}

// TestClustersMayNameEachOther: they come together.
func TestClustersMayNameEachOther(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := world(t, 1, "clusters a@1>b b@1>a c@1")
		s := &script{t: t, c: client{t: t, Delta: delta}}
		s.c.Subscribe(request{Type: fleet.Cluster}, target)
		s.step(target, "clusters a@1 b@1 c@1", "")
	}
}

// TestRoutesDoNotOvertakeWarmingClusters: a stream that began with its endpoints took the
// place of one that was lost while clusters warmed (PROTOCOL rules 13 and 19).
func TestRoutesDoNotOvertakeWarmingClusters(t *testing.T) {
	t.Parallel()
	target := world(t, 2, "clusters a@1 b@1; endpoints a@1 b@1; routes r@2>b")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}, Versions: map[string]string{"a": "1"}}, target)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}}, target)
	s.step(target, "endpoints a@1", "")
	s.step(target, "nothing", "")
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "1"}}, target)
	s.step(target, "clusters b@1", "")
	s.step(target, "routes r@2", "")
}

// TestLateAckOfAClientWithoutTTLs: what it was sent without a TTL does not run out.
func TestLateAckOfAClientWithoutTTLs(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second))
	s := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"a"}}, target)
	r := s.send(target)
	s.at(time.Minute)
	s.c.Acknowledge(fleet.Runtime, r.Nonce)
	s.step(target, "nothing", "")
}

// TestRefusedAnswerIsNotRefusedForEver: it changed nothing, and what it holds may come
// back in another revision.
func TestRefusedAnswerIsNotRefusedForEver(t *testing.T) {
	t.Parallel()
	first := world(t, 1, "listeners l@1")
	s := &script{t: t, c: client{t: t, SingleType: true}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: first.Types[fleet.Listener].Sum().String()}, first)
	s.step(first, "listeners l@1", "no")
	s.step(world(t, 2, "listeners l@2"), "listeners l@2", "")
	s.step(world(t, 3, "listeners l@1"), "listeners l@1", "")
}

// TestReturningClientKeepsItsVirtualHosts: they are not sent again.
func TestReturningClientKeepsItsVirtualHosts(t *testing.T) {
	t.Parallel()
	target := vhdsFleet(vhost("r/a", "1", "a.example"), vhost("r/b", "1", "b.example"))
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}}, target)
	s.c.Subscribe(request{Type: fleet.VirtualHost, Names: []string{"*"}, Versions: map[string]string{"r/a": "1", "r/b": "1"}}, target)
	s.step(target, "nothing", "")
}

// TestRefusalOfAReturningClientRemovesNothing: it has a version whose bytes are not known
// here, and keeps it (SEMANTICS 3.2).
func TestRefusalOfAReturningClientRemovesNothing(t *testing.T) {
	t.Parallel()
	snap := &snapshot.Snapshot{Revision: 2}
	snap.Types[fleet.Listener] = snap.Types[fleet.Listener].With(snapshot.NewResource(fleet.Listener, row("l", "2"), nil))
	target := snapshot.NewTarget(snap, nil)
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, target)
	r := s.send(target)
	s.c.Refuse(fleet.Listener, r.Nonce, says(fleet.Listener, "l"))
	vs := s.c.Verdicts()
	if len(vs) != 1 || !vs[0].Blame[0].Leave {
		t.Fatalf("verdicts %+v, want l left alone", vs)
	}
	s.step(snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Listener, Refused: snapshot.Reported("l", "2"), Leave: true}}), "nothing", "")
}

// TestWhatStandsInIsDoubtedLikeWhatWasRefused: the stream ended after a refusal and before
// its repair was ACKed. Envoy may hold half of the refused version under the old one's name
// (SEMANTICS 3.4), so the old one is sent, though it is older than what the node settled.
func TestWhatStandsInIsDoubtedLikeWhatWasRefused(t *testing.T) {
	t.Parallel()
	snap := &snapshot.Snapshot{Revision: 6}
	bad := row("a", "6")
	bad.Revision = 6
	snap.Types[fleet.Cluster] = snap.Types[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, bad, nil))
	for _, c := range []struct {
		version string // of the last known good one, "" if there is none
		want    string
	}{
		{"5", "clusters a@5"},
		{"", "clusters -a"},
	} {
		e := snapshot.Exception{Type: fleet.Cluster, Refused: snapshot.Reported("a", "6")}
		has := map[string]string{}
		if c.version != "" {
			good := row("a", c.version)
			good.Revision = 5
			e.Good, has["a"] = snapshot.NewResource(fleet.Cluster, good, nil), c.version
		}
		target := snapshot.NewTarget(snap, []snapshot.Exception{e})
		s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Past: planner.Past{Unclean: true, Settled: 5}}}
		s.c.Subscribe(request{Type: fleet.Cluster, Versions: has}, target)
		s.step(target, c.want, "")

		sotw := client{t: t, Envoy: true, Past: planner.Past{Unclean: true, Settled: 5}}
		sotw.Subscribe(request{Type: fleet.Cluster, Version: target.Types[fleet.Cluster].Sum().String()}, target)
		if r := sotw.Next(target); r == nil {
			t.Error("state of the world: the set was believed")
		}
	}
}

// TestCutBeforeAnAnswerThatChangesNothing: a stream that ends before the ACK of what the
// client had anyway leaves nothing in doubt.
func TestCutBeforeAnAnswerThatChangesNothing(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "clusters a@1; listeners l@1")
	for name, c := range map[string]struct {
		client  client
		request request
		want    bool
	}{
		"delta, an empty answer": {client{t: t, Delta: true}, request{Type: fleet.Cluster, Versions: map[string]string{"a": "1"}}, true},
		"delta, a cluster":       {client{t: t, Delta: true}, request{Type: fleet.Cluster}, false},
		"the same set":           {client{t: t}, request{Type: fleet.Listener, Version: target.Types[fleet.Listener].Sum().String()}, true},
		"another set":            {client{t: t}, request{Type: fleet.Listener, Version: "of before"}, false},
	} {
		s := &script{t: t, c: c.client}
		s.c.Subscribe(c.request, target)
		s.send(target)
		if s.c.Clean() != c.want {
			t.Errorf("%s: clean is %v", name, !c.want)
		}
	}
	s := &script{t: t}
	none := snapshot.NewTarget(&snapshot.Snapshot{Revision: 1}, nil)
	s.c.Subscribe(request{Type: fleet.Listener, Version: "of before"}, none)
	if s.send(none); s.c.Clean() {
		t.Error("an empty set in the place of an unknown one leaves nothing in doubt")
	}
}

// TestARefusedPutBackIsNotSentAgain: what stood in is refused as well, and there is nothing
// else to put back (SEMANTICS 3.6).
func TestARefusedPutBackIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		revisions [3]string
		refused   string
		back      string
	}{
		"a withheld listener": {
			[3]string{"listeners l@1>r; routes r@1>a", "listeners l@2>r; routes r@1>a", "listeners l@3>s; routes r@1>a"},
			"listeners l@2", "listeners l@1",
		},
		"a deleted cluster that is still named": {
			[3]string{"clusters a@1; routes r@1>a", "clusters a@2; routes r@1>a", "clusters c@1; routes r@2>c"},
			"clusters a@2", "clusters a@1 c@1",
		},
	} {
		for _, delta := range []bool{true, false} {
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
			one := world(t, 1, c.revisions[0])
			for typ, names := range map[fleet.Type][]string{fleet.Cluster: nil, fleet.Listener: nil, fleet.Route: {"r"}} {
				s.c.Subscribe(request{Type: typ, Names: names}, one)
			}
			s.steps(one)
			s.step(world(t, 2, c.revisions[1]), c.refused, "no")
			three, sent := world(t, 3, c.revisions[2]), map[string]int{}
			for range 20 {
				r := s.send(three)
				if r == nil {
					break
				}
				sent[describe(r)]++
				if r.Type.Slug() == c.back[:len(r.Type.Slug())] {
					s.c.Refuse(r.Type, r.Nonce, "again")
					s.c.Verdicts()
				} else {
					s.c.Acknowledge(r.Type, r.Nonce)
				}
			}
			if sent[c.back] != 1 {
				t.Errorf("%s (delta=%v): sent %v, want %s once", name, delta, sent, c.back)
			}
			for what, n := range sent {
				if n > 1 {
					t.Errorf("%s (delta=%v): %s was refused and sent %d times", name, delta, what, n)
				}
			}
		}
	}
}

// TestASetThatWasRefusedUnknownStaysUnknown: the next one may still take something away.
func TestASetThatWasRefusedUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	two := world(t, 2, "listeners l@2>r m@2>r; routes r@1>a")
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "of before"}, two)
	s.step(two, "listeners l@2 m@2", "no")
	s.step(world(t, 3, "listeners l@3>s m@3>r; routes r@1>a"), "listeners l@3 m@3", "") // with l, whose route is not there
}

// TestANameThatWasAskedForAnewIsAnswered: the client gave a route up with its listener, asked for it again with the
// next one, and lost the answer with its stream. The version that it reports is that of the route which it had before.
func TestANameThatWasAskedForAnewIsAnswered(t *testing.T) {
	t.Parallel()
	old, listeners := world(t, 2, "clusters a@1; routes r@2>a").Types, world(t, 4, "listeners m@4>r").Types
	old[fleet.Listener] = listeners[fleet.Listener]
	now := snapshot.NewTarget(&snapshot.Snapshot{Revision: 4, Types: old}, nil)
	version := now.Types[fleet.Route].Sum().String()
	for _, c := range []struct {
		name string
		past planner.Past
		want string
	}{
		{"listeners changed since", planner.Past{Unclean: true, Settled: 3}, "routes r@2"},
		{"nothing changed since", planner.Past{Unclean: true, Settled: 4}, "nothing"},
		{"it ended clean", planner.Past{Settled: 3}, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, c: client{t: t, Envoy: true, Now: start, Past: c.past}}
			s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: version}, now)
			s.step(now, c.want, "")
		})
	}
}

// TestDeletedEndpointsOfAWarmingClient: a client that begins with endpoints is believed nothing, and what it reports of deleted ones is
// emptied until it ACKs that, though it refuses the response that says so first.
func TestDeletedEndpointsOfAWarmingClient(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "clusters a@1 c@1; endpoints a@1")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b", "c"}, Versions: map[string]string{"c": "0"}}, target)
	none := snapshot.Absent(fleet.Endpoint, "c").Version
	s.step(target, "endpoints a@1 c@"+none+" -b", says(fleet.Endpoint, "a"))
	s.step(target, "endpoints c@"+none+" -a", "")
}

// TestARefusedSetOfAnUnknownClientTakesNothingThatIsNamed: an Envoy comes with clusters of another server, and refuses the first set for one
// of them. It may have the others, and its route goes on to them: the next set holds those until that route has moved.
func TestARefusedSetOfAnUnknownClientTakesNothingThatIsNamed(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		after, sent string
	}{
		"another version of the culprit": {"clusters b@1 p@3; endpoints b@1; routes r@2>b; listeners l@1>r",
			"clusters a@1 b@1 p@3, endpoints a@1, |, routes r@2, clusters b@1 p@3, |"},
		"the culprit is deleted": {"clusters b@1; endpoints b@1; routes r@2>b; listeners l@1>r",
			"clusters a@1 b@1, endpoints a@1, |, routes r@2, clusters b@1, |"},
		"what it names stays": {"clusters a@1 b@1; endpoints a@1 b@1; routes r@2>b; listeners l@1>r",
			"clusters a@1 b@1, endpoints a@1, |, routes r@2"},
		"nothing names it": {"clusters b@1; endpoints b@1; routes r@1>a; listeners l@1>r",
			"clusters a@1 b@1, endpoints a@1, |, clusters b@1, |"},
	} {
		one := world(t, 1, "clusters a@1 p@2; endpoints a@1; routes r@1>a; listeners l@1>r")
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of another server"}, one)
		for typ, names := range map[fleet.Type][]string{fleet.Endpoint: {"a"}, fleet.Listener: nil, fleet.Route: {"r"}} {
			s.c.Subscribe(request{Type: typ, Names: names, Version: one.Types[typ].Sum().String()}, one)
		}
		s.step(one, "clusters a@1 p@2", says(fleet.Cluster, "p"))
		s.steps(one.Except([]snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("p", "2"), Leave: true}}))
		if got := strings.Join(s.steps(world(t, 2, x.after)), ", "); got != x.sent {
			t.Errorf("%s: got\n%s, want\n%s", name, got, x.sent)
		}
	}
}

// TestWhatMayBeToBlameIsNotOfferedAgain: of two clusters that an Envoy of an unknown set refused, or sticks on, it is not known which is to blame.
// A set that leaves out both is not kept back for them.
func TestWhatMayBeToBlameIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	one, two := world(t, 1, "clusters a@1 p@2; routes r@1>p"), world(t, 2, "clusters b@1; routes r@2>b")
	for _, refuses := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of another server"}, one)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: one.Types[fleet.Route].Sum().String()}, one)
		r := s.send(one)
		if describe(r) != "clusters a@1 p@2" {
			t.Fatalf("got %s", describe(r))
		}
		if refuses {
			s.c.Refuse(fleet.Cluster, r.Nonce, "no")
		} else {
			s.at(time.Minute)
		}
		s.c.Verdicts()
		if got := strings.Join(s.steps(two), ", "); got != "clusters b@1, |, routes r@2" {
			t.Errorf("(refuses: %v) got %s", refuses, got)
		}
	}
}
