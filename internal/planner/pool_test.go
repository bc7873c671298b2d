package planner

import (
	"runtime"
	"testing"

	"fairlead/internal/fleet"
)

// TestAPoolHoldsWhatIsUsed: a pool finds a value for as long as somebody uses it, and what nobody uses is dropped before it is as much
// again as is used.
func TestAPoolHoldsWhatIsUsed(t *testing.T) {
	t.Parallel()
	var p pool[int, [16]int]
	used := make([]*[16]int, 100)
	for k := range used {
		used[k] = p.put(k, new([16]int))
	}
	for k := range 10_000 {
		p.put(1_000+k, new([16]int))
		if k%500 == 0 {
			runtime.GC()
		}
	}
	for k, v := range used {
		if p.get(k) != v || p.put(k, new([16]int)) != v {
			t.Fatalf("%d is not found, though it is used", k)
		}
	}
	if most := 2 * (len(used) + 500 + 1); len(p.m) > most {
		t.Errorf("%d entries for %d values in use and up to 500 that are not collected yet, want %d at most", len(p.m), len(used), most)
	}
	runtime.KeepAlive(used)
}

// TestMemosOfTargetsThatAreGoneAreDropped: what a planner knows of its memos grows with the targets that are in use.
func TestMemosOfTargetsThatAreGoneAreDropped(t *testing.T) {
	t.Parallel()
	var ms memos
	used := make([]*memo, 100)
	for i := range used {
		used[i] = &memo{}
		ms.add(used[i])
	}
	for i := range 10_000 {
		ms.add(&memo{})
		if i%500 == 0 {
			runtime.GC()
		}
	}
	alive := 0
	for _, p := range ms.all {
		if p.Value() != nil {
			alive++
		}
	}
	if alive < len(used) {
		t.Errorf("%d memos are known of %d in use", alive, len(used))
	}
	if most := 2*(len(used)+500) + 600; len(ms.all) > most {
		t.Errorf("%d memos are known of %d in use, want %d at most", len(ms.all), len(used), most)
	}
	runtime.KeepAlive(used)
}

// TestDoubtsOfOneContentAreOne, however they came about: else streams that doubt the same stand in places of their own.
func TestDoubtsOfOneContentAreOne(t *testing.T) {
	t.Parallel()
	in := interner{New(DefaultMemo), fleet.Key{}}
	a, b := doubtEdit{"a", &Doubt{Certainty: Something, Version: "1"}}, doubtEdit{"b", new(Doubt)}
	together := in.doubts(fleet.Cluster, nil, []doubtEdit{a, b})
	apart := in.doubts(fleet.Cluster, in.doubts(fleet.Cluster, nil, []doubtEdit{b}), []doubtEdit{a})
	other := in.doubts(fleet.Cluster, nil, []doubtEdit{{"a", &Doubt{Certainty: Something, Version: "2"}}, b})
	if together != apart {
		t.Error("the same is doubted twice")
	}
	if together == other {
		t.Error("a doubt about another version is taken for the same")
	}
	runtime.KeepAlive(together)
}
