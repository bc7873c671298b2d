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

// TestAStandInThatWasRefusedIsGivenUp: an Envoy sticks on a@2, and refuses what it is supposed to have had before. So a@2 goes out again, it sticks
// again, and nothing good is known of a: without it the Envoy is free.
func TestAStandInThatWasRefusedIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"by name": "Error adding a", "in other words": "no"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, now := after(t, first(t, "clusters a@bad; listeners l@1"), "clusters a@2; listeners l@1")
			s := &script{t: t, c: client{Delta: true, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
			s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "2"}}, now)
			var sent []string
			for i := range 10 {
				s.at(time.Duration(5*i) * time.Second)
				r := s.send(now)
				if r == nil {
					continue
				}
				switch sent = append(sent, describe(r)); sent[len(sent)-1] {
				case "clusters a@bad":
					s.c.Refuse(r.Type, r.Nonce, words)
					s.c.Verdicts()
				case "clusters a@2": // it sticks
				default:
					s.c.Acknowledge(r.Type, r.Nonce)
				}
			}
			if want := []string{"clusters a@2", "clusters a@bad", "clusters a@2", "clusters -a"}; !slices.Equal(sent, want) {
				t.Errorf("sent %q, want %q", sent, want)
			}
		})
	}
}

// TestAStandInIsSuspectedFirst: what a client is only supposed to have had is refused together with what is new. That goes out again without it, and
// then the refusal says who is to blame.
func TestAStandInIsSuspectedFirst(t *testing.T) {
	t.Parallel()
	for bad, blamed := range map[string][]string{"d@bad": nil, "a@1": {"a"}} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			before, then := after(t, first(t, "clusters d@bad"), "clusters d@2")
			s := &script{t: t, c: client{Delta: true, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
			s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"d": "2"}}, then)
			snap, _ := after(t, before, "clusters a@1")
			snap.Gone[fleet.Cluster] = snap.Gone[fleet.Cluster].With(snapshot.Tombstone("d", 3))
			now := snapshot.NewTarget(snap, nil)
			var sent, found []string
			for i := range 20 {
				if i == 10 {
					s.c.Opened()
				}
				r := s.send(now)
				for _, v := range s.c.Verdicts() {
					for _, b := range v.Blame {
						found = append(found, b.Refused.Name)
					}
				}
				if r == nil {
					continue
				}
				if sent = append(sent, describe(r)); strings.Contains(describe(r), bad) {
					s.c.Refuse(r.Type, r.Nonce, "no")
				} else {
					s.c.Acknowledge(r.Type, r.Nonce)
				}
			}
			if want := []string{"clusters a@1 d@bad", "clusters a@1"}; !slices.Equal(found, blamed) || !slices.Equal(sent[:2], want) {
				t.Errorf("%q are blamed, want %q; sent %q, want %q first", found, blamed, sent, want)
			}
		})
	}
}

// TestAStandInMayStick: what an Envoy is supposed to have had, and is sent unasked, may be what it sticks on. Once it asks for clusters that goes out
// again, it sticks again, and is freed again.
func TestAStandInMayStick(t *testing.T) {
	t.Parallel()
	snap, _ := after(t, first(t, "clusters a@1; listeners l@1"), "clusters a@2 c@1; listeners l@1")
	now := snapshot.NewTarget(snap, nil)
	s := &script{t: t, c: client{Delta: true, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, now)
	s.steps(now)
	s.c.Opened()
	var sent []string
	for i := range 20 {
		s.at(time.Duration(5*i) * time.Second)
		r := s.send(now)
		s.c.Verdicts()
		if r == nil {
			continue
		}
		sent = append(sent, describe(r))
		switch stuck := strings.Contains(describe(r), "a@"); {
		case !stuck && !s.c.c.Subscribed(fleet.Cluster):
			s.c.Subscribe(request{Type: fleet.Cluster}, now)
		case !stuck:
			s.c.Acknowledge(r.Type, r.Nonce)
		}
	}
	if want := []string{"clusters a@1 -c", "clusters -a -c", "clusters a@1 -c", "clusters -a -c"}; !slices.Equal(sent[:4], want) {
		t.Errorf("sent %q, want %q first", sent, want)
	}
}

// TestWhoWasSilentMayHaveTakenHalf: an Envoy applied half of what it refused, and said nothing of clusters on its next stream, which ended clean. What
// it reports on the one after that is believed no more than it would have been then.
func TestWhoWasSilentMayHaveTakenHalf(t *testing.T) {
	t.Parallel()
	_, snap, _ := silent(t)
	target := heardOf(snap, "b")
	s := &script{t: t, c: client{Delta: true, Envoy: true, Opening: true, Now: start, Past: planner.Past{Silent: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"c": "1"}}, target)
	s.at(time.Second)
	s.c.Opened()
	if sent := s.steps(target); !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "-b") }) {
		t.Errorf("b is not taken away: %q", sent)
	}
}

// TestANameThatIsOwedAgainIsNotClean: in state of the world a client that gave a route up and asks for it again reports the version of before, though
// it has that route no more.
func TestANameThatIsOwedAgainIsNotClean(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		target := world(t, 1, "routes r@1")
		s := &script{t: t, c: client{Delta: delta, Envoy: true, Now: start}}
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
