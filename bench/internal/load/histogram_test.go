package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestHistogram: percentiles are those of the list of all, but for a thirty-second.
func TestHistogram(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 0))
	for _, n := range []int{1, 2, 100, 10_000} {
		var h histogram
		var all []time.Duration
		for range n {
			d := time.Duration(math.Exp(random.Float64() * math.Log(1e12))) // up to 1000 s
			all = append(all, d)
			h.add(d)
		}
		got, want := h.dist(), newDist(all)
		near := func(got, want float64) bool { return got >= want-1e-3 && got <= want*(1+1./32)+1e-3 }
		if got.Count != n || got.Max != want.Max || !near(got.P50, want.P50) || !near(got.P99, want.P99) {
			t.Errorf("%d durations: %+v, want %+v", n, got, want)
		}
	}
}

// TestEdgesOfAHistogram: what is below zero is nothing, what is longer than the last bucket is in that, and none is none.
func TestEdgesOfAHistogram(t *testing.T) {
	t.Parallel()
	var h histogram
	if d := h.dist(); d != (Dist{}) {
		t.Errorf("%+v", d)
	}
	h.add(-time.Second)
	if d := h.dist(); d != (Dist{Count: 1}) {
		t.Errorf("%+v", d)
	}
	h.add(math.MaxInt64)
	h.add(math.MaxInt64)
	if d := h.dist(); d.Count != 3 || d.P50 < 19*3600e3 || d.Max < 9e15/1e3 {
		t.Errorf("%+v", d)
	}
	for b := range buckets - 1 {
		if got := bucketOf(uint64(upTo(b).Microseconds())); got != b {
			t.Errorf("%v is in bucket %d, and the end of %d", upTo(b), got, b)
		}
		if got := bucketOf(uint64(upTo(b).Microseconds()) + 1); got != b+1 {
			t.Errorf("what follows %v is in bucket %d, not %d", upTo(b), got, b+1)
		}
	}
}
