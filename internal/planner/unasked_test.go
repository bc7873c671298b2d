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

// silent is an Envoy that comes back unclean and says nothing of clusters, until it is sent unasked to do without c, which came since it settled.
func silent(t *testing.T) (s *script, snap *snapshot.Snapshot, unasked *response) {
	t.Helper()
	snap, target := after(t, first(t, "clusters b@1 c@1; listeners l@1"), "clusters c@1; listeners l@1")
	s = &script{t: t, c: client{Delta: true, Envoy: true, Opening: true, Now: start, Past: planner.Past{Unclean: true, Settled: 1}}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "1", Versions: map[string]string{"l": "1"}}, target)
	s.steps(target)
	s.at(time.Second)
	s.c.Opened()
	s.steps(target)
	s.at(10 * time.Second)
	if unasked = s.send(target); unasked == nil || describe(unasked) != "clusters -c" {
		t.Fatalf("unasked goes out %v, want c taken away", describe(unasked))
	}
	return s, snap, unasked
}

// heardOf is a snapshot two revisions later: a cluster came with the first of them and went with the other.
func heardOf(snap *snapshot.Snapshot, name string) *snapshot.Target {
	later := *snap
	later.Revision += 2
	later.Gone[fleet.Cluster] = later.Gone[fleet.Cluster].With(snapshot.Tombstone(name, later.Revision))
	return snapshot.NewTarget(&later, nil)
}

// TestADeletionThatIsHeardOfLate: what a silent Envoy sticks on may have come and gone in revisions that this server reads only
// after it has pushed clusters unasked, whether those are answered or not.
func TestADeletionThatIsHeardOfLate(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*script, *response){
		"while they are unanswered": nil,
		"before they are answered":  func(s *script, r *response) { s.c.Acknowledge(r.Type, r.Nonce) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, snap, unasked := silent(t)
			target := heardOf(snap, "a")
			var sent []string
			for i := range 10 {
				s.at(time.Duration(11+5*i) * time.Second)
				if answer != nil {
					sent = append(sent, s.steps(target)...)
				} else if r := s.send(target); r != nil {
					sent = append(sent, describe(r))
				}
				if i == 0 && answer != nil {
					answer(s, unasked)
				}
			}
			if !slices.ContainsFunc(sent, func(x string) bool { return strings.Contains(x, "-a") }) {
				t.Errorf("a is never taken away: %q", sent)
			}
		})
	}
}
