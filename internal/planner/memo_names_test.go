package planner_test

import (
	"fmt"
	"runtime"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestT08_WhatIsRememberedCountsItsNames: two streams of one token ask for other names again and again. What is remembered of each position keeps its names after the
// streams have given them up, and counts them.
func TestT08_WhatIsRememberedCountsItsNames(t *testing.T) { // not parallel: the heap is counted
	const rounds, names = 200, 1000
	for _, delta := range []bool{false, true} {
		target := snapshot.NewTarget(&snapshot.Snapshot{Revision: 1}, nil)
		pl := planner.New(256 << 20)
		var cs []*planner.Client
		for range 2 {
			cs = append(cs, pl.Client(fleet.Key{}, planner.Kind{Delta: delta}, planner.Origin{}, false, start))
		}
		before, sent := heapOf(), 0
		var last []string
		for i := range rounds {
			var asked []string
			for j := range names {
				asked = append(asked, fmt.Sprintf("%x", i*names+j))
			}
			for _, c := range cs {
				q := planner.Request{Type: fleet.Route, Names: planner.NamesOf(asked...)}
				if delta {
					q.Dropped = planner.NamesOf(last...)
				}
				c.Request(start, q, target)
				for out := c.Step(start, target); out.Response != nil; out = c.Step(start, target) {
					sent++
					out.Response.Body()
					c.Sent(start, out.Response, fmt.Sprint(sent))
					c.Ack(start, fleet.Route, fmt.Sprint(sent), "")
				}
			}
			last = asked
		}
		kept, counted := int(heapOf()-before), pl.Remembers() //nolint:gosec // small
		if kept > 2*counted {
			t.Errorf("delta %t: it keeps %d kB and counts %d", delta, kept>>10, counted>>10)
		}
		runtime.KeepAlive(target)
		runtime.KeepAlive(cs)
	}
}

func heapOf() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
