package snapshot_test

import (
	"maps"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

func TestTargetIsTheSnapshotWithItsExceptions(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{Revision: 7}
	for _, r := range []*snapshot.Resource{res("changed", "2"), res("new", "1"), res("fixed", "3"), res("other", "1")} {
		s.Types[fleet.Runtime] = s.Types[fleet.Runtime].With(r)
	}
	target := snapshot.NewTarget(s, []snapshot.Exception{
		{Type: fleet.Runtime, Refused: snapshot.Reported("changed", "2"), Good: res("changed", "1")},
		{Type: fleet.Runtime, Refused: snapshot.Reported("new", "1")},
		{Type: fleet.Runtime, Refused: snapshot.Reported("fixed", "2"), Good: res("fixed", "1")},
		{Type: fleet.Runtime, Refused: snapshot.Reported("deleted", "1"), Good: res("deleted", "0")},
	})
	want := map[string]string{"changed": "1", "fixed": "3", "other": "1"}
	if got := contents(target.Types[fleet.Runtime]); !maps.Equal(got, want) || target.Revision != 7 {
		t.Errorf("target %v at %d, want %v at 7", got, target.Revision, want)
	}
	if plain := snapshot.NewTarget(s, nil); plain.Types != s.Types {
		t.Error("without exceptions the sets are not the snapshot's own")
	}
}

// What stands in a bootstrap is there: a refusal is not for the lack of it, and does not end when somebody writes it.
func TestClustersOfTheBootstrapAreNotLacked(t *testing.T) {
	t.Parallel()
	r := res("l", "1")
	r.Refs = []fleet.Ref{{Type: fleet.Cluster, Name: "a"}, {Type: fleet.Cluster, Name: "fairlead_xds"}}
	got := snapshot.NewTarget(&snapshot.Snapshot{}, nil).Lacked(r)
	if len(got) != 1 || got[0].Name != "a" {
		t.Errorf("lacked are %v", got)
	}
}
