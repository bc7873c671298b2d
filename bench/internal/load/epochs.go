package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// epochs records when each client learns of each change.
type epochs struct {
	mu sync.Mutex // guards what follows
	m  map[uint64]*epoch
}

type epoch struct {
	made  int64         // when the change was made, in Unix nanoseconds
	times []int64       // when a client learnt of it
	want  int           // how many clients...
	all   chan struct{} // ...make this channel close
}

func (e *epoch) check() {
	if e.all != nil && len(e.times) >= e.want {
		close(e.all)
		e.all = nil
	}
}

// get needs e.mu.
func (e *epochs) get(n uint64) *epoch {
	ep := e.m[n]
	if ep == nil {
		ep = new(epoch)
		e.m[n] = ep
	}
	return ep
}

// made tells when a change was made.
func (e *epochs) made(m Made) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.get(m.Epoch).made = m.Nanos
}

// seen records that a client has gone from one epoch to another: a newer state includes the
// changes that it skipped.
func (e *epochs) seen(from, to uint64) {
	now := time.Now().UnixNano()
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := from + 1; n <= to; n++ {
		ep := e.get(n)
		ep.times = append(ep.times, now)
		ep.check()
	}
}

// wait waits until so many clients have learnt of change n.
func (e *epochs) wait(ctx context.Context, n uint64, want int) error {
	all := make(chan struct{})
	e.mu.Lock()
	ep := e.get(n)
	ep.want, ep.all = want, all
	ep.check()
	e.mu.Unlock()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		return fmt.Errorf("%d of %d clients learnt of change %d: %w", len(ep.times), want, n, ctx.Err())
	}
}

// latencies returns how long change n took to reach each client that has it.
func (e *epochs) latencies(n uint64) Dist {
	e.mu.Lock()
	defer e.mu.Unlock()
	ep := e.get(n)
	d := make([]time.Duration, len(ep.times))
	for i, t := range ep.times {
		d[i] = time.Duration(t - ep.made)
	}
	return newDist(d)
}
