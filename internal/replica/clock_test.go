package replica

import (
	"testing"
	"testing/synctest"
	"time"
)

// A load whose answer takes long to arrive says little about the database's clock: a sample
// with a shorter round trip counts.
func TestASlowLoadDoesNotMoveTheClock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "n")
		key, other, _ := w.newFleet(cluster("c", "1"))
		w.attach(other, "n")
		w.feed.set(func(f *feed) { f.took = 6 * time.Second })
		w.feed.write(key, cluster("c", "2"))
		w.Wake(key.Fleet, false)
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if d := time.Duration(w.clock.offset.Load()); d.Abs() > 100*time.Millisecond {
			t.Errorf("the database's clock is taken to be %v off, and it is not", d)
		}
	})
}

// The best sample does not count for ever: clocks are set.
func TestTheClockIsLearnedAnew(t *testing.T) {
	t.Parallel()
	var c clock
	begun := time.Now()
	at := func(since, trip, off time.Duration) bool {
		from := begun.Add(since)
		_, used := c.learn(from.Add(trip/2+off), from, from.Add(trip))
		return used
	}
	for i, s := range []struct {
		since, trip, off time.Duration
		used             bool
		offset           time.Duration
	}{
		{0, time.Second, time.Minute, true, time.Minute},
		{time.Second, 2 * time.Second, time.Hour, false, time.Minute},
		{time.Second, time.Millisecond, 2 * time.Minute, true, 2 * time.Minute},
		{time.Minute, time.Millisecond, 3 * time.Minute, true, 3 * time.Minute},
		{2 * time.Minute, time.Second, 0, false, 3 * time.Minute},
		{time.Minute + sampleFor, time.Second, 0, true, 0},
	} {
		if used := at(s.since, s.trip, s.off); used != s.used || time.Duration(c.offset.Load()) != s.offset {
			t.Errorf("sample %d: used %v, offset %v", i, used, time.Duration(c.offset.Load()))
		}
	}
}
