package xds

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowdAside takes in so many connections, each of which waits for the answer, and counts those that go on after it until done.
func crowdAside(a *arrivals, n int, answer, done <-chan struct{}) (wait func(), on *atomic.Int64) {
	var all sync.WaitGroup
	on = new(atomic.Int64)
	for range n {
		v := a.next(false)
		all.Go(func() {
			v.wait(func() { <-answer })
			on.Add(1)
			<-done
			v.end()
		})
	}
	return all.Wait, on
}

// TestAsManyWaitAsideAsMay: the next ones count as arriving, and hold others up for no longer than arrivalTime.
func TestAsManyWaitAsideAsMay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, places, answer := newArrivals(nil), arrivingAtOnce*runtime.GOMAXPROCS(0), make(chan struct{})
		began := time.Now()
		wait, _ := crowdAside(a, asideAtOnce, answer, answer)
		synctest.Wait()
		others, _ := crowdAside(a, places, answer, answer)
		if took := time.Since(began); took != 0 {
			t.Errorf("%d and %d took %s, want no time", asideAtOnce, places, took)
		}
		v := a.next(false)
		if took := time.Since(began); took != arrivalTime {
			t.Errorf("one more took %s, want %s", took, arrivalTime)
		}
		v.end()
		close(answer)
		wait()
		others()
		if n := len(a.places) + len(a.aside); n != 0 {
			t.Errorf("%d places are held by nobody", n)
		}
	})
}

// TestAnswersComeToManyAndFewGoOn: those whose answer has come have places again before they go on, and no others meanwhile.
func TestAnswersComeToManyAndFewGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, places, answer, done := newArrivals(nil), arrivingAtOnce*runtime.GOMAXPROCS(0), make(chan struct{}), make(chan struct{})
		wait, on := crowdAside(a, 5*places, answer, done)
		synctest.Wait()
		close(answer)
		synctest.Wait()
		if n := int(on.Load()); n != places {
			t.Errorf("%d go on at once, want %d", n, places)
		}
		time.Sleep(arrivalTime + 1)
		synctest.Wait()
		if n := int(on.Load()); n != 2*places {
			t.Errorf("%d have gone on after %s, want %d", n, arrivalTime, 2*places)
		}
		close(done)
		wait()
		if n := len(a.places) + len(a.aside); n != 0 {
			t.Errorf("%d places are held by nobody", n)
		}
	})
}

// TestWhoLeavesWhileAsideHoldsNothing: its connection was closed while it waited. One that was late before has a place again.
func TestWhoLeavesWhileAsideHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newArrivals(nil)
		held := func(want int) {
			t.Helper()
			if n := len(a.places) + len(a.aside); n != want {
				t.Errorf("%d places are held, want %d", n, want)
			}
		}
		v := a.next(false)
		v.wait(v.end)
		held(0)
		slow := a.next(false)
		time.Sleep(arrivalTime)
		synctest.Wait()
		held(0)
		slow.wait(func() {})
		held(1)
		time.Sleep(arrivalTime)
		synctest.Wait()
		held(0)
	})
}

// TestThoseBeyondTheAsideArePacedToo: they wait for the same answer, and have lost their places meanwhile.
func TestThoseBeyondTheAsideArePacedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, places, answer, done := newArrivals(nil), arrivingAtOnce*runtime.GOMAXPROCS(0), make(chan struct{}), make(chan struct{})
		wait, on := crowdAside(a, asideAtOnce+10*places, answer, done)
		time.Sleep(time.Second)
		close(answer)
		synctest.Wait()
		if n := int(on.Load()); n != places {
			t.Errorf("%d go on at once, want %d", n, places)
		}
		close(done)
		wait()
	})
}

// TestTheListenerWaitsForOneOfThoseThatComeBack and not for all.
func TestTheListenerWaitsForOneOfThoseThatComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, answer, done := newArrivals(nil), make(chan struct{}), make(chan struct{})
		wait, _ := crowdAside(a, asideAtOnce, answer, done)
		synctest.Wait()
		close(answer)
		synctest.Wait()
		began := time.Now()
		v := a.next(false)
		if took := time.Since(began); took > arrivalTime {
			t.Errorf("it waited %s, want %s at most", took, arrivalTime)
		}
		v.end()
		close(done)
		wait()
	})
}

// TestOthersRunWhileManyComeBack, on one processor: of those that come back each lets the next one go on.
//
//nolint:paralleltest // it sets the number of processors
func TestOthersRunWhileManyComeBack(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a, answer, done := newArrivals(nil), make(chan struct{}), make(chan struct{})
	close(done)
	wait, on := crowdAside(a, asideAtOnce, answer, done)
	for range cap(a.places) {
		a.places <- struct{}{}
	}
	close(answer)
	for range asideAtOnce {
		runtime.Gosched() // until all wait for a place
	}
	<-a.places
	var last, most int64
	for last < asideAtOnce {
		runtime.Gosched()
		now := on.Load()
		most, last = max(most, now-last), now
	}
	wait()
	if limit := int64(arrivingAtOnce); most > limit {
		t.Errorf("%d came back before something else ran, want %d at most", most, limit)
	}
}

// TestThoseThatComeBackAreACrowd when they have to wait, though no connection had to.
func TestThoseThatComeBackAreACrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		a, answer, done := newArrivals(func(here bool) {
			if here {
				told.Add(1)
			}
		}), make(chan struct{}), make(chan struct{})
		var crowd []func()
		for range asideAtOnce {
			wait, _ := crowdAside(a, 1, answer, done)
			crowd = append(crowd, wait)
			synctest.Wait()
		}
		if n := told.Load(); n != 0 {
			t.Fatalf("%d crowds though nobody had to wait", n)
		}
		close(answer)
		synctest.Wait()
		if n := told.Load(); n != 1 {
			t.Errorf("%d crowds, want one", n)
		}
		close(done)
		for _, wait := range crowd {
			wait()
		}
		time.Sleep(2 * crowdOver)
	})
}

// TestAFloodIsNoCrowd: connections of a source that was ended for a flood have to wait as all do, and the collector is not held up for them.
func TestAFloodIsNoCrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, struck := range []bool{true, false} {
			var told atomic.Int64
			a := newArrivals(func(bool) { told.Add(1) })
			var all []*arrival
			for range 2 * cap(a.places) {
				all = append(all, a.next(struck))
			}
			if crowd := told.Load() > 0; crowd == struck {
				t.Errorf("of a source that floods: %t; they are a crowd: %t", struck, crowd)
			}
			for _, v := range all {
				v.end()
			}
			time.Sleep(2 * crowdOver)
		}
	})
}

// TestWhoIsClosedWhileItComesBackHoldsNothing, in whichever moment.
func TestWhoIsClosedWhileItComesBackHoldsNothing(t *testing.T) {
	t.Parallel()
	a := newArrivals(nil)
	for range 20_000 {
		v := a.next(false)
		answer, asked := make(chan struct{}), make(chan struct{})
		var g sync.WaitGroup
		g.Go(func() {
			v.wait(func() {
				close(asked)
				<-answer
			})
		})
		<-asked
		close(answer)
		v.end()
		g.Wait()
		if n := len(a.places) + len(a.aside); n != 0 || !v.is(arrived) {
			t.Fatalf("%d places are held by nobody, and it is in state %d", n, v.state)
		}
	}
}
