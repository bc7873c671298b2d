package planner_test

import (
	"fmt"
	"runtime"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// gRPC names a culprit by its place in the response, of which the resources may be those of another view that holds the same.
func TestACulpritIsFoundByItsPlaceInAnySet(t *testing.T) {
	t.Parallel()
	pl := planner.New(planner.DefaultMemo)
	var keep []*stream
	for i, rev := range []fleet.Revision{3, 4} {
		view := &snapshot.Snapshot{Revision: 5}
		set := view.Types[fleet.Cluster]
		for _, n := range []string{"a", "b", "c", "d"} {
			set = set.With(edsCluster(n, "1", rev))
		}
		view.Types[fleet.Cluster] = set.With(edsCluster(fmt.Sprint("other", i), "1", 1))
		target := snapshot.NewTarget(view, nil)
		s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{}, planner.Origin{}, false, start)}
		s.ask(target, fleet.Cluster, planner.NamesOf("a", "b", "c", "d"))
		out := s.Step(start, target)
		if out.Response == nil || len(out.Response.Resources) != 4 {
			t.Fatalf("sent %s", told(out.Response))
		}
		s.Sent(start, out.Response, "1")
		found, _ := s.Nack(start, fleet.Cluster, "1", "xDS response validation errors: [resource index 1: it cannot be read]")
		if len(found.Verdicts) != 1 || len(found.Verdicts[0].Blame) != 1 || found.Verdicts[0].Blame[0].Refused.Name != "b" {
			t.Errorf("stream %d: found %+v, want b; next is %s", i, found.Verdicts, told(s.Step(start, target).Response))
		}
		keep = append(keep, s)
	}
	runtime.KeepAlive(keep)
}
