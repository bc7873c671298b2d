package replica

import (
	"sync/atomic"
	"time"
)

// clock is the database's, as far as it is known. It is safe for concurrent use.
type clock struct {
	offset atomic.Int64 // what the database's clock is ahead of ours, in ns
}

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// learn takes in that the database's clock was at now in the middle between two moments of ours.
func (c *clock) learn(now, begun time.Time) (offset time.Duration) {
	middle := begun.Add(time.Since(begun) / 2)
	offset = now.Sub(middle)
	c.offset.Store(int64(offset))
	return offset
}
