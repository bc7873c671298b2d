package xds

import (
	"runtime"
	"sync"
	"time"
)

// Connections are taken in no faster than streams can be made of them: thousands that come at once when a server has died would all be
// runnable, and what other streams have to do would wait behind them. They wait in the kernel's queue.
const (
	// arrivingAtOnce is how many connections arrive together, for each processor. A connection and its first stream cost a fraction of a
	// millisecond.
	arrivingAtOnce = 16
	// asideAtOnce is how many of those that arrive wait for the database, and have others arrive meanwhile: as many as two of its answers
	// are about. What they wait for costs nothing, and one answer for many costs less than many answers.
	asideAtOnce = 400
	// arrivalTime is how long one counts as arriving, if no stream of it was attached, or refused, before: a network is slow, and so is an
	// attacker, and what they wait for costs nothing.
	arrivalTime = 10 * time.Millisecond
)

// arrivals are the connections that arrive.
type arrivals struct {
	places chan struct{} // an element for each
	aside  chan struct{} // an element for each that waits for the database
	crowd  crowd
}

func newArrivals(tell func(here bool)) *arrivals {
	return &arrivals{
		places: make(chan struct{}, arrivingAtOnce*runtime.GOMAXPROCS(0)), aside: make(chan struct{}, asideAtOnce), crowd: crowd{tell: tell},
	}
}

// next waits until one more may arrive, for arrivalTime at most.
func (a *arrivals) next() *arrival {
	select {
	case a.places <- struct{}{}:
	default:
		a.crowd.waits()
		a.places <- struct{}{}
	}
	v := &arrival{of: a, state: arriving}
	v.timer = time.AfterFunc(arrivalTime, v.leave)
	return v
}

// arrival is a connection's.
type arrival struct {
	of    *arrivals
	timer *time.Timer

	mu    sync.Mutex // guards state
	state arrivalState
}

type arrivalState int

const (
	arriving arrivalState = iota // it has a place
	aside                        // it waits for the database, and has a place again afterwards
	arrived                      // or it took too long
)

// move reports whether it was in the state from.
func (v *arrival) move(from, to arrivalState) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state != from {
		return false
	}
	v.state = to
	return true
}

// wait calls do, which waits for the database, and has others arrive meanwhile if not too many wait so. v may be nil.
func (v *arrival) wait(do func()) {
	if v == nil || !v.stepAside() {
		do()
		return
	}
	defer v.comeBack() // by a panic too
	do()
}

func (v *arrival) stepAside() bool {
	select {
	case v.of.aside <- struct{}{}:
	default:
		return false
	}
	if !v.move(arriving, aside) {
		<-v.of.aside
		return false
	}
	v.timer.Stop()
	<-v.of.places
	return true
}

// comeBack waits for a place, as connections do that come.
func (v *arrival) comeBack() {
	<-v.of.aside
	v.of.places <- struct{}{}
	if v.move(aside, arriving) {
		v.timer.Reset(arrivalTime)
		return
	}
	<-v.of.places // its connection was closed meanwhile
}

// end may be called more than once, and of nil.
func (v *arrival) end() {
	if v != nil {
		v.timer.Stop()
		v.leave()
		v.move(aside, arrived)
	}
}

func (v *arrival) leave() {
	if v.move(arriving, arrived) {
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
