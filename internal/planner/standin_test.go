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

// TestAStandInThatWasRefusedIsGivenUp: an Envoy sticks on a@2, and refuses what it is supposed to have had before. So a@2 goes out again, it sticks
// again, and nothing good is known of a: without it the Envoy is free.
func TestAStandInThatWasRefusedIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{"by name": says(fleet.Cluster, "a"), "in other words": "no"} {
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

// TestGoodIsNotGivenUpWithTheBad: of two that are put back one was refused by name. The other one stays.
func TestGoodIsNotGivenUpWithTheBad(t *testing.T) {
	t.Parallel()
	_, now := changed(t, first(t, "clusters a@bad b@1"), "clusters a@2 b@2")
	s := &script{t: t, c: client{Delta: true, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"a": "2", "b": "2"}}, now)
	var sent []string
	for i := range 16 {
		s.at(time.Duration(5*i) * time.Second)
		r := s.send(now)
		s.c.Verdicts()
		if r == nil {
			continue
		}
		words := describe(r)
		sent = append(sent, words)
		switch {
		case strings.Contains(words, "a@bad"):
			s.c.Refuse(r.Type, r.Nonce, says(fleet.Cluster, "a"))
			s.c.Verdicts()
		case strings.Contains(words, "a@2"): // it sticks
		default:
			s.c.Acknowledge(r.Type, r.Nonce)
		}
	}
	if slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "-b") }) {
		t.Errorf("b is taken away: %q", sent)
	}
}

// TestWhatCameBackIsNoStandIn: a later revision has what a client is supposed to have had, beside something new that it refuses without a name.
func TestWhatCameBackIsNoStandIn(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		one := first(t, "clusters a@1")
		two, then := changed(t, one, "clusters a@2")
		three, now := changed(t, two, "clusters a@1 c@bad")
		_, later := changed(t, three, "clusters a@1 c@bad d@1")
		s := &script{t: t, c: client{Delta: delta, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
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
	s := &script{t: t, c: client{Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
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
		s := &script{t: t, c: client{Delta: delta, Envoy: true, Now: start}}
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

// TestWhatSaidNothingOfIsNotGivenUp: a set that puts a back was refused, with words that name a. Later a change of d sticks. That set, which would put d back
// as well, was refused for a, and says nothing of d: d@1, which the client has confirmed and which serves, is not taken away.
func TestWhatSaidNothingOfIsNotGivenUp(t *testing.T) {
	t.Parallel()
	for _, words := range []string{says(fleet.Cluster, "a"), "no"} {
		one := first(t, "clusters a@1 d@1")
		then := snapshot.NewTarget(one, nil)
		two, stuck := changed(t, one, "clusters a@2 d@1")
		three, _ := changed(t, two, "clusters a@2 d@2")
		s := &script{t: t, c: client{Envoy: true, Now: start}}
		s.c.Subscribe(request{Type: fleet.Cluster}, then)
		s.steps(then)
		now := stuck
		var sent []string
		for i := range 40 {
			s.at(time.Duration(i+1) * 3 * time.Second)
			if i == 10 {
				now = snapshot.NewTarget(three, []snapshot.Exception{{Type: fleet.Cluster, Name: "a", Refused: "2", Good: one.Types[fleet.Cluster].Get("a")}})
			}
			r := s.send(now)
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					sent = append(sent, "blames "+b.Refused.Name+"@"+b.Refused.Version)
				}
				if i < 10 && len(v.Blame) > 0 {
					now = snapshot.NewTarget(two, []snapshot.Exception{{Type: fleet.Cluster, Name: "a", Refused: "2", Good: one.Types[fleet.Cluster].Get("a")}})
				}
			}
			if r == nil {
				continue
			}
			d := describe(r)
			sent = append(sent, d)
			if strings.Contains(d, "a@1 d@1") {
				s.c.Refuse(r.Type, r.Nonce, words)
			}
		}

		if slices.ContainsFunc(sent, func(x string) bool { return strings.HasPrefix(x, "clusters") && !strings.Contains(x, "d@") }) {
			t.Errorf("%s: d is taken away: %q", words, sent)
		}
	}
}

// supposedToHave is a client that comes back unclean, and is supposed to have had d@bad; and what the fleet has now.
func supposedToHave(t *testing.T) (*script, *snapshot.Snapshot) {
	t.Helper()
	one := first(t, "clusters d@bad; listeners l@1>r; routes r@1>d")
	two, then := changed(t, one, "clusters d@2; listeners l@1>r; routes r@1>d")
	s := &script{t: t, c: client{Delta: true, Envoy: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Listener, Versions: map[string]string{"l": "1"}}, then)
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"r"}, Versions: map[string]string{"r": "1"}}, then)
	s.c.Subscribe(request{Type: fleet.Cluster, Versions: map[string]string{"d": "2"}}, then)
	return s, two
}

// TestAForgottenStandInStaysForgotten: what stood in was refused. An older response that carried it as well is refused too, and then it goes out no more.
func TestAForgottenStandInStaysForgotten(t *testing.T) {
	t.Parallel()
	s, snap := supposedToHave(t)
	var sent []string
	var late []*response
	for i := range 3 {
		var now *snapshot.Target
		snap, now = changed(t, snap, fmt.Sprintf("clusters a@%d; listeners l@1>r; routes r@%d>a", i+1, i+2))
		s.at(time.Duration(25*i) * time.Second)
		for r := s.send(now); r != nil; r = s.send(now) {
			sent = append(sent, describe(r))
			if r.Type == fleet.Cluster {
				late = append(late, r)
			} else {
				s.c.Acknowledge(r.Type, r.Nonce)
			}
		}
		if i < 2 {
			continue
		}
		for j, r := range late {
			words := "no"
			if j > 0 {
				words = says(fleet.Cluster, "a")
			}
			s.c.Refuse(r.Type, r.Nonce, words)
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					sent = append(sent, "blames "+b.Refused.Name+"@"+b.Refused.Version)
				}
			}
		}
		sent = append(sent, "refused all")
		for k := range 6 {
			s.at(time.Duration(100+25*k) * time.Second)
			if r := s.send(now); r != nil {
				sent = append(sent, describe(r))
				if strings.Contains(describe(r), "d@bad") {
					s.c.Refuse(r.Type, r.Nonce, "no")
				} else {
					s.c.Acknowledge(r.Type, r.Nonce)
				}
				s.c.Verdicts()
			}
		}
	}
	at := slices.Index(sent, "refused all")
	if slices.ContainsFunc(sent[at:], func(x string) bool { return strings.Contains(x, "d@bad") }) {
		t.Errorf("%q", sent)
	}
}

// TestAForgottenStandInIsNotOvertakenBack: what stood in was refused with an older response; the newer one that carries it as well is overtaken before its answer.
func TestAForgottenStandInIsNotOvertakenBack(t *testing.T) {
	t.Parallel()
	s, snap := supposedToHave(t)
	var sent []string
	for i := range 4 {
		var now *snapshot.Target
		snap, now = changed(t, snap, fmt.Sprintf("clusters a@%d; listeners l@1>r; routes r@%d>a", i+1, i+2))
		s.at(time.Duration(25*i) * time.Second)
		var oldest *response
		for r := s.send(now); r != nil; r = s.send(now) {
			sent = append(sent, describe(r))
			if r.Type != fleet.Cluster {
				s.c.Acknowledge(r.Type, r.Nonce)
			} else if i == 1 {
				oldest = r
			}
		}
		if i == 1 && oldest != nil {
			s.c.Refuse(fleet.Cluster, "1", "no")
			for _, v := range s.c.Verdicts() {
				for _, b := range v.Blame {
					sent = append(sent, "blames "+b.Refused.Name+"@"+b.Refused.Version)
				}
			}
			sent = append(sent, "refused the first")
		}
	}
	at := slices.Index(sent, "refused the first")
	if at < 0 || slices.ContainsFunc(sent[at:], func(x string) bool { return strings.Contains(x, "d@bad") }) {
		t.Errorf("%q", sent)
	}
}
