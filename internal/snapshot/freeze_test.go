package snapshot_test

import (
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestWhatAFreezeKeepsBackIsKnown (SEMANTICS 3.7): of a frozen type a target knows what a node does not get, what it keeps, and what that names.
func TestWhatAFreezeKeepsBackIsKnown(t *testing.T) {
	t.Parallel()
	set := func(typ fleet.Type, rows ...fleet.Row) *snapshot.Set {
		var s *snapshot.Set
		for _, row := range rows {
			s = s.With(snapshot.NewResource(typ, row, nil))
		}
		return s
	}
	at := func(name, version string, names ...string) fleet.Row {
		r := fleet.Row{Name: name, Version: version, Revision: 7}
		for _, n := range names {
			r.Derived.Refs = append(r.Derived.Refs, fleet.Ref{Type: fleet.Secret, Name: n})
		}
		return r
	}
	c := func(name string) fleet.Ref { return fleet.Ref{Type: fleet.Cluster, Name: name} }
	secret := func(name string) fleet.Ref { return fleet.Ref{Type: fleet.Secret, Name: name} }
	snap := &snapshot.Snapshot{Revision: 7}
	snap.Types[fleet.Cluster] = set(fleet.Cluster, at("same", "1", "s"), at("changed", "2"), at("new", "1"), at("refused", "bad"))
	snap.Gone[fleet.Cluster] = set(fleet.Cluster, at("gone", ""))
	target := snapshot.NewTarget(snap, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("refused", "bad")}})
	target.Freeze(fleet.Cluster, set(fleet.Cluster, at("same", "1", "s"), at("changed", "1", "old"), at("gone", "1", "older")))

	if target.Plain() {
		t.Error("it is plain")
	}
	for name, want := range map[string]bool{"same": false, "changed": false, "new": true, "gone": false, "refused": false, "never": false} {
		if target.Frozen(c(name)) != want {
			t.Errorf("%s is kept back by the freeze alone: want %v", name, want)
		}
		if want := want || name == "refused"; target.Withholds(c(name)) != want {
			t.Errorf("%s is withheld: want %v", name, want)
		}
	}
	for name, want := range map[string]bool{"s": false, "old": true, "older": true, "other": false} {
		if target.Keeps(secret(name)) != want {
			t.Errorf("secret %s is named by what it keeps: want %v", name, want)
		}
	}
	if !target.Excepts(fleet.Cluster, snap.Types[fleet.Cluster].Get("changed")) || target.Excepts(fleet.Cluster, snap.Types[fleet.Cluster].Get("same")) {
		t.Error("what differs is excepted, and nothing else")
	}
	var late []string
	for r := range target.Late(fleet.Cluster) {
		late = append(late, r.Name)
	}
	if slices.Sort(late); !slices.Equal(late, []string{"changed", "gone", "new"}) {
		t.Errorf("late are %q", late)
	}
	names := target.Withheld(fleet.Cluster)
	if slices.Sort(names); !slices.Equal(names, []string{"new", "refused"}) {
		t.Errorf("withheld are %q", names)
	}
	if got := target.Culprit(fleet.Cluster); got != c("refused") {
		t.Errorf("the culprit is %v", got)
	}
	half := target.Except([]snapshot.Exception{{Type: fleet.Listener, Refused: snapshot.Reported("l", "")}}) // what a bisection keeps back beside it
	if !half.Withholds(c("new")) || half.Culprit(fleet.Cluster) != c("refused") {
		t.Error("a target with more exceptions has forgotten the freeze")
	}

	lacks := target.Lacked(snapshot.NewResource(fleet.Route, fleet.Row{Name: "r", Derived: fleet.Derived{Refs: []fleet.Ref{c("new"), c("never"), c("refused")}}}, nil))
	if want := []snapshot.Lack{{Name: "new", Version: "1", Frozen: true}, {Name: "never"}, {Name: "refused", Version: "bad"}}; !slices.Equal(lacks, want) {
		t.Errorf("lacked %+v, want %+v", lacks, want)
	}
	if target.AnyLackCame(lacks) {
		t.Error("nothing has come")
	}
	if target.AnyLackCame([]snapshot.Lack{{Name: "new"}}) {
		t.Error("what the freeze keeps back has not come")
	}
	if !snapshot.NewTarget(snap, nil).AnyLackCame(lacks[:1]) {
		t.Error("it comes when the freeze ends")
	}
}
