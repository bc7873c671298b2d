package xds

import (
	"runtime"
	"sync"
	"time"
)

// Connections are taken in no faster than streams can be made of them: thousands that come at once when a server has died would all be
// runnable, and what other streams have to do would wait behind them. They wait in their listener's queue.
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
	turn   chan struct{} // of those that come back one waits for a place, beside the listener
	crowd  crowd
}

func newArrivals(tell func(here bool)) *arrivals {
	return &arrivals{
		places: make(chan struct{}, arrivingAtOnce*runtime.GOMAXPROCS(0)), aside: make(chan struct{}, asideAtOnce), turn: make(chan struct{}, 1),
		crowd: crowd{tell: tell},
	}
}

// take waits for a place: for arrivalTime at most if it is the listener's, as one other waits beside it.
func (a *arrivals) take() {
	select {
	case a.places <- struct{}{}:
	default:
		a.crowd.waits()
		a.places <- struct{}{}
	}
}

// next waits until one more may arrive. One of a source that floods (struck) makes no crowd: what it has allocated is garbage at once, and
// to leave that for longer is what the flood is after.
func (a *arrivals) next(struck bool) *arrival {
	if struck {
		a.places <- struct{}{}
	} else {
		a.take()
	}
	v := &arrival{of: a}
	v.timer = time.AfterFunc(arrivalTime, func() { v.move(late) })
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
	aside                        // it waits for the database, and has none
	late                         // it took longer than arrivalTime, and has none
	arrived                      // a stream of it was attached, or refused; or it is closed
)

// move leaves the place for that state. Who has none can only have arrived.
func (v *arrival) move(to arrivalState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state == arriving {
		<-v.of.places
	} else if to != arrived {
		return
	}
	v.state = to
}

func (v *arrival) is(s arrivalState) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state == s
}

// wait calls do, which waits for the database, and has others arrive meanwhile if not too many wait so. What comes after it is paced like
// what came before. v may be nil.
func (v *arrival) wait(do func()) {
	if v == nil || v.is(arrived) {
		do()
		return
	}
	defer v.comeBack() // by a panic too
	select {
	case v.of.aside <- struct{}{}:
		defer func() { <-v.of.aside }()
		v.timer.Stop()
		v.move(aside)
	default:
	}
	do()
}

// comeBack waits for a place if it has none, unless the connection is closed or has a stream. Of those that come back one at a time does,
// so that the listener waits for one of them and not for all, and after all that can run now: each would wake the next, and what live
// streams have to do would wait for the last of thousands.
func (v *arrival) comeBack() {
	if v.is(arriving) || v.is(arrived) {
		return
	}
	v.of.turn <- struct{}{}
	runtime.Gosched()
	v.of.take()
	<-v.of.turn
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state == arriving || v.state == arrived { // by another stream of the connection, or its end
		<-v.of.places
		return
	}
	v.state = arriving
	v.timer.Reset(arrivalTime)
}

// end may be called more than once, and of nil.
func (v *arrival) end() {
	if v != nil {
		v.timer.Stop()
		v.move(arrived)
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
