package xds

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestARefusalByAllIsAFewLines: and the next revision, another type, another fleet or another minute is told at once.
func TestARefusalByAllIsAFewLines(t *testing.T) {
	t.Parallel()
	var rs refusals
	one, two := fleet.Key{Fleet: fleet.ID{1}}, fleet.Key{Fleet: fleet.ID{2}}
	at := func(history uint64, rev fleet.Revision) *snapshot.Target {
		return &snapshot.Target{History: history, Revision: rev}
	}
	now := time.Now()
	check := func(what string, key fleet.Key, typ fleet.Type, target *snapshot.Target, n, wantLines, wantTimes int) {
		t.Helper()
		lines, times := 0, 0
		for range n {
			var tell bool
			if times, tell = rs.count(key, typ, target, now); tell {
				lines++
			}
		}
		if lines != wantLines || times != wantTimes {
			t.Errorf("%s: %d lines, %d times; want %d and %d", what, lines, times, wantLines, wantTimes)
		}
	}
	check("10,000 nodes", one, fleet.Cluster, at(0, 5), 10_000, 14, 10_000)
	check("another type", one, fleet.Route, at(0, 5), 1, 1, 1)
	check("another fleet", two, fleet.Cluster, at(0, 5), 1, 1, 1)
	check("an older revision", one, fleet.Cluster, at(0, 4), 1, 0, 10_001)
	check("the next revision", one, fleet.Cluster, at(0, 6), 5, 3, 5)
	now = now.Add(refusalEvery)
	check("a minute later", one, fleet.Cluster, at(0, 6), 2, 1, 7)
	check("a history that was cut", one, fleet.Cluster, at(1, 2), 1, 1, 1)
	rs.forget(one)
	if rs.forget(two); len(rs.of) != 0 {
		t.Errorf("%d fleets are remembered", len(rs.of))
	}
}
