package planner_test

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// after is the target of the next revision of a view.
func after(t *testing.T, before *snapshot.Snapshot, words string) (*snapshot.Snapshot, *snapshot.Target) {
	t.Helper()
	s := &snapshot.Snapshot{Types: world(t, before.Revision+1, words).Types, Revision: before.Revision + 1}
	s.Follow(before, snapshot.Change{Resources: 1})
	return s, snapshot.NewTarget(s, nil)
}

func first(t *testing.T, words string) *snapshot.Snapshot {
	t.Helper()
	return &snapshot.Snapshot{Types: world(t, 1, words).Types, Revision: 1}
}

// TestWhatAReturningClientHeldIsRemembered: it comes back with the sets of an earlier
// revision, so that what it is to lose leaves it in order, and what is refused is put back.
func TestWhatAReturningClientHeldIsRemembered(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 b@1; endpoints a@1 b@1; listeners l@1>r; routes r@1>a")
	_, now := after(t, before, "clusters b@2; endpoints b@1; listeners l@1>r; routes r@2>b")
	returning := func(delta bool) *script {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		names := map[fleet.Type][]string{fleet.Endpoint: {"a", "b"}, fleet.Route: {"r"}}
		for _, typ := range []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Listener, fleet.Route} {
			r := request{Type: typ, Names: names[typ]}
			if delta {
				r.Versions = map[string]string{}
				for x := range before.Types[typ].All() {
					r.Versions[x.Name] = x.Version
				}
			} else {
				r.Version = before.Types[typ].Sum().String()
			}
			s.c.Subscribe(r, now)
		}
		return s
	}

	s := returning(false)
	s.step(now, "clusters a@1 b@2", "") // a serves until the route has moved
	s.step(now, "endpoints b@1", "")
	s.step(now, "listeners l@1", "") // one set is always sent
	s.step(now, "routes r@2", "")
	s.step(now, "clusters b@2", "")

	for _, delta := range []bool{true, false} {
		s := returning(delta)
		r := s.send(now)
		s.c.Refuse(fleet.Cluster, r.Nonce, says(fleet.Cluster, "b"))
		vs := s.c.Verdicts()
		if len(vs) != 1 || len(vs[0].Blame) != 1 {
			t.Fatalf("delta %v: verdicts %+v, want b", delta, vs)
		}
		if b := vs[0].Blame[0]; b.Leave || b.Good == nil || b.Good.Version != "1" {
			t.Errorf("delta %v: %+v stands in, want b@1", delta, b.Good)
		}
	}
}

// TestASetThatIsNotRememberedIsNotTakenAway: nothing is known of what the client has, so
// what it refuses is left as it is.
func TestASetThatIsNotRememberedIsNotTakenAway(t *testing.T) {
	t.Parallel()
	now := world(t, 2, "clusters a@2 b@2")
	for _, words := range []string{says(fleet.Cluster, "a"), "no"} {
		s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster, Version: "of before"}, now)
		r := s.send(now)
		s.c.Refuse(fleet.Cluster, r.Nonce, words)
		for _, v := range s.c.Verdicts() {
			for _, b := range v.Blame {
				if b.Refused.Name != "a" || !b.Leave {
					t.Errorf("%q: %s is blamed, to be left alone: %v", words, b.Refused.Name, b.Leave)
				}
			}
		}
		s.step(now, "nothing", "")
		if next := world(t, 3, "clusters a@3 b@2"); words == "no" {
			s.step(next, "clusters a@3 b@2", "")
		}
	}
}

func TestHowMuchIsRemembered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, changed, want int }{
		{10, 1, 64},      // no more than 64 revisions
		{10, 400, 2},     // of a small fleet a thousand resources
		{10_000, 400, 6}, // of a large one a quarter of what it has
		{10, 2_000, 1},   // and always the last
	} {
		s := &snapshot.Snapshot{Revision: 1}
		for i := range c.size {
			s.Types[fleet.Cluster] = s.Types[fleet.Cluster].With(snapshot.NewResource(fleet.Cluster, row(fmt.Sprint(i), "1"), nil))
		}
		for range 100 {
			next := &snapshot.Snapshot{Revision: s.Revision + 1, Types: s.Types}
			next.Follow(s, snapshot.Change{Resources: c.changed})
			s = next
		}
		if len(s.Recent) != c.want {
			t.Errorf("%+v: %d are remembered", c, len(s.Recent))
		}
	}
}

// TestEndpointsThatCrossedTheirCluster: the first requests of a stream come together. The
// cluster is sent as the first of them is read; the endpoints that the client has are
// what the changed cluster waits for (PROTOCOL rule 14).
func TestEndpointsThatCrossedTheirCluster(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1; endpoints a@1")
	_, now := after(t, before, "clusters a@2; endpoints a@1")
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		clusters := request{Type: fleet.Cluster, Version: before.Types[fleet.Cluster].Sum().String()}
		endpoints := request{Type: fleet.Endpoint, Names: []string{"a"}, Version: before.Types[fleet.Endpoint].Sum().String()}
		if delta {
			clusters.Version, endpoints.Version = "", ""
			clusters.Versions, endpoints.Versions = map[string]string{"a": "1"}, map[string]string{"a": before.Types[fleet.Endpoint].Get("a").Version}
		}
		s.c.Subscribe(clusters, now)
		if got := describe(s.send(now)); got != "clusters a@2" {
			t.Fatalf("got %s", got)
		}
		s.c.Subscribe(endpoints, now)
		s.step(now, "endpoints a@1", "")
		s.step(now, "nothing", "")
	}
}

// TestSlowClustersAreNotPresumedStuck for 30 s, and others not for 2 s, unless something
// tells which it is (SEMANTICS 3.8b).
func TestSlowClustersAreNotPresumedStuck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row   fleet.Row
		asked []string
		want  time.Duration
	}{
		{fleet.Row{Name: "a", Version: "2", Derived: fleet.Derived{Slow: true}}, nil, 30 * time.Second},
		{fleet.Row{Name: "a", Version: "2", Derived: fleet.Derived{EDSName: "a"}}, []string{"a"}, 2*time.Second + time.Millisecond},
		{fleet.Row{Name: "a", Version: "2", Derived: fleet.Derived{EDSName: "a"}}, nil, time.Second + time.Millisecond},
	} {
		target := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {c.row}, fleet.Endpoint: {row("a", "1")}})
		s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster}, target)
		s.send(target)
		if len(c.asked) > 0 {
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: c.asked}, target)
			s.step(target, "endpoints a@1", "")
		}
		if got := s.c.Due().Sub(start); got != time.Second {
			t.Errorf("%+v: looked at after %s, want a second", c.row, got)
		}
		s.at(time.Second)
		s.step(target, "nothing", "")
		if got := s.c.Due().Sub(start); got != min(c.want, 20*time.Second) {
			t.Errorf("%+v: due after %s, want %s", c.row, got, c.want)
		}
		s.at(min(c.want, 29*time.Second) - time.Millisecond)
		s.step(target, "nothing", "")
	}
}

// TestExceptionsThatAreInDoubt (SEMANTICS 3.6): a client that reports nothing of the type is
// offered what was refused once more; so is one that has taken it after all, whatever is
// known of its last stream.
func TestExceptionsThatAreInDoubt(t *testing.T) {
	t.Parallel()
	now := first(t, "clusters a@2 b@2 c@2; listeners l@2")
	good := snapshot.NewResource(fleet.Cluster, row("a", "1"), nil)
	target := snapshot.NewTarget(now, []snapshot.Exception{
		{Type: fleet.Cluster, Refused: snapshot.Reported("a", "2"), Good: good},
		{Type: fleet.Cluster, Refused: snapshot.Reported("b", "2")},
		{Type: fleet.Cluster, Refused: snapshot.Reported("c", "2"), Leave: true},
		{Type: fleet.Listener, Refused: snapshot.Reported("l", "2")},
	})
	for name, c := range map[string]struct {
		request request
		want    int
	}{
		"delta, nothing":              {request{Type: fleet.Cluster}, 3},
		"delta, what stands in":       {request{Type: fleet.Cluster, Versions: map[string]string{"a": "1"}}, 0},
		"delta, the refused versions": {request{Type: fleet.Cluster, Versions: map[string]string{"a": "2", "c": "2"}}, 2},
		"a set that is not known":     {request{Type: fleet.Cluster, Version: "of before"}, 3}, // it may have any of them
		"the set with what stands in": {request{Type: fleet.Cluster, Version: target.Types[fleet.Cluster].Sum().String()}, 0},
		"the set without exceptions":  {request{Type: fleet.Cluster, Version: now.Types[fleet.Cluster].Sum().String()}, 3},
		"no set":                      {request{Type: fleet.Cluster}, 3},
	} {
		client := client{t: t, Delta: c.request.Versions != nil || name == "delta, nothing", Envoy: true, Past: planner.Past{Unclean: len(name)%2 == 0}}
		client.Subscribe(c.request, target)
		d := client.Doubted()
		if len(d) != c.want {
			t.Errorf("%s: %+v are in doubt, want %d", name, d, c.want)
		}
		for _, x := range d {
			if x.Type != fleet.Cluster || x.Version != "2" {
				t.Errorf("%s: %+v is in doubt", name, x)
			}
		}
		client.Subscribe(c.request, target)
		if d := client.Doubted(); len(d) > 0 {
			t.Errorf("%s: %+v are in doubt a second time", name, d)
		}
	}
}

// TestT41_WhatAClientConfirmedIsKeptFromItByItselfAlone: exceptions that come from elsewhere
// are doubted where the client has confirmed the refused version, before anything is sent;
// what it refused itself is not.
func TestT41_WhatAClientConfirmedIsKeptFromItByItselfAlone(t *testing.T) {
	t.Parallel()
	now := first(t, "clusters a@2 b@2")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	plain := snapshot.NewTarget(now, nil)
	s.c.Subscribe(request{Type: fleet.Cluster}, plain)
	s.step(plain, "clusters a@2 b@2", "")
	refused := []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("a", "2")}}
	target := snapshot.NewTarget(now, refused)
	s.step(target, "nothing", "")
	if d := s.c.Doubted(); len(d) != 1 || d[0] != (refusal.Key{Type: fleet.Cluster, Name: "a", Version: "2"}) {
		t.Errorf("%+v are in doubt", d)
	}
	s.step(plain, "nothing", "")

	own := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	own.c.Subscribe(request{Type: fleet.Cluster}, plain)
	own.step(plain, "clusters a@2 b@2", says(fleet.Cluster, "a"))
	own.step(target, "clusters b@2 -a", "")
	if d := own.c.Doubted(); len(d) > 0 {
		t.Errorf("%+v are in doubt, though the client itself refused it", d)
	}
}

// TestWhatAClientSettledWithIsPutBack, and not what it had before that: it refuses what it reports, after a stream that did
// not end clean.
func TestWhatAClientSettledWithIsPutBack(t *testing.T) {
	t.Parallel()
	one := first(t, "clusters a@1")
	two, _ := after(t, one, "clusters a@2")
	_, three := after(t, two, "clusters a@3")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 2}}}
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "3"}}, three)
	r := s.send(three)
	s.c.Refuse(fleet.Cluster, r.Nonce, says(fleet.Cluster, "a"))
	vs := s.c.Verdicts()
	if len(vs) != 1 || len(vs[0].Blame) != 1 || vs[0].Blame[0].Good == nil || vs[0].Blame[0].Good.Version != "2" {
		t.Fatalf("verdicts %+v, want a with a@2 in its place", vs)
	}
	s.step(three, "clusters a@2", "")
}
