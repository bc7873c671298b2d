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
	s = &script{t: t, c: client{t: t, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true}}}
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
// unclean. It may be stuck, so it is sent clusters, and of what it subscribes to nothing is known. Half a minute later it settles without them, and ends
// clean. One that comes with nothing is another process: it is sent none, and settles at once.
func TestAnEnvoyOfStaticClustersSettles(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, same := range []bool{true, false} {
			_, target := after(t, first(t, "clusters a@1; listeners l@1"), "clusters a@1 b@2; endpoints b@1; listeners l@2")
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
			r := request{Type: fleet.Listener, Names: []string{"l"}}
			if same && delta {
				r.Versions = map[string]string{"l": "1"}
			} else if same {
				r.Version = "1"
			}
			s.c.Subscribe(r, target)
			var sent []string
			for i := range 40 {
				for r := s.send(target); r != nil; r = s.send(target) {
					if sent = append(sent, describe(r)); r.Type != fleet.Cluster { // which it ignores
						s.c.Acknowledge(r.Type, r.Nonce)
					}
				}
				if s.at(time.Duration(1+i) * time.Second); i == 0 {
					s.c.Opened()
				}
				if i != 20 {
					continue
				}
				if subs, _ := s.c.c.Subscribes(); subs.Known() == same || s.c.Clean() == same || s.c.Settled() == 2 == same {
					t.Errorf("delta %v, same %v: after %d s it subscribes to %+v, clean %v, settled at %d", delta, same, i, subs, s.c.Clean(), s.c.Settled())
				}
			}
			if subs, _ := s.c.c.Subscribes(); s.c.Settled() != 2 || !s.c.Clean() || subs.Types[fleet.Cluster] != fleet.AsksNothing || !subs.Known() {
				t.Errorf("delta %v, same %v: settled at %d, clean %v, subscribes to %+v", delta, same, s.c.Settled(), s.c.Clean(), subs)
			}
			if unasked := strings.Contains(strings.Join(sent, ", "), "clusters"); unasked != same {
				t.Errorf("delta %v, same %v: it was sent %q", delta, same, sent)
			}
		}
	}
}

// TestWhoAsksAfterAll: an Envoy that has not answered clusters for so long that it was taken for one without asks for them. That is its first request:
// it is believed nothing that has changed since it settled.
func TestWhoAsksAfterAll(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		_, target := after(t, first(t, "clusters a@1 b@1; endpoints a@1"), "clusters a@2 b@1; endpoints a@1")
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
		endpoints := request{Type: fleet.Endpoint, Names: []string{"a"}, Version: "1"}
		if delta {
			endpoints.Version, endpoints.Versions = "", map[string]string{"a": "1"}
		}
		s.c.Subscribe(endpoints, target)
		for i := range 60 {
			for r := s.send(target); r != nil; r = s.send(target) {
				if r.Type != fleet.Cluster {
					s.c.Acknowledge(r.Type, r.Nonce)
				}
			}
			if s.at(time.Duration(1+i) * time.Second); i == 0 {
				s.c.Opened()
			}
		}
		if s.c.Settled() != target.Revision {
			t.Fatalf("delta %v: settled at %d", delta, s.c.Settled())
		}
		r := request{Type: fleet.Cluster, Version: "1"}
		if delta {
			r = request{Type: fleet.Cluster, Versions: map[string]string{"a": "2", "b": "1"}}
		}
		s.c.Subscribe(r, target)
		if got := strings.Join(s.steps(target), ", "); !strings.Contains(got, "a@2") {
			t.Errorf("delta %v: sent %q, want a again", delta, got)
		}
	}
}

// TestWhatNobodyAskedForIsNotConfirmed: clusters that a client was sent unasked and has not answered are unanswered, and nothing is told of
// those that it is presumed to have.
func TestWhatNobodyAskedForIsNotConfirmed(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := snapshot.NewTarget(first(t, "clusters a@1 b@1; endpoints a@1 b@1"), nil)
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
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
	s := &script{t: t, c: client{t: t, Envoy: true, Opening: true, Now: start, Before: before}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "1"}, target)
	s.c.Before = nil
	return s, target, weak.Make(before)
}
