package planner_test

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestWhatIsRememberedOfLackedClustersIsBounded: a client that refuses much, in words that name nothing, of which each names many clusters that are not
// there.
func TestWhatIsRememberedOfLackedClustersIsBounded(t *testing.T) {
	t.Parallel()
	rows := map[fleet.Type][]fleet.Row{}
	r := request{Type: fleet.Route}
	for i := range 400 {
		var lacks []string
		for j := range 100 {
			lacks = append(lacks, fmt.Sprintf("c%d-%d", i, j))
		}
		name := fmt.Sprintf("r%d", i)
		rows[fleet.Route] = append(rows[fleet.Route], refers(name, "1", lacks...))
		r.Names = append(r.Names, name)
	}
	target := snapshot.NewTarget(&snapshot.Snapshot{Revision: 1, Types: fleetAt(1, 1, rows).Types}, nil)
	s := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	s.c.Subscribe(r, target)
	most, sent := 0, 0
	for range 30 {
		got := s.send(target)
		if got == nil {
			break
		}
		sent++
		s.c.Refuse(got.Type, got.Nonce, "no")
		most = max(most, s.c.c.LackedHeld())
	}
	if sent < 2 || most == 0 || most > 10_000+1000*sent {
		t.Errorf("of %d refusals %d clusters are remembered", sent, most)
	}
}
