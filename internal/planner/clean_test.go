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

// changed is after, where what did not change is as old as it was.
func changed(t *testing.T, before *snapshot.Snapshot, words string) (*snapshot.Snapshot, *snapshot.Target) {
	t.Helper()
	s, _ := after(t, before, words)
	for i := range s.Types {
		for r := range s.Types[i].All() {
			if was := before.Types[i].Get(r.Name); was != nil && snapshot.Same(was, r) {
				s.Types[i] = s.Types[i].Without(r.Name).With(was)
			}
		}
	}
	return s, snapshot.NewTarget(s, nil)
}

// TestACrowdThatAskedForClustersSharesItsSteps: they left clean, and come back to a fleet with one cluster more.
func TestACrowdThatAskedForClustersSharesItsSteps(t *testing.T) {
	t.Parallel()
	one := first(t, "clusters a@1 b@1")
	_, now := changed(t, one, "clusters a@1 b@1 z@1")
	pl := planner.New(planner.DefaultMemo)
	var last *planner.Response
	for i := range 5 {
		past := planner.Past{Settled: 1}
		c := pl.Client(fleet.Key{}, planner.Kind{Delta: true, Envoy: true}, planner.Origin{Past: past, Before: one}, false, start)
		c.Request(start, planner.Request{Type: fleet.Cluster, Versions: planner.VersionsOf(map[string]string{"a": "1", "b": "1"})}, now)
		r := c.Step(start, now).Response
		if i == 4 && r != last {
			t.Error("each has a response of its own worked out")
		}
		last = r
	}
}

// TestAtRestWithWhatIsWithheldIsClean: state of the world; a route waits for a cluster that is there no more.
func TestAtRestWithWhatIsWithheldIsClean(t *testing.T) {
	t.Parallel()
	snap := &snapshot.Snapshot{Revision: 1, Types: world(t, 1, "clusters a@1 c@1; endpoints a@1; listeners l@1>r; routes r@1>c").Types}
	target := snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("c", "1")}})
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster}, target)
		s.steps(target)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, target)
		s.c.Subscribe(request{Type: fleet.Listener}, target)
		s.steps(target)
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, target)
		s.steps(target)
		if s.c.Settled() != 1 || !s.c.Clean() {
			t.Errorf("delta %v: settled %d, clean %v", delta, s.c.Settled(), s.c.Clean())
		}
	}
}

// TestAtRestWithoutARefusalIsClean: state of the world; a cluster is withheld, as it names a secret that is not there, and a route waits for it.
// Nothing was refused, nothing is unanswered, and it counts as settled.
func TestAtRestWithoutARefusalIsClean(t *testing.T) {
	t.Parallel()
	c := row("c", "1")
	c.Revision, c.Derived.Refs = 1, []fleet.Ref{{Type: fleet.Secret, Name: "s"}}
	snap := &snapshot.Snapshot{Revision: 1, Types: world(t, 1, "clusters a@1; endpoints a@1; listeners l@1>r; routes r@1>c").Types}
	snap.Types[fleet.Cluster] = snap.Types[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, c, []byte("x")))
	target := snapshot.NewTarget(snap, nil)
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		var out []string
		for _, r := range []request{{Type: fleet.Cluster}, {Type: fleet.Endpoint, Names: []string{"a"}}, {Type: fleet.Listener}, {Type: fleet.Route, Names: []string{"r"}}} {
			s.c.Subscribe(r, target)
			out = append(out, s.steps(target)...)
		}
		if s.c.Settled() != 1 || !s.c.Clean() {
			t.Errorf("delta %v: settled %d, clean %v: %q", delta, s.c.Settled(), s.c.Clean(), out)
		}
	}
}

// TestANameThatIsOwedAgainIsNotClean: in state of the world a client that gave a route up and asks for it again reports the version of before, though
// it has that route no more.
func TestANameThatIsOwedAgainIsNotClean(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := world(t, 1, "routes r@1")
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}}, target)
		s.step(target, "routes r@1", "")
		again := request{Type: fleet.Route, Names: []string{"r"}}
		s.c.Subscribe(request{Type: fleet.Route, Dropped: []string{"r"}}, target)
		if s.step(target, "nothing", ""); !s.c.Clean() {
			t.Errorf("delta %v: not clean without it", delta)
		}
		if s.c.Subscribe(again, target); s.c.Clean() != delta { // which says what it has
			t.Errorf("delta %v: clean %v while it is owed", delta, !delta)
		}
		s.step(target, "routes r@1", "")
		if !s.c.Clean() {
			t.Errorf("delta %v: not clean at rest", delta)
		}
	}
}

// TestAFullSetNameThatIsOwedAgainIsNotClean: who asks for clusters by name gave one up and asks for it again; its stream ends before the answer has
// left. It comes back with the version of before, and has to be sent what it lacks.
func TestAFullSetNameThatIsOwedAgainIsNotClean(t *testing.T) {
	t.Parallel()
	for _, typ := range []fleet.Type{fleet.Route, fleet.Cluster, fleet.Listener} {
		words := typ.Slug() + " r@1 s@1"
		snap := first(t, words)
		target := snapshot.NewTarget(snap, nil)
		s := &script{t: t, c: client{t: t, Now: start}}
		both := []string{"r", "s"}
		s.c.Subscribe(request{Type: typ, Names: both}, target)
		r := s.send(target)
		version := r.Version.String()
		s.c.Acknowledge(r.Type, r.Nonce)
		s.c.Subscribe(request{Type: typ, Names: []string{"s"}, Version: version}, target)
		s.c.Subscribe(request{Type: typ, Names: both, Version: version}, target) // before anything was said to that
		past := s.c.leaves()
		n := &script{t: t, c: client{t: t, Now: start, Opening: true, Past: past}}
		n.c.Subscribe(request{Type: typ, Names: both, Version: version}, target)
		n.at(time.Second)
		n.c.Opened()
		sent := n.steps(target)
		if !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "r@1") }) {
			t.Errorf("%s: it left %+v, comes back without r, and is sent %q", typ, past, sent)
		}
	}
}

// TestAWithheldNameThatIsOwedAgainIsNotClean: a version of a route is withheld; the client gives the route up, and asks for it again, and has none.
func TestAWithheldNameThatIsOwedAgainIsNotClean(t *testing.T) {
	t.Parallel()
	one := first(t, "clusters a@1; endpoints a@1; listeners l@1; extensions r@1>a")
	then := snapshot.NewTarget(one, nil)
	two, _ := changed(t, one, "clusters a@1 c@1; endpoints a@1; listeners l@1; extensions r@2>c")
	now := snapshot.NewTarget(two, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("c", "1")}})
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	filter := request{Type: fleet.Extension, Names: []string{"r"}}
	for _, r := range []request{{Type: fleet.Cluster}, {Type: fleet.Endpoint, Names: []string{"a"}}, {Type: fleet.Listener}, filter} {
		s.c.Subscribe(r, then)
		s.steps(then)
	}
	out := s.steps(now)
	s.c.Waits(now, false)
	version := one.Types[fleet.Extension].Sum().String()
	s.c.Subscribe(request{Type: fleet.Extension, Version: version}, now)
	out = append(out, s.steps(now)...)
	s.c.Waits(now, false)
	filter.Version = version
	s.c.Subscribe(filter, now)
	out = append(out, "again")
	out = append(out, s.steps(now)...)
	s.c.Waits(now, false)
	past := s.c.leaves()
	three, _ := changed(t, two, "clusters a@1 c@1; endpoints a@1; listeners l@1; extensions r@1>a")
	back := snapshot.NewTarget(three, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("c", "1")}})
	n := &script{t: t, c: client{t: t, Envoy: true, Now: start, Opening: true, Past: past}}
	if stays := s.steps(back); !slices.Contains(stays, "extensions r@1") {
		t.Errorf("on its old stream it is sent %q", stays)
	}
	n.c.Subscribe(request{Type: fleet.Cluster, Version: one.Types[fleet.Cluster].Sum().String()}, back)
	n.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}, Version: one.Types[fleet.Endpoint].Sum().String()}, back)
	n.c.Subscribe(request{Type: fleet.Listener, Version: one.Types[fleet.Listener].Sum().String()}, back)
	n.c.Subscribe(filter, back)
	n.at(time.Second)
	n.c.Opened()
	sent := n.steps(back)
	if !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "r@1") }) {
		t.Errorf("it left %+v after %q, comes back without r, and is sent %q", past, out, sent)
	}
}

// TestWhoWaitsForWhatItNeverHadIsClean: state of the world; a route that nobody wrote yet.
func TestWhoWaitsForWhatItNeverHadIsClean(t *testing.T) {
	t.Parallel()
	snap := first(t, "clusters a@1; endpoints a@1; listeners l@1>s; routes s@1>a")
	now := snapshot.NewTarget(snap, nil)
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	for _, r := range []request{{Type: fleet.Cluster}, {Type: fleet.Endpoint, Names: []string{"a"}}, {Type: fleet.Listener}} {
		s.c.Subscribe(r, now)
		s.steps(now)
	}
	for _, names := range [][]string{{"s"}, {"s", "missing"}} {
		s.c.Subscribe(request{Type: fleet.Route, Names: names}, now)
		if s.steps(now); !s.c.Clean() {
			t.Errorf("%q: not clean", names)
		}
	}
}

// TestWhatWasGivenUpSinceTheVersion: state of the world; a stream ends while a route is owed that its client had, or was sent, and gave up. It will
// report a version that has it, until it has taken another one.
func TestWhatWasGivenUpSinceTheVersion(t *testing.T) {
	t.Parallel()
	one := first(t, "routes r@1 s@1")
	_, now := changed(t, one, "routes r@2 s@2")
	_, without := changed(t, one, "routes s@1")
	had := snapshot.NewTarget(one, nil)
	asks := func(names ...string) request { return request{Type: fleet.Route, Names: names} }
	for about, c := range map[string]struct {
		play  func(s *script)
		clean bool
	}{
		"had": {func(s *script) { s.c.Subscribe(asks("s"), had); s.c.Subscribe(asks("r", "s"), had) }, false},
		"nobody wrote it": {func(s *script) {
			s.c.Subscribe(asks("s"), without)
			s.steps(without)
			s.c.Subscribe(asks("r", "s"), without)
			s.steps(without)
		}, false},
		"on its way": {func(s *script) {
			r := s.send(now)
			s.c.Subscribe(asks("s"), now)
			s.c.Acknowledge(r.Type, r.Nonce)
			s.c.Subscribe(asks("r", "s"), now)
		}, false},
		"it has taken another one": {func(s *script) {
			s.c.Subscribe(asks("s"), had)
			s.steps(now)
			s.c.Subscribe(asks("s", "missing"), now)
		}, true},
	} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(asks("r", "s"), had)
		s.steps(had)
		if c.play(s); s.c.Clean() != c.clean {
			t.Errorf("%s: clean %v", about, !c.clean)
		}
	}
}

// TestAVersionThatNobodyKnowsIsNotClean: state of the world; a client reports one, and its stream ends before it is sent what it asks for. Another
// server may know it, and the client may have given up some of that since.
func TestAVersionThatNobodyKnowsIsNotClean(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "listeners l@1; routes r@1")
	for _, stepped := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		if stepped {
			s.c.Subscribe(request{Type: fleet.Listener}, target)
			s.steps(target)
		}
		s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Version: "unknown"}, target)
		if s.c.Clean() {
			t.Errorf("clean after a step (%v)", stepped)
		}
		if s.steps(target); !s.c.Clean() {
			t.Error("not clean at rest")
		}
	}
}

// returns has a client that left come back to a target, and tells what it is sent.
func (s *script) returns(past planner.Past, now *snapshot.Target, r request) []string {
	n := &script{t: s.t, c: client{t: s.t, Envoy: s.c.Envoy, TTL: s.c.TTL, Now: s.c.Now, Opening: true, Past: past}}
	n.c.Subscribe(r, now)
	n.c.Now = n.c.Now.Add(time.Second)
	n.c.Opened()
	return n.steps(now)
}

// TestWhatWasDoubtedAndGivenUpIsNotClean: state of the world; a client refuses a route, gives it up while it is in doubt, and asks for it again. It reports the
// version of before.
func TestWhatWasDoubtedAndGivenUpIsNotClean(t *testing.T) {
	t.Parallel()
	one := first(t, "routes r@1 s@1")
	then := snapshot.NewTarget(one, nil)
	two, now := changed(t, one, "routes r@2 s@1")
	kept := snapshot.NewTarget(two, []snapshot.Exception{{Type: fleet.Route, Refused: snapshot.Reported("r", "2"), Good: one.Types[fleet.Route].Get("r")}})
	s := &script{t: t, c: client{t: t, Now: start}}
	version := one.Types[fleet.Route].Sum().String()
	both := request{Type: fleet.Route, Names: []string{"r", "s"}}
	s.c.Subscribe(both, then)
	s.steps(then)
	both.Version = version
	s.step(now, "routes r@2", says(fleet.Route, "r"))
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"s"}, Version: version}, kept)
	out := s.steps(kept)
	s.c.Subscribe(both, kept)
	past := s.c.leaves()
	if sent := s.returns(past, kept, both); !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "r@1") }) {
		t.Errorf("it left %+v after %q, comes back without r, and is sent %q", past, out, sent)
	}
}

// TestWhatWasNotBelievedAndGivenUpIsNotClean: the last stream did not end clean, and the route is newer than what was settled: it is in doubt. The client gives
// it up before it is sent, and asks for it again.
func TestWhatWasNotBelievedAndGivenUpIsNotClean(t *testing.T) {
	t.Parallel()
	one := first(t, "routes r@1 s@1")
	two, now := changed(t, one, "routes r@2 s@1")
	s := &script{t: t, c: client{t: t, Now: start, Past: planner.Past{Unclean: true, Settled: 1}, Before: one}}
	version := two.Types[fleet.Route].Sum().String()
	both := request{Type: fleet.Route, Names: []string{"r", "s"}, Version: version}
	s.c.Subscribe(both, now)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"s"}, Version: version}, now)
	out := s.steps(now)
	s.c.Subscribe(both, now)
	past := s.c.leaves()
	if sent := s.returns(past, now, both); !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "r@2") }) {
		t.Errorf("it left %+v after %q, comes back without r, and is sent %q", past, out, sent)
	}
}

// TestWhatExpiredIsNotClean: state of the world; a layer whose TTL is over is gone with the client, which reports the version that has it.
func TestWhatExpiredIsNotClean(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second), brief("b", "1", time.Hour))
	s := &script{t: t, c: client{t: t, Envoy: true, TTL: true, Now: start}}
	both := request{Type: fleet.Runtime, Names: []string{"a", "b"}}
	s.c.Subscribe(both, target)
	r := s.send(target)
	s.at(4 * time.Second)
	s.c.Acknowledge(r.Type, r.Nonce)
	past := s.c.leaves()
	both.Version = r.Version.String()
	if sent := s.returns(past, target, both); !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "a@1") }) {
		t.Errorf("it left %+v, comes back without a, and is sent %q", past, sent)
	}
}

// TestWhoGaveUpOneAndWaitsForWhatItNeverHadIsClean: endpoints that nobody wrote, or a route; the client gives another one up, and is at rest.
func TestWhoGaveUpOneAndWaitsForWhatItNeverHadIsClean(t *testing.T) {
	t.Parallel()
	for _, envoy := range []bool{true, false} {
		for _, typ := range []fleet.Type{fleet.Endpoint, fleet.Route} {
			now := snapshot.NewTarget(first(t, "clusters a@1 b@1 n@1; endpoints a@1 b@1; listeners l@1>a; routes a@1>a b@1>b"), nil)
			s := &script{t: t, c: client{t: t, Envoy: envoy, Now: start}}
			for _, r := range []request{{Type: fleet.Cluster}, {Type: fleet.Listener}, {Type: typ, Names: []string{"a", "b", "n"}}} {
				s.c.Subscribe(r, now)
				s.steps(now)
			}
			before := s.c.Clean()
			s.c.Subscribe(request{Type: typ, Names: []string{"a", "n"}}, now)
			for i := range 10 {
				s.at(time.Duration(i) * time.Hour)
				s.steps(now)
			}
			if !before || !s.c.Clean() {
				t.Errorf("envoy %v, %s: clean %v before, %v at rest", envoy, typ, before, s.c.Clean())
			}
		}
	}
}

// TestAClusterThatIsOwedAgainIsNotClean: who asks for clusters by name gave one up and asks for it again, and its stream ends before the answer. On its next stream
// listeners are what is answered in any case: the cluster has to be sent too.
func TestAClusterThatIsOwedAgainIsNotClean(t *testing.T) {
	t.Parallel()
	words := "listeners l@1; clusters r@1 s@1"
	one := first(t, words)
	had := snapshot.NewTarget(one, nil)
	two, without := changed(t, one, "listeners l@1; clusters s@1")
	_, back := changed(t, two, words)
	for about, then := range map[string]*snapshot.Target{"owed": had, "nobody wrote it": without} {
		for _, envoy := range []bool{true, false} {
			now := then
			s := &script{t: t, c: client{t: t, Envoy: envoy, Now: start}}
			listeners, both := request{Type: fleet.Listener, Names: []string{"l"}}, request{Type: fleet.Cluster, Names: []string{"r", "s"}}
			s.c.Subscribe(listeners, had)
			s.c.Subscribe(both, had)
			s.steps(had)
			both.Version = one.Types[fleet.Cluster].Sum().String()
			s.c.Subscribe(request{Type: fleet.Cluster, Names: []string{"s"}, Version: both.Version}, now)
			var out []string
			if now == without {
				out = s.steps(now)
			}
			s.c.Subscribe(both, now)
			if now == without {
				out = append(out, s.steps(now)...)
			}
			past := s.c.leaves()
			n := &script{t: t, c: client{t: t, Envoy: envoy, Now: start, Opening: true, Past: past}}
			listeners.Version = one.Types[fleet.Listener].Sum().String()
			if now == without {
				now = back
			}
			n.c.Subscribe(listeners, now)
			n.c.Subscribe(both, now)
			n.at(time.Second)
			n.c.Opened()
			sent := n.steps(now)
			if !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "r@1") }) {
				t.Errorf("%s, envoy %v: it left %+v after %q, comes back without r, and is sent %q", about, envoy, past, out, sent)
			}
		}
	}
}
