package load

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A histogram counts durations in microseconds: each up to fineUpTo by itself, larger ones in buckets that are a thirty-second of what they
// hold. Its size does not depend on how many there are: an hour of 40,000 clients has 144 million.
type histogram struct {
	buckets [buckets]atomic.Int64
	longest atomic.Int64 // in nanoseconds
}

const (
	fineBits = 5
	fineUpTo = 2 << fineBits
	maxBits  = 36 // 19 hours; what is longer is counted as that
	buckets  = (maxBits-fineBits-1)<<fineBits + fineUpTo
)

// add counts a duration; one below 0 is 0.
func (h *histogram) add(d time.Duration) {
	d = max(0, d)
	h.buckets[bucketOf(uint64(d.Microseconds()))].Add(1)
	for {
		old := h.longest.Load()
		if int64(d) <= old || h.longest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func bucketOf(micros uint64) int {
	if micros < fineUpTo {
		return int(micros)
	}
	micros = min(micros, 1<<maxBits-1)
	e := bits.Len64(micros) - fineBits - 1
	return e<<fineBits + int(micros>>e)
}

// upTo is the longest duration of a bucket.
func upTo(bucket int) time.Duration {
	if bucket < fineUpTo {
		return time.Duration(bucket) * time.Microsecond
	}
	e := bucket>>fineBits - 1
	return time.Duration((bucket&(1<<fineBits-1)+1<<fineBits+1)<<e-1) * time.Microsecond
}

// dist sums it up. Nothing may be added meanwhile.
func (h *histogram) dist() (d Dist) {
	for i := range h.buckets {
		d.Count += int(h.buckets[i].Load())
	}
	longest := time.Duration(h.longest.Load())
	at := func(q float64) float64 {
		rank := min(int(q*float64(d.Count)), d.Count-1)
		for i := range h.buckets {
			if rank -= int(h.buckets[i].Load()); rank < 0 {
				return min(upTo(i), longest).Seconds() * 1e3
			}
		}
		return 0
	}
	d.P50, d.P99, d.Max = at(.5), at(.99), longest.Seconds()*1e3
	return d
}
