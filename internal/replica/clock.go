package replica

import (
	"sync"
	"sync/atomic"
	"time"
)

// sampleFor is how long a sample of the clock counts if no better one comes. Clocks drift apart
// by some milliseconds meanwhile.
const sampleFor = 5 * time.Minute

// clock is the database's, as far as it is known: of late samples the one with the shortest
// round trip counts, which can be off by half of that at most. It is safe for concurrent use.
type clock struct {
	offset atomic.Int64 // what the database's clock is ahead of ours, in ns

	mu    sync.Mutex // guards both, and writing offset
	trip  time.Duration
	since time.Time // zero: there is none
}

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// learn takes in that the database's clock was at now at some time in a call of ours, in the
// middle of it as a guess. used: the sample counts.
func (c *clock) learn(now, begun, ended time.Time) (offset time.Duration, used bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trip := ended.Sub(begun)
	if !c.since.IsZero() && trip > c.trip && ended.Sub(c.since) < sampleFor {
		return 0, false
	}
	c.trip, c.since = trip, ended
	offset = now.Sub(begun.Add(trip / 2))
	c.offset.Store(int64(offset))
	return offset, true
}
