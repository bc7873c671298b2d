package xds

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Connections are taken in no faster than streams can be made of them: thousands that come at once when a server has died would all be
// runnable, and what other streams have to do would wait behind them. They wait in the kernel's queue.
const (
	// arrivingAtOnce is how many connections arrive together, for each processor. A connection and its first stream cost a fraction of a
	// millisecond.
	arrivingAtOnce = 64
	// arrivalTime is how long one counts as arriving, if no stream of it was attached, or refused, before: a network is slow, and so is an
	// attacker, and what they wait for costs nothing.
	arrivalTime = 20 * time.Millisecond
)

// arrivals has an element for each connection that arrives.
type arrivals chan struct{}

func newArrivals() arrivals { return make(arrivals, arrivingAtOnce*runtime.GOMAXPROCS(0)) }

// next waits until one more may arrive, for arrivalTime at most.
func (a arrivals) next() *arrival {
	a <- struct{}{}
	v := &arrival{of: a}
	v.timer = time.AfterFunc(arrivalTime, v.leave)
	return v
}

// arrival is a connection's.
type arrival struct {
	of    arrivals
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
		<-v.of
	}
}
