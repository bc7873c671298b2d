package repair_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// resources are versions that a client is sent.
func resources(n int) (all []snapshot.Exception, target *snapshot.Target) {
	snap := &snapshot.Snapshot{Revision: 1}
	for i := range n {
		r := snapshot.NewResource(fleet.Cluster, fleet.Row{Name: fmt.Sprint(i), Version: "1", Revision: 1}, nil)
		snap.Types[fleet.Cluster] = snap.Types[fleet.Cluster].With(r)
		all = append(all, snapshot.Exception{Type: fleet.Cluster, Refused: r})
	}
	return all, snapshot.NewTarget(snap, nil)
}

// TestEachHalfIsOfferedOnce: whatever is bad is found, and nothing else. One among n costs 2 log2(n) offers at most.
func TestEachHalfIsOfferedOnce(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 17; n++ {
		for i := range n {
			for j := i; j < n; j++ {
				findAll(t, n, slices.Compact([]int{i, j}))
			}
		}
	}
}

func findAll(t *testing.T, n int, bad []int) {
	t.Helper()
	all, target := resources(n)
	refusal := repair.Refusal{Type: fleet.Cluster, Words: "no luck", Target: target, Candidates: all}
	s, vs := (*repair.Search)(nil).Refused(refusal)
	var found []string
	var held *snapshot.Set
	seen := map[string]bool{}
	for moved := true; moved; {
		for _, v := range vs {
			for _, x := range v.Blame {
				found = append(found, x.Refused.Name)
			}
		}
		var offered []snapshot.Exception
		isBad, names := false, ""
		for x, is := range s.All() {
			if is {
				offered, names = append(offered, x), names+" "+x.Refused.Name
				isBad = isBad || slices.ContainsFunc(bad, func(i int) bool { return fmt.Sprint(i) == x.Refused.Name })
			}
		}
		if len(offered) == 0 {
			vs, moved = s.Next(repair.Place{Target: target}, func() bool { return true })
			continue
		}
		if seen[names] {
			t.Fatalf("of %d with %v bad, offered twice: %s", n, bad, names)
		}
		seen[names], vs = true, nil
		if isBad {
			refusal.Candidates = offered
			s, vs = s.Refused(refusal)
			continue
		}
		for _, x := range offered {
			held = held.With(x.Refused)
		}
		if !s.Taken(held) {
			t.Fatalf("%s are not taken", names)
		}
	}
	var want []string
	for _, b := range bad {
		want = append(want, fmt.Sprint(b))
	}
	slices.Sort(want)
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Fatalf("of %d found %v, want %v", n, found, want)
	}
	if most := 2 * math.Log2(float64(n)); len(bad) == 1 && float64(len(seen)) > most+1 {
		t.Fatalf("%d offers to find one of %d, want at most %.1f", len(seen), n, most)
	}
	if s, _ = s.Revise(func(*snapshot.Exception, bool) bool { return false }); s != nil {
		t.Fatalf("candidates are left: %+v", s)
	}
}
