package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestWhatCameBackIsNoStandIn: a later revision has what a client is supposed to have had, beside something new that it refuses without a name.
func TestWhatCameBackIsNoStandIn(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		one := first(t, "clusters a@1")
		two, then := changed(t, one, "clusters a@2")
		three, now := changed(t, two, "clusters a@1 c@bad")
		_, later := changed(t, three, "clusters a@1 c@bad d@1")
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
		r := request{Type: fleet.Cluster}
		if delta {
			r.Versions = map[string]string{"a": "2"}
		} else {
			r.Version = two.Types[fleet.Cluster].Sum().String()
		}
		s.c.Subscribe(r, then)
		var sent, blamed []string
		for i := range 20 {
			s.at(time.Duration(i) * time.Second / 10)
			if i >= 10 {
				s.at(time.Duration(i) * time.Minute)
				now = later
			}
			r := s.send(now)
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					blamed = append(blamed, b.Refused.Name+"@"+b.Refused.Version)
				}
			}
			if r == nil {
				continue
			}
			sent = append(sent, describe(r))
			if strings.Contains(describe(r), "bad") {
				s.c.Refuse(r.Type, r.Nonce, "no")
			} else {
				s.c.Acknowledge(r.Type, r.Nonce)
			}
		}
		if !slices.Contains(blamed, "c@bad") || len(sent) < 2 {
			t.Errorf("delta %v: sent %q, blamed %q", delta, sent, blamed)
		}
	}
}

// TestWhatIsNamedIsNotTakenAway: a set goes out without what stood in, though a route that the client has names it.
func TestWhatIsNamedIsNotTakenAway(t *testing.T) {
	t.Parallel()
	one := first(t, "clusters d@1; listeners l@1>r; routes r@1>d")
	two, then := changed(t, one, "clusters d@2; listeners l@1>r; routes r@1>d")
	_, now := changed(t, two, "clusters a@bad; listeners l@1>r; routes r@1>d")
	s := &script{t: t, c: client{t: t, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route} {
		r := request{Type: typ, Version: two.Types[typ].Sum().String()}
		if typ == fleet.Route {
			r.Names = []string{"r"}
		}
		s.c.Subscribe(r, then)
	}
	var sent []string
	for i := range 30 {
		s.at(time.Duration(i) * time.Second)
		r := s.send(now)
		for _, v := range s.c.Verdicts() {
			for _, b := range v.Blame {
				sent = append(sent, "blames "+b.Refused.Name+"@"+b.Refused.Version)
			}
		}
		if r == nil {
			continue
		}
		words := describe(r)
		sent = append(sent, words)
		if strings.Contains(words, "bad") {
			s.c.Refuse(r.Type, r.Nonce, "no")
			continue
		}
		s.c.Acknowledge(r.Type, r.Nonce)
		if r.Type == fleet.Cluster && !strings.Contains(words, "d@") {
			t.Errorf("%q", sent)
		}
	}
}

// TestWhatIsPresumedIsLookedAtOnce: a step of a stream that is presumed stuck costs nothing while there is nothing newer to say.
func TestWhatIsPresumedIsLookedAtOnce(t *testing.T) { // not beside others, who allocate too
	for _, delta := range []bool{true, false} {
		words := "clusters"
		var names []string
		for i := range 5000 {
			n := fmt.Sprintf("c%d", i)
			words += " " + n + "@1"
			names = append(names, n)
		}
		one := first(t, words+" z@1")
		then := snapshot.NewTarget(one, nil)
		_, now := changed(t, one, words)
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster}, then)
		s.steps(then)
		s.c.Subscribe(request{Type: fleet.Endpoint, Names: names}, then)
		s.steps(then)
		s.send(now)
		s.at(time.Hour)
		if r := s.send(now); r != nil {
			t.Errorf("sent %s", describe(r)[:60])
		}
		if allocs := testing.AllocsPerRun(100, func() { s.c.c.Step(s.c.Now, now) }); allocs > 4 {
			t.Errorf("delta %v: a step that says nothing allocates %.0f times", delta, allocs)
		}
	}
}
