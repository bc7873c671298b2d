package planner_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// presumed is a client that takes a@1, and has not answered a@2 for so long that it is
// presumed to stick on it: what puts a@1 back is on its way.
func presumed(t *testing.T, delta bool) (s *script, target *snapshot.Target, late, back *response) {
	t.Helper()
	before := first(t, "clusters a@1 b@1")
	s = &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, snapshot.NewTarget(before, nil))
	s.step(snapshot.NewTarget(before, nil), "clusters a@1 b@1", "")
	s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"a", "b"}}, snapshot.NewTarget(before, nil))
	s.steps(snapshot.NewTarget(before, nil))
	_, target = after(t, before, "clusters a@2 b@1")
	late = s.send(target)
	s.steps(target) // its endpoints
	s.at(3 * time.Second)
	if back = s.send(target); back == nil || !slices.ContainsFunc(back.Resources, func(r *snapshot.Resource) bool { return r.Name == "a" && r.Version == "1" }) {
		t.Fatalf("sent %v, want a@1 put back", back)
	}
	return s, target, late, back
}

// TestALateAnswerClears: a proxy that was only busy took what it was presumed to stick on. It
// keeps that, and is given more time from then on.
func TestALateAnswerClears(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s, target, late, back := presumed(t, delta)
		s.c.Acknowledge(fleet.Cluster, late.Nonce)
		s.c.Acknowledge(fleet.Cluster, back.Nonce)
		for _, v := range s.c.Verdicts() {
			t.Errorf("delta %v: %+v is blamed", delta, v.Blame)
		}
		want := map[bool]string{true: "clusters a@2", false: "clusters a@2 b@1"}[delta]
		again := s.send(target)
		if again == nil || describe(again) != want {
			t.Fatalf("delta %v: sent %v, want %s", delta, again, want)
		}
		s.steps(target)
		s.c.Now = s.c.Now.Add(3 * time.Second)
		s.step(target, "nothing", "")
		s.c.Acknowledge(fleet.Cluster, again.Nonce)
		s.step(target, "nothing", "")
		if s.c.Settled() != 2 {
			t.Errorf("delta %v: settled at %d", delta, s.c.Settled())
		}
	}
}

// TestALateAnswerClearsTheOnlySuspect: one whose endpoints nobody asked for is guilty as soon
// as what takes it away is ACKed; not if it was ACKed itself.
func TestALateAnswerClearsTheOnlySuspect(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, late := range []bool{true, false} {
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
			target := world(t, 1, "clusters a@1")
			s.c.Subscribe(request{Type: fleet.Cluster}, target)
			r := s.send(target)
			s.at(2 * time.Second)
			back := s.send(target)
			if back == nil || len(back.Resources) != 0 {
				t.Fatalf("sent %v, want a taken away", back)
			}
			words := ""
			if late {
				s.c.Acknowledge(fleet.Cluster, r.Nonce)
			} else if !delta {
				words = says(fleet.Cluster, "a")
			}
			s.c.acknowledge(fleet.Cluster, back.Nonce, words)
			again := s.send(target)
			if guilty := len(s.c.Verdicts()) > 0; guilty == late || guilty != (again == nil) {
				t.Errorf("delta %v, ACKed late %v: guilty %v, sent again %v", delta, late, guilty, again != nil)
			}
		}
	}
}

// TestALateAnswerEndsAnException that was made of the presumption meanwhile.
func TestALateAnswerEndsAnException(t *testing.T) {
	t.Parallel()
	s, target, late, _ := presumed(t, true)
	view := &snapshot.Snapshot{Revision: 2, Types: target.Types}
	s.c.Next(snapshot.NewTarget(view, []snapshot.Exception{{
		Type: fleet.Cluster, Refused: snapshot.Reported("a", "2"), Good: first(t, "clusters a@1").Types[fleet.Cluster].Get("a"),
	}}))
	s.c.Acknowledge(fleet.Cluster, late.Nonce)
	if got, want := s.c.Doubted(), []refusal.Key{{Type: fleet.Cluster, Name: "a", Version: "2"}}; !slices.Equal(got, want) {
		t.Errorf("in doubt are %v, want %v", got, want)
	}
}

// TestAPauseIsNotSticking: who leaves listeners unanswered too answers nothing at all.
func TestAPauseIsNotSticking(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "clusters a@1; endpoints a@1; listeners l@1")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, target)
	s.c.Subscribe(request{Type: fleet.Listener}, target)
	s.send(target)
	listeners := s.send(target)
	if listeners == nil || listeners.Type != fleet.Listener {
		t.Fatalf("sent %v", listeners)
	}
	s.at(10 * time.Second)
	s.step(target, "nothing", "")
	s.c.Acknowledge(fleet.Listener, listeners.Nonce)
	s.step(target, "clusters -a", "") // whose endpoints it never asked for
}

// TestWhatIsRefusedAndThenTakenUnchanged is refused: an Envoy ACKs the set that it has just
// refused, and goes without the cluster that sticks (SEMANTICS 3.8d). It can come only where
// nothing could be put back in between.
func TestWhatIsRefusedAndThenTakenUnchanged(t *testing.T) {
	t.Parallel()
	target := world(t, 1, "clusters a@2 b@1")
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster, Version: "of before"}, target)
	r := s.send(target)
	s.c.Refuse(fleet.Cluster, r.Nonce, "it is bad")
	if vs := s.c.Verdicts(); len(vs) != 1 || len(vs[0].Blame) != 0 {
		t.Fatalf("found out: %+v", vs)
	}
	s.step(target, "nothing", "")
	again := target.Except(nil)
	again.Retries = 1
	r = s.send(again)
	if r == nil || describe(r) != "clusters a@2 b@1" {
		t.Fatalf("sent %v", r)
	}
	s.c.Acknowledge(fleet.Cluster, r.Nonce)
	if vs := s.c.Verdicts(); len(vs) != 1 || vs[0].Detail != "it is bad" {
		t.Errorf("found out: %+v", vs)
	}
	if s.c.Settled() != 0 {
		t.Errorf("settled at %d", s.c.Settled())
	}
}

// TestWhatAFreedEnvoyHasAlreadyEndsTheTrial: there is nothing left that it could ACK.
func TestWhatAFreedEnvoyHasAlreadyEndsTheTrial(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		for _, answered := range []bool{false, true} {
			target := world(t, 1, "clusters a@1 b@1; endpoints a@1 b@1; listeners l@1")
			s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
			first := func(typ fleet.Type, names ...string) {
				r := request{Type: typ, Names: names}
				if delta {
					r.Versions = map[string]string{}
					for x := range target.Types[typ].All() {
						if names == nil || slices.Contains(names, x.Name) {
							r.Versions[x.Name] = x.Version
						}
					}
				} else {
					r.Version = target.Types[typ].Sum().String()
				}
				s.c.Subscribe(r, target)
			}
			first(fleet.Endpoint, "a")
			first(fleet.Listener)
			s.steps(target)
			s.at(time.Second)
			s.c.Opened()
			s.steps(target)
			s.at(10 * time.Second)
			r := s.send(target)
			if r == nil {
				t.Fatal("nothing is sent unasked")
			}
			if answered {
				s.c.Acknowledge(r.Type, r.Nonce)
				s.steps(target)
			}
			first(fleet.Cluster)
			s.c.Subscribe(request{Type: fleet.Endpoint, Names: []string{"b"}}, target)
			for i := range 4 {
				s.at(time.Duration(20+10*i) * time.Second)
				s.steps(target)
			}
			if s.c.Settled() != 1 || !s.c.Clean() {
				t.Errorf("delta %v, answered %v: settled at %d, clean %v; verdicts %+v", delta, answered, s.c.Settled(), s.c.Clean(), s.c.Verdicts())
			}
		}
	}
}

// TestWordsBesideAnACKAreNotKept: each answer may bring 4 KiB of them.
func TestWordsBesideAnACKAreNotKept(t *testing.T) {
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}} // not beside others, who allocate too
	words := strings.Repeat("x", 4096)
	s.c.Subscribe(request{Type: fleet.Listener}, world(t, 1, "listeners l@0"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 2000 {
		target := world(t, fleet.Revision(i+1), fmt.Sprintf("listeners l@%d", i+1))
		r := s.send(target)
		if r == nil {
			t.Fatal("nothing is sent")
		}
		s.c.acknowledge(fleet.Listener, r.Nonce, words)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grew := int64(after.HeapAlloc) - int64(before.HeapAlloc); grew > 4<<20 {
		t.Errorf("the stream grew by %d bytes", grew)
	}
	runtime.KeepAlive(s)
}

// TestWhatAFreedEnvoyReportsIsNotBlamed: it was sent a newer version of a cluster unasked, was
// taken for stuck on that as well, and then says that it has it.
func TestWhatAFreedEnvoyReportsIsNotBlamed(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1 b@1; listeners l@1")
	one := snapshot.NewTarget(before, nil)
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true}}}
	s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, one)
	s.steps(one)
	s.at(time.Second)
	s.c.Opened()
	s.at(10 * time.Second)
	s.send(one) // clusters, which it did not ask for
	_, two := after(t, before, "clusters a@2 b@1; listeners l@1")
	for _, want := range []struct {
		at   time.Duration
		sent string
	}{{30 * time.Second, "clusters a@2 -b"}, {33 * time.Second, "clusters -a -b"}} {
		s.at(want.at)
		if r := s.send(two); r == nil || describe(r) != want.sent {
			t.Fatalf("sent %v, want %s", r, want.sent)
		}
	}
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "2"}}, two)
	s.steps(two)
	if vs := s.c.Verdicts(); len(vs) > 0 || s.c.Settled() != two.Revision || !s.c.Clean() {
		t.Errorf("settled at %d, clean %v; blamed are %+v", s.c.Settled(), s.c.Clean(), vs)
	}
}

// TestWhoRefusesWhatIsPutBackIsHeard: a client that is presumed to stick on a@2 refuses a@1 in its place. Its words are told, and a@2, which it never
// refused, is not to blame.
func TestWhoRefusesWhatIsPutBackIsHeard(t *testing.T) {
	t.Parallel()
	before := first(t, "clusters a@1; listeners l@1")
	one := snapshot.NewTarget(before, nil)
	_, two := after(t, before, "clusters a@2; listeners l@1")
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Cluster}, one)
	s.steps(one)
	s.at(time.Second)
	s.send(two)
	s.at(20 * time.Second)
	r := s.send(two)
	if r == nil || describe(r) != "clusters a@1" {
		t.Fatalf("sent %v, want the last known good version", r)
	}
	s.c.Refuse(r.Type, r.Nonce, "no")
	if vs := s.c.Verdicts(); len(vs) != 1 || len(vs[0].Blame) != 0 || vs[0].Detail != "no" {
		t.Errorf("it is told %+v", vs)
	}
}
