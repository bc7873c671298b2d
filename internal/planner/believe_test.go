package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// allocsOf is how often f allocates, which is called once.
func allocsOf(f func()) float64 {
	first := true
	return testing.AllocsPerRun(1, func() { // which calls it twice
		if !first {
			f()
		}
		first = false
	})
}

// returnAfterAChange has streams come back that all held the same, of which one assignment is another one by now. It returns what a
// request of one of them allocates.
func returnAfterAChange(t testing.TB, n, streams int) (allocs []float64) {
	t.Helper()
	pl := planner.New(planner.DefaultMemo)
	before := big(n)
	next := &snapshot.Snapshot{Revision: 2, Types: before.Types}
	next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].With(assignment("cluster-000007", "2", 2))
	target := snapshot.NewTarget(next, nil)
	endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
	versions := map[string]string{}
	for r := range before.Types[fleet.Endpoint].All() {
		versions[r.Name] = r.Version
	}
	reported := planner.VersionsOf(versions)
	for range streams {
		s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Delta: true, Envoy: true}, planner.Origin{Before: before}, true, start), delta: true}
		s.Request(start, planner.Request{Type: fleet.Cluster, Versions: reported}, target)
		allocs = append(allocs, allocsOf(func() {
			s.Request(start, planner.Request{Type: fleet.Endpoint, Names: endpoints, Versions: reported}, target)
		}))
		var sent []string
		for out := s.Step(start, target); out.Response != nil; out = s.Step(start, target) {
			for _, r := range out.Response.Resources {
				sent = append(sent, r.Name+"@"+r.Version)
			}
			s.Sent(start, out.Response, "n")
			s.Ack(start, out.Response.Type, "n", "")
		}
		if len(sent) != 1 || sent[0] != "cluster-000007@2" {
			t.Fatalf("sent %v, want what has changed", sent)
		}
	}
	return allocs
}

// TestWhoComesBackAfterAChange is believed as those who came before it: what they report is looked through once, and once more
// for the first, who may be the only one.
func TestWhoComesBackAfterAChange(t *testing.T) { // not beside others, who allocate too
	allocs := returnAfterAChange(t, 2_000, 5)
	for i, got := range allocs {
		if few := i >= 2; few != (got < 50) {
			t.Errorf("stream %d allocates %.0f times", i, got)
		}
	}
}

func BenchmarkReturnAfterAChange(b *testing.B) {
	const streams = 1_000
	for b.Loop() {
		returnAfterAChange(b, 1_000, streams)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
}

// returnWithVersion has state-of-the-world streams come back with a version of which nothing is known. It returns what a request for
// assignments of one of them allocates.
func returnWithVersion(t testing.TB, version string, n, streams int) (allocs []float64) {
	t.Helper()
	pl := planner.New(planner.DefaultMemo)
	target := snapshot.NewTarget(big(n), nil)
	endpoints := planner.NamesOf(namesIn(target.Types[fleet.Endpoint])...)
	for range streams {
		s := newStream(pl, false)
		s.Request(start, planner.Request{Type: fleet.Cluster, Version: version}, target)
		allocs = append(allocs, allocsOf(func() {
			s.Request(start, planner.Request{Type: fleet.Endpoint, Names: endpoints, Version: version}, target)
		}))
		sent := 0
		for out := s.Step(start, target); out.Response != nil; out = s.Step(start, target) {
			if out.Response.Type == fleet.Endpoint {
				sent += len(out.Response.Resources)
			}
			s.Sent(start, out.Response, "n")
			s.Ack(start, out.Response.Type, "n", "")
		}
		if sent != n {
			t.Fatalf("sent %d assignments, want all %d", sent, n)
		}
	}
	return allocs
}

// TestWhoComesBackWithAVersionThatNobodyKnows may be one of a whole fleet: what is in doubt of one subscription is worked out once, and once
// more for the first.
func TestWhoComesBackWithAVersionThatNobodyKnows(t *testing.T) { // not beside others, who allocate too
	allocs := returnWithVersion(t, "nobody knows it", 2_000, 5)
	for i, got := range allocs {
		if few := i >= 2; few != (got < 50) {
			t.Errorf("stream %d allocates %.0f times", i, got)
		}
	}
}

func BenchmarkReturnWithAVersionThatNobodyKnows(b *testing.B) {
	const streams = 1_000
	for b.Loop() {
		returnWithVersion(b, "nobody knows it", 1_000, streams)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
}
