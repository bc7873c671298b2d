package xds

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Connections are taken in no faster than streams can be made of them: thousands that come at once when a server has died would all be
// runnable, and what other streams have to do would wait behind them. They wait in the kernel's queue.
const (
	// arrivingAtOnce is how many connections arrive together, for each processor. A connection and its first stream cost a fraction of a
	// millisecond.
	arrivingAtOnce = 16
	// arrivalTime is how long one counts as arriving, if no stream of it was attached, or refused, before: a network is slow, and so is an
	// attacker, and what they wait for costs nothing.
	arrivalTime = 10 * time.Millisecond
)

// arrivals are the connections that arrive.
type arrivals struct {
	places chan struct{} // an element for each
	crowd  crowd
}

func newArrivals(tell func(here bool)) *arrivals {
	return &arrivals{places: make(chan struct{}, arrivingAtOnce*runtime.GOMAXPROCS(0)), crowd: crowd{tell: tell}}
}

// next waits until one more may arrive, for arrivalTime at most.
func (a *arrivals) next() *arrival {
	select {
	case a.places <- struct{}{}:
	default:
		a.crowd.waits()
		a.places <- struct{}{}
	}
	v := &arrival{of: a}
	v.timer = time.AfterFunc(arrivalTime, v.leave)
	return v
}

// arrival is a connection's.
type arrival struct {
	of    *arrivals
	timer *time.Timer
	ended atomic.Bool
}

// end may be called more than once, and of nil.
func (v *arrival) end() {
	if v != nil {
		v.timer.Stop()
		v.leave()
	}
}

func (v *arrival) leave() {
	if v.ended.CompareAndSwap(false, true) {
		<-v.of.places
	}
}

// crowdOver is for how long no connection has had to wait when a crowd is over: what was taken in is served by then.
const crowdOver = 10 * time.Second

// crowd is whether connections come faster than they are taken in.
type crowd struct {
	tell func(here bool) // nil: nobody is told

	mu    sync.Mutex  // guards both
	last  time.Time   // that one had to wait
	timer *time.Timer // nil: there is no crowd
}

// waits takes in that a connection has to wait.
func (c *crowd) waits() {
	if c.tell == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if c.timer == nil {
		c.tell(true)
		c.timer = time.AfterFunc(crowdOver, c.look)
	}
}

func (c *crowd) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := crowdOver - time.Since(c.last); left > 0 {
		c.timer.Reset(left)
		return
	}
	c.timer = nil
	c.tell(false)
}
