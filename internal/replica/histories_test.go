package replica

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestHistoriesThatFailed plays what TestTheWhole once found, and what was said then of the
// node n1.
func TestHistoriesThatFailed(t *testing.T) {
	t.Parallel()
	change := func(edits ...edit) step { return step{Kind: stepChange, Edits: edits, Wait: 20 * time.Millisecond} }
	of := func(t fleet.Type, all ...string) (edits []edit) { // name@version>ref
		for _, x := range all {
			x, ref, _ := strings.Cut(x, ">")
			name, version, _ := strings.Cut(x, "@")
			e := edit{Type: t, Name: name, Version: version}
			if ref != "" {
				e.Refs = []string{ref}
			}
			edits = append(edits, e)
		}
		return edits
	}
	clusters := func(all ...string) step { return change(of(fleet.Cluster, all...)...) }
	later := func(s step, d time.Duration) step { s.Wait = d; return s }
	const soon = 600 * time.Millisecond
	everybody := step{Kind: stepAll, Wait: soon}
	get, lost := step{Kind: stepReceive, Node: 1}, func(to int) step { return step{Kind: stepMove, Node: 1, Pick: to} }
	for name, h := range map[string]struct {
		steps []step
		never string // what n1 gets no more, once the first refusal was repaired
	}{
		"what is put back was refused before, here":      {[]step{everybody, clusters("b@2!n1"), everybody, everybody, clusters("d@2"), everybody, everybody, clusters("d@1?", "b@2"), get, lost(1)}, "b@2!n1"},
		"what is put back was refused before, elsewhere": {[]step{everybody, clusters("b@2!n1"), everybody, everybody, clusters("d@2"), everybody, everybody, clusters("d@1?", "b@2"), get, lost(0)}, "b@2!n1"},
		"the proxy reads late and takes all":             {[]step{everybody, later(clusters("a@1"), 3*time.Second)}, ""},
		"poison goes and comes back unseen":              {[]step{clusters("d@3!"), {Kind: stepAway}, everybody, clusters("d@1"), clusters("d@3!")}, ""},
		"what sticks is written again while it does":     {[]step{everybody, clusters("a@3", "d@2?"), everybody, clusters("d@1"), clusters("d@2?")}, ""},
		"refused endpoints are given up and asked again": {[]step{later(clusters("a@1", "b@1"), 3*time.Second), change(of(fleet.Endpoint, "a@1", "b@1!")...), {Kind: stepDie}}, ""},
		"a suspect lacks what was refused":               {[]step{everybody, change(append(of(fleet.Listener, "l@3!>s", "m@1>r"), of(fleet.Route, "s@1>a", "r@2!>a")...)...)}, ""},
		"a cluster leaves beside a withheld listener":    {[]step{everybody, change(append(of(fleet.Listener, "l@1>s"), of(fleet.Cluster, "b@1")...)...), everybody, change(append(of(fleet.Listener, "l@3>r"), of(fleet.Cluster, "b@")...)...)}, ""},
		"what is put back was refused while the database was away": {[]step{
			everybody, clusters("a@1", "b@1?"), get, {Kind: stepAway}, later(everybody, 3*time.Second), everybody, clusters("a@1?"), clusters("b@2"), get, {Kind: stepMute, Node: 1, Wait: 8 * time.Second},
		}, "b@1?"},
		"a route is refused that lacks a cluster, and it comes": {[]step{change(append(of(fleet.Route, "r@1!>a"), of(fleet.Listener, "l@1>r")...)...), everybody, clusters("a@1")}, ""},
		"and a server that is behind ends what it remembers": {[]step{
			change(append(of(fleet.Route, "r@1!>a"), of(fleet.Listener, "l@1>r")...)...), everybody, {Kind: stepLag, Pick: 1}, clusters("a@1"), lost(0), clusters("b@1"),
		}, ""},
		"two routes are refused that lack what was refused": {[]step{
			change(of(fleet.Listener, "m@1>r")...), clusters("b@2?"), everybody, {Kind: stepLag, Pick: 1},
			later(change(append(append(of(fleet.Route, "r@2!n1>b", "s@3>d"), of(fleet.Listener, "l@3>s")...), of(fleet.Cluster, "d@1!n1")...)...), 8*time.Second),
		}, ""},
		"a server dies before it has settled anew what a listener is withheld from": {[]step{
			clusters("d@1?"), change(append(of(fleet.Cluster, "d@1"), of(fleet.Listener, "m@1>s")...)...), later(everybody, soon), clusters("c@1?"), lost(0), later(get, soon), {Kind: stepDie, Pick: 1}, {Kind: stepDie},
		}, ""},
		"all of a type is refused twice": {[]step{everybody, change(append(of(fleet.Endpoint, "c@3!", "a@3!"), of(fleet.Cluster, "a@1", "c@3")...)...), everybody, clusters("d@1?"), everybody}, ""},
	} {
		for _, delta := range []bool{true, false} {
			for seed := range uint64(4) {
				problems, log := play(t, delta, seed, h.steps)
				got := 0
				for _, l := range log {
					if h.never != "" && strings.Contains(l, "n1 gets") && strings.Contains(l, h.never) {
						got++
					}
				}
				if got > 1 {
					problems = append(problems, "n1 gets "+h.never+" again")
				}
				if len(problems) > 0 {
					t.Errorf("%s, delta %v, seed %d: %s\n%s", name, delta, seed, strings.Join(problems, "\n"), strings.Join(log, "\n"))
				}
			}
		}
	}
}
