package planner_test

import (
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// sealedAt is a target of secrets, some of which the server cannot open at a version of a revision.
func sealedAt(rev fleet.Revision, sealed map[string]fleet.Revision, secrets ...fleet.Row) *snapshot.Target {
	s := &snapshot.Snapshot{Revision: rev}
	for _, row := range secrets {
		s.Types[fleet.Secret] = s.Types[fleet.Secret].With(snapshot.NewResource(fleet.Secret, row, []byte("x")))
	}
	for name, at := range sealed {
		s.Sealed = s.Sealed.With(snapshot.Sealed(name, "?", at))
	}
	return snapshot.NewTarget(s, nil)
}

func secretRow(name, version string, rev fleet.Revision) fleet.Row {
	return fleet.Row{Name: name, Version: version, Revision: rev}
}

// TestASecretThatCannotBeOpenedIsWithheld: the client goes on with the last version that could be opened, or without one, and settles; it has confirmed all but the
// revision that brought what cannot be opened, until it has a later one.
func TestASecretThatCannotBeOpenedIsWithheld(t *testing.T) {
	t.Parallel()
	for _, delta := range []bool{true, false} {
		s := &script{t: t, c: client{t: t, Delta: delta, Envoy: true, Now: start}}
		one := sealedAt(1, nil, secretRow("a", "1", 1))
		s.c.Subscribe(request{Type: fleet.Secret, Names: []string{"a", "b"}}, one)
		s.step(one, map[bool]string{true: "secrets a@1 -b", false: "secrets a@1"}[delta], "")
		s.steps(one)
		withheld := func(target *snapshot.Target) (got []fleet.Withheld) { return s.c.Waits(target, false).Withheld }
		kept := func(name string, rev fleet.Revision) fleet.Withheld {
			ref := fleet.Ref{Type: fleet.Secret, Name: name}
			return fleet.Withheld{Ref: ref, By: ref, Revision: rev, Sealed: true}
		}
		three := sealedAt(3, map[string]fleet.Revision{"a": 2, "b": 3, "other": 3}, secretRow("a", "1", 1))
		s.step(three, "nothing", "")
		if got := withheld(three); s.c.Settled() != 3 || !s.c.Keeps() || !slices.Equal(got, []fleet.Withheld{kept("a", 2), kept("b", 3)}) {
			t.Errorf("delta %v: settled at %d, withheld %+v", delta, s.c.Settled(), got)
		}
		four := sealedAt(4, map[string]fleet.Revision{"a": 4}, secretRow("a", "1", 1), secretRow("b", "2", 4))
		r := s.send(four)
		if got := withheld(four); r == nil || !slices.Equal(got, []fleet.Withheld{kept("a", 2), kept("a", 4), kept("b", 3), kept("b", 4)}) {
			t.Errorf("delta %v: on its way, withheld %+v", delta, got)
		}
		s.c.Acknowledge(fleet.Secret, r.Nonce)
		s.step(four, "nothing", "")
		if got := withheld(four); s.c.Settled() != 4 || !slices.Equal(got, []fleet.Withheld{kept("a", 2), kept("a", 4)}) {
			t.Errorf("delta %v: settled at %d, withheld %+v", delta, s.c.Settled(), got)
		}
		// Written again, the same version can be opened.
		five := sealedAt(5, nil, secretRow("a", "?", 5), secretRow("b", "2", 4))
		s.step(five, "secrets a@?", "")
		s.step(five, "nothing", "")
		if w := s.c.Waits(five, false); s.c.Settled() != 5 || len(w.Withheld) > 0 {
			t.Errorf("delta %v: at the end settled at %d, %+v", delta, s.c.Settled(), w)
		}
	}
}

// TestWhatNamesASealedSecretWaitsForIt, and says that it is sealed, not that it is not there.
func TestWhatNamesASealedSecretWaitsForIt(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, Now: start}}
	snap := &snapshot.Snapshot{Revision: 2, Sealed: (*snapshot.Set)(nil).With(snapshot.Sealed("a", "1", 1))}
	ref := fleet.Ref{Type: fleet.Secret, Name: "a"}
	snap.Types[fleet.Listener] = snap.Types[fleet.Listener].With(snapshot.NewResource(fleet.Listener,
		fleet.Row{Name: "l", Version: "1", Revision: 2, Derived: fleet.Derived{Refs: []fleet.Ref{ref}}}, []byte("x")))
	target := snapshot.NewTarget(snap, nil)
	s.c.Subscribe(request{Type: fleet.Listener}, target)
	s.steps(target)
	want := fleet.Withheld{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: ref, Revision: 2, Sealed: true}
	if got := s.c.Waits(target, false).Withheld; len(got) != 1 || got[0] != want {
		t.Errorf("withheld %+v, want %+v", got, want)
	}
}
