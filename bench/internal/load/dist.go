package load

import (
	"slices"
	"time"
)

// Dist sums up a set of durations, in milliseconds.
type Dist struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

func newDist(d []time.Duration) Dist {
	if len(d) == 0 {
		return Dist{}
	}
	slices.Sort(d)
	at := func(q float64) float64 {
		return d[min(int(q*float64(len(d))), len(d)-1)].Seconds() * 1e3
	}
	return Dist{len(d), at(.5), at(.99), at(1)}
}
