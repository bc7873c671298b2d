package planner_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// heardOf is a snapshot two revisions later: a cluster came with the first of them and went with the other.
func heardOf(snap *snapshot.Snapshot, name string) *snapshot.Target {
	later := *snap
	later.Revision += 2
	later.Gone[fleet.Cluster] = later.Gone[fleet.Cluster].With(snapshot.Tombstone(name, later.Revision))
	return snapshot.NewTarget(&later, nil)
}

// TestNothingIsKeptBackOfAnUnknownSet: a client that was sent clusters unasked reports a version that this server never had. What
// was kept back then, since it might stick on it, must not keep the next revision back for ever.
func TestNothingIsKeptBackOfAnUnknownSet(t *testing.T) {
	t.Parallel()
	s, snap, _ := pushed(t)
	snap, target := after(t, snap, "clusters a@1 b@1 c@1; listeners l@1")
	s.c.Subscribe(request{Type: fleet.Cluster, Version: "another server's"}, target)
	s.step(target, "clusters a@1 b@1 c@1", "no")
	_, target = after(t, snap, "clusters a@1 b@1 c@2; listeners l@1")
	s.step(target, "clusters a@1 b@1 c@2", "")
}

// TestWhoRefusesWhatItIsSentUnaskedIsHeard: an Envoy refuses clusters that it is sent unasked, of which b was kept back. It is slow and not stuck:
// its words are told, and b is not to blame.
func TestWhoRefusesWhatItIsSentUnaskedIsHeard(t *testing.T) {
	t.Parallel()
	s, _, unasked := pushed(t)
	s.c.Refuse(unasked.Type, unasked.Nonce, "out of memory")
	if vs := s.c.Verdicts(); len(vs) != 1 || vs[0].Detail != "out of memory" || len(vs[0].Blame) > 0 {
		t.Errorf("it is told %+v", vs)
	}
}

// pushed is an Envoy of state of the world that comes back unclean and says nothing of clusters, until it is sent none unasked: b is
// kept back, as it may stick on it.
func pushed(t *testing.T) (s *script, snap *snapshot.Snapshot, unasked *response) {
	t.Helper()
	snap, target := after(t, first(t, "clusters b@1; listeners l@1"), "clusters b@1; listeners l@1")
	s = &script{t: t, c: client{Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true}}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "1"}, target)
	s.steps(target)
	s.at(time.Second)
	s.c.Opened()
	s.at(10 * time.Second)
	if unasked = s.send(target); unasked == nil || describe(unasked) != "clusters" {
		t.Fatalf("unasked goes out %v, want no clusters", unasked)
	}
	return s, snap, unasked
}

// TestAnEnvoyOfStaticClustersSettles: an Envoy that takes listeners alone from here, of a fleet that has clusters for others, comes back
// unclean. It is known that it asked for no clusters before, so that it is not stuck on any: it is sent none, and settles. Where that is not
// known it may be stuck, and of what it subscribes to nothing is known.
func TestAnEnvoyOfStaticClustersSettles(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, known := range []bool{true, false} {
			_, target := after(t, first(t, "clusters a@1; listeners l@1"), "clusters a@1 b@2; endpoints b@1; listeners l@2")
			s := &script{t: t, c: client{Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1, NoClusters: known}}}
			s.c.Subscribe(request{Type: fleet.Listener, Names: []string{"l"}}, target)
			var sent []string
			for i := range 10 {
				for r := s.send(target); r != nil; r = s.send(target) {
					if sent = append(sent, describe(r)); r.Type != fleet.Cluster { // which it ignores
						s.c.Acknowledge(r.Type, r.Nonce)
					}
				}
				s.at(time.Duration(1+10*i) * time.Second)
				if s.c.Opened(); i == 0 {
					s.at(2 * time.Second)
				}
			}
			want := fleet.Revision(1)
			if known {
				want = 2
			}
			if s.c.Settled() != want || !s.c.Clean() {
				t.Errorf("delta %v, known %v: settled at %d, clean %v", delta, known, s.c.Settled(), s.c.Clean())
			}
			if unasked := strings.Contains(strings.Join(sent, ", "), "clusters"); unasked == known {
				t.Errorf("delta %v, known %v: it was sent %q", delta, known, sent)
			}
			if subs, _ := s.c.c.Subscribes(); subs.NoClusters() != known {
				t.Errorf("delta %v, known %v: it subscribes to %+v", delta, known, subs)
			}
		}
	}
}

// quiet is a process that says nothing of clusters, and ACKs the listener that it is sent. holds: it says that it has that already.
func quiet(t *testing.T, delta, holds bool, past planner.Past, target *snapshot.Target) *client {
	t.Helper()
	s := &script{t: t, c: client{Delta: delta, Envoy: true, Opening: true, Now: start, Past: past}}
	r := request{Type: fleet.Listener, Names: []string{"l"}}
	switch l := target.Types[fleet.Listener].Get("l"); {
	case holds && delta:
		r.Versions = map[string]string{"l": l.Version}
	case holds:
		r.Version = target.Types[fleet.Listener].Sum().String()
	}
	s.c.Subscribe(r, target)
	for i := range 10 {
		for r := s.send(target); r != nil; r = s.send(target) {
			if r.Type != fleet.Cluster { // which it ignores
				s.c.Acknowledge(r.Type, r.Nonce)
			}
		}
		if i == 0 {
			if subs, _ := s.c.c.Subscribes(); subs.Known() {
				t.Errorf("delta %v, holds %v, %+v: as it comes it is known to ask for %+v", delta, holds, past, subs)
			}
		}
		s.at(time.Duration(1+10*i) * time.Second)
		s.c.Opened()
	}
	return &s.c
}

// TestAnotherProcessIsStuckNoMore: of an Envoy it is not known that its clusters are static, and it may be stuck. It takes a listener, and ends
// clean. Who comes with nothing then is another process, which is stuck on nothing; who says that it has the listener is the same one.
func TestAnotherProcessIsStuckNoMore(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		_, target := after(t, first(t, "clusters a@1; listeners l@1"), "clusters a@1; listeners l@2")
		unknown := planner.Past{Unclean: true, Settled: 1} // the first one was killed within ten seconds
		past := quiet(t, delta, false, unknown, target).leaves()
		for range 3 {
			same := quiet(t, delta, true, past, target)
			if past = same.leaves(); same.Settled() != 1 || past != (planner.Past{Settled: 1, Silent: true}) {
				t.Fatalf("delta %v: it was unheard, comes back, and counts as settled at %d; it leaves %+v", delta, same.Settled(), past)
			}
		}
		another := quiet(t, delta, false, past, target)
		if past = another.leaves(); another.Settled() != 2 || !past.NoClusters {
			t.Errorf("delta %v: another process counts as settled at %d, and leaves %+v", delta, another.Settled(), past)
		}
	}
}

// TestWhoHeldNothingIsTheSameProcess: an Envoy that sticks on its first clusters, and has taken nothing else, comes with nothing each time. It is
// stuck still, and is sent clusters that may free it.
func TestWhoHeldNothingIsTheSameProcess(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		past := planner.Past{Unclean: true}
		for range 3 {
			target := snapshot.NewTarget(first(t, "clusters a@1; endpoints a@1"), nil)
			s := &script{t: t, c: client{Delta: delta, Envoy: true, Opening: true, Now: start, Past: past}}
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a"}}, target)
			s.steps(target)
			s.at(time.Second)
			s.c.Opened()
			s.at(10 * time.Second)
			if r := s.send(target); r == nil || r.Type != fleet.Cluster {
				t.Fatalf("delta %v: it is sent %v, want clusters", delta, r)
			}
			if past = s.c.leaves(); past != (planner.Past{Unclean: true}) {
				t.Fatalf("delta %v: it leaves %+v", delta, past)
			}
		}
	}
}

// TestWhatNobodyAskedForIsNotConfirmed: clusters that a client was sent unasked and has not answered are unanswered, and nothing is told of
// those that it is presumed to have.
func TestWhatNobodyAskedForIsNotConfirmed(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := snapshot.NewTarget(first(t, "clusters a@1 b@1; endpoints a@1 b@1"), nil)
		s := &script{t: t, c: client{Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"b"}}, target)
		s.steps(target)
		s.at(time.Second)
		s.c.Opened()
		s.at(10 * time.Second)
		if r := s.send(target); r == nil || r.Type != fleet.Cluster {
			t.Fatalf("delta %v: unasked goes out %v, want clusters", delta, r)
		}
		all, at := s.c.c.Holdings(fleet.Cluster, target)
		for _, h := range all {
			if h.Standing != planner.Unanswered {
				t.Errorf("delta %v: %s %s stands at %v", delta, h.Name, h.Version, h.Standing)
			}
		}
		if !at.IsZero() {
			t.Errorf("delta %v: confirmed at %v", delta, at)
		}
	}
}

// TestWhoSaysNothingIsToldStuck: clusters that an Envoy is sent unasked do not free it, or there are none to send: what it sticks on it was offered again
// at the very revision that it settled, so that nobody knows what it had. That is told once, with what to do.
func TestWhoSaysNothingIsToldStuck(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, unsure := range []bool{true, false} {
			before := first(t, "clusters a@1 b@1; endpoints a@1 b@1; listeners l@1")
			words := "clusters a@1 b@2; endpoints a@1 b@1; listeners l@1"
			had := *before
			if unsure {
				had.Unknown, words = []fleet.Ref{{Type: fleet.Cluster, Name: "a"}}, "clusters a@1 b@1; endpoints a@1 b@1; listeners l@1"
			}
			_, now := after(t, before, words)
			s := &script{t: t, c: client{Delta: delta, Envoy: true, Opening: true, Now: start, Before: &had, Past: planner.Past{Unclean: true, Settled: 1}}}
			r := request{Type: fleet.Listener}
			if r.Version = before.Types[fleet.Listener].Sum().String(); delta {
				r.Version, r.Versions = "", map[string]string{"l": "1"}
			}
			s.c.Subscribe(r, now)
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}}, now)
			s.steps(now)
			s.at(time.Second)
			s.c.Opened()
			var told []string
			for i := range 100 {
				s.at(time.Duration(i+1) * time.Second)
				s.send(now)
				for _, v := range s.c.Verdicts() {
					told = append(told, v.Detail)
				}
			}
			if len(told) != 1 || !strings.Contains(told[0], "unless all clusters of the proxy are in its bootstrap") || !strings.Contains(told[0], "restart this proxy") || s.c.Settled() > 1 {
				t.Errorf("delta %v, unsure %v: told %q, settled at %d", delta, unsure, told, s.c.Settled())
			}
		}
	}
}

// TestWhatItHadIsForgotten: what a client should have held before its stream is not kept once it has asked for clusters, be that before the
// stream's opening is over or after.
func TestWhatItHadIsForgotten(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s, target, before := resumed(t)
		if !late {
			s.c.Subscribe(request{Type: fleet.Cluster, Version: "1"}, target)
		}
		s.at(time.Second)
		s.c.Opened()
		if late {
			s.c.Subscribe(request{Type: fleet.Cluster, Version: "1"}, target)
		}
		s.steps(target)
		runtime.GC()
		if before.Value() != nil {
			t.Errorf("late %v: the snapshot of before is kept", late)
		}
		runtime.KeepAlive(s)
	}
}

// resumed is a client with a snapshot of before that nothing else holds.
func resumed(t *testing.T) (*script, *snapshot.Target, weak.Pointer[snapshot.Snapshot]) {
	t.Helper()
	had := first(t, "clusters a@1; listeners l@1")
	_, target := after(t, had, "clusters a@2; listeners l@1")
	before := &snapshot.Snapshot{Types: had.Types, Revision: had.Revision}
	s := &script{t: t, c: client{Envoy: true, Opening: true, Now: start, Before: before}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "1"}, target)
	s.c.Before = nil
	return s, target, weak.Make(before)
}
