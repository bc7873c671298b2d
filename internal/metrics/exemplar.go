package metrics

import (
	"sort"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead/internal/fleet"
)

// The histograms of a revision's way.
const (
	commitToSent = iota
	sentToACK
	commitToACK

	numWays
)

// Exemplar has the histograms of a revision's way name it and its trace: once in each of their buckets, since each keeps one of all that are
// observed there. So thousands of nodes cost no more of them than a few. It is no use of two goroutines at once; nil names nothing.
type Exemplar struct {
	labels prometheus.Labels
	named  [numWays]uint32 // buckets, one bit each
}

// NewExemplar names a revision by its number and its trace.
func NewExemplar(rev fleet.Revision, trace string) *Exemplar {
	return &Exemplar{labels: prometheus.Labels{"trace_id": trace, "revision": strconv.FormatInt(int64(rev), 10)}}
}

func (e *Exemplar) observe(o prometheus.Observer, way int, d time.Duration) {
	if e == nil {
		observe(o, d)
		return
	}
	seconds := max(0, d).Seconds()
	bucket := uint32(1) << sort.SearchFloat64s(wayBuckets, seconds)
	named, ok := o.(prometheus.ExemplarObserver)
	if !ok || e.named[way]&bucket != 0 {
		o.Observe(seconds)
		return
	}
	e.named[way] |= bucket
	named.ObserveWithExemplar(seconds, e.labels)
}
