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
		v := a.next()
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
		a.next().end()
		if took := time.Since(began); took != arrivalTime {
			t.Errorf("one more took %s, want %s", took, arrivalTime)
		}
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

// TestWhoLeavesWhileAsideHoldsNothing: its connection was closed while it waited, or it took too long before.
func TestWhoLeavesWhileAsideHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newArrivals(nil)
		v := a.next()
		v.wait(v.end)
		late := a.next()
		time.Sleep(arrivalTime)
		synctest.Wait()
		late.wait(func() {
			if len(a.aside) != 0 {
				t.Error("one that counts as arrived waits aside")
			}
		})
		if n := len(a.places) + len(a.aside); n != 0 {
			t.Errorf("%d places are held by nobody", n)
		}
	})
}
