package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// large is a fleet with a listener of this size for each name, of the revision that its place in the order says.
func large(rev fleet.Revision, size int, more map[fleet.Type][]fleet.Row, names ...string) *snapshot.Target {
	for i, n := range names {
		r := row(n, "1")
		r.Revision = fleet.Revision(i + 1)
		more[fleet.Listener] = append(more[fleet.Listener], r)
	}
	return fleetAt(rev, size, more)
}

// TestWhatIsTooLargeForTheClientIsKeptBack: a client that takes 4 MiB at once would end its stream over more, and try for ever (PROTOCOL
// rule 25). It goes on with what it has, all else arrives, and what is kept back is told.
func TestWhatIsTooLargeForTheClientIsKeptBack(t *testing.T) {
	t.Parallel()
	const size = 1300 << 10
	none := func() map[fleet.Type][]fleet.Row { return map[fleet.Type][]fleet.Row{} }
	s := &script{t: t, c: client{t: t, MaxSet: 4 << 20}}
	one := large(3, size, none(), "d", "c", "b")
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"x"}}, one)
	s.step(one, "listeners b@1 c@1 d@1", "")
	s.steps(one)
	two := large(5, size, map[fleet.Type][]fleet.Row{fleet.Runtime: {{Name: "x", Version: "1", Revision: 5}}}, "d", "c", "b", "a")
	s.step(two, "runtimes x@1", "")
	s.step(two, "nothing", "")
	want := []fleet.Withheld{{Ref: fleet.Ref{Type: fleet.Listener, Name: "a"}, By: fleet.Ref{Type: fleet.Listener, Name: "a"}, Revision: 4}}
	if got := s.c.Waits(two, true).Withheld; s.c.Settled() != 5 || !slices.Equal(got, want) || !got[0].TooLarge() {
		t.Errorf("settled at %d, withheld is %+v, want %+v", s.c.Settled(), got, want)
	}
	three := large(6, size, none(), "d", "c", "a")
	three = snapshot.NewTarget(&snapshot.Snapshot{Revision: 6, Types: [fleet.NumTypes]*snapshot.Set{fleet.Listener: three.Types[fleet.Listener]}}, nil)
	s.step(three, "listeners a@1 c@1 d@1", "")
	if w := s.c.Waits(three, true); len(w.Withheld) > 0 {
		t.Errorf("with room for it %+v is withheld", w)
	}
}

// TestOneThatIsTooLargeForTheClient is kept back, and all others of its type arrive.
func TestOneThatIsTooLargeForTheClient(t *testing.T) {
	t.Parallel()
	for _, typ := range []fleet.Type{fleet.Route, fleet.Listener} {
		for _, delta := range []bool{true, false} {
			s := &script{t: t, c: client{t: t, Delta: delta, MaxSet: 1 << 10}}
			snap := &snapshot.Snapshot{Revision: 2}
			for name, size := range map[string]int{"a": 1, "b": 2 << 10, "c": 1} {
				snap.Types[typ] = snap.Types[typ].With(snapshot.NewResource(typ, fleet.Row{Name: name, Version: "1", Revision: 2}, make([]byte, size)))
			}
			target := snapshot.NewTarget(snap, nil)
			s.c.Subscribe(request{Type: typ, Names: []string{"a", "b", "c"}}, target)
			s.step(target, typ.Slug()+" a@1 c@1", "")
			s.step(target, "nothing", "")
			if w := s.c.Waits(target, true); s.c.Settled() != 2 || len(w.Withheld) != 1 || w.Withheld[0].Ref.Name != "b" {
				t.Errorf("%s, delta=%v: settled at %d, waits for %+v", typ, delta, s.c.Settled(), w)
			}
		}
	}
}

// TestASetOfJustTheClientsSize is sent: of small resources what the other protocol would add is no less than they.
func TestASetOfJustTheClientsSize(t *testing.T) {
	t.Parallel()
	const most = 256 << 10
	for _, count := range []int{1, 100, 1_800} {
		fits := 0
		for size := 1; size < most; size += 1 + size/50 {
			var rows []fleet.Row
			for i := range count {
				rows = append(rows, row(fmt.Sprintf("listener-%05d", i), "a version of 20 byte"))
			}
			target := fleetAt(1, size, map[fleet.Type][]fleet.Row{fleet.Listener: rows})
			s := &script{t: t, c: client{t: t, MaxSet: most}}
			s.c.Subscribe(request{Type: fleet.Listener}, target)
			r := s.send(target)
			n := len(r.Body())
			if n > most-64 { // and a nonce
				t.Fatalf("%d listeners of %d bytes are sent in %d bytes", count, size, n)
			}
			if len(r.Resources) < count {
				break
			}
			fits = n
		}
		if fits < most*9/10 {
			t.Errorf("the largest set of %d that is sent has %d bytes, want nearly %d", count, fits, most)
		}
	}
}

// TestASetThatIsNotKnownIsNotCut: a client that comes with one keeps it until all that it is to have fits.
func TestASetThatIsNotKnownIsNotCut(t *testing.T) {
	t.Parallel()
	target := large(4, 1300<<10, map[fleet.Type][]fleet.Row{}, "a", "b", "c", "d")
	s := &script{t: t, c: client{t: t, MaxSet: 4 << 20}}
	s.c.Subscribe(request{Type: fleet.Listener, Version: "unknown"}, target)
	s.step(target, "nothing", "")
	if w := s.c.Waits(target, true); len(w.Withheld) != 4 {
		t.Errorf("withheld is %+v, want all", w)
	}
	s.step(large(5, 1300<<10, map[fleet.Type][]fleet.Row{}, "a", "b", "c"), "listeners a@1 b@1 c@1", "")
}

// TestASetThatGrows is measured as it is sent, what the client has of it too.
func TestASetThatGrows(t *testing.T) {
	t.Parallel()
	const most = 256 << 10
	rows := []fleet.Row{row("listener-0000", "a version of 20 byte")}
	each := snapshot.NewResource(fleet.Listener, rows[0], []byte{0})
	count := most * 9 / 10 / each.Takes(false, false)
	for i := 1; i < count; i++ {
		rows = append(rows, row(fmt.Sprintf("listener-%04d", i), "a version of 20 byte"))
	}
	if each.Size()*count <= most {
		t.Fatalf("%d bytes in either protocol tell nothing", each.Size()*count)
	}
	s := &script{t: t, c: client{t: t, MaxSet: most}}
	one := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Listener: rows})
	s.c.Subscribe(request{Type: fleet.Listener}, one)
	s.steps(one)
	if r := s.send(fleetAt(2, 1, map[fleet.Type][]fleet.Row{fleet.Listener: append(rows, row("more", "1"))})); r == nil || len(r.Resources) != count+1 {
		t.Errorf("one more is not sent beside %d", count)
	}
}
