package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
)

// What a client subscribes to is asked for each time that its stream is free: it costs nothing while no request changes it, and names that follow from
// the content are no change.
func TestWhatAClientSubscribesToCostsNothingWhileItStays(t *testing.T) {
	target := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Cluster: {row("c", "1")}})
	c := client{t: t, Delta: true}
	told := func(r request, want bool) fleet.Subscriptions {
		t.Helper()
		c.Subscribe(r, target)
		s, changed := c.c.Subscribes()
		if changed != want {
			t.Errorf("after %+v: %+v, changed %v", r, s, changed)
		}
		return s
	}
	c.init()
	if s, changed := c.c.Subscribes(); changed || s.Known() {
		t.Errorf("before it asks for anything: %+v, changed %v", s, changed)
	}
	told(request{Type: fleet.Cluster}, true)
	told(request{Type: fleet.Endpoint, Names: []string{"a"}}, false)
	told(request{Type: fleet.Endpoint, Names: []string{"b"}}, false)
	s := told(request{Type: fleet.Listener, Names: []string{"l", "k"}}, true)
	if s.Types[fleet.Cluster] != fleet.AsksAll || s.Types[fleet.Endpoint] != fleet.AsksNothing || s.Types[fleet.Route] != fleet.AsksNothing || !slices.Equal(s.Listeners, []string{"k", "l"}) {
		t.Errorf("%+v", s)
	}
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprint(i))
	}
	if s := told(request{Type: fleet.Listener, Names: names}, true); s.Listeners != nil || s.Many != 1002 {
		t.Errorf("%+v", s)
	}
	if s := told(request{Type: fleet.Listener, Names: []string{"*"}, Dropped: names}, true); s.Listeners != nil || s.Many != 0 || s.Types[fleet.Listener] != fleet.AsksAll {
		t.Errorf("%+v", s)
	}
	if n := testing.AllocsPerRun(100, func() { c.c.Subscribes() }); n > 0 {
		t.Errorf("%v allocations when nothing has changed", n)
	}
}
