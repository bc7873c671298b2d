package storetest

import (
	"sync"
	"testing"
	"time"
)

// tick is what Within counts in.
const tick = 10 * time.Millisecond

// Within fails the test if f takes longer than limit, of the time that passes for this process: a tick that comes late, because the
// processors are others', is one tick, and not the time that it was late.
func Within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	done, ticks := make(chan struct{}), 0
	var counting sync.WaitGroup
	counting.Go(func() {
		every := time.NewTicker(tick)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				ticks++
			case <-done:
				return
			}
		}
	})
	defer func() {
		close(done)
		counting.Wait()
		if took := time.Duration(ticks) * tick; took > limit {
			t.Errorf("%s took %v, and may take %v", what, took, limit)
		}
	}()
	f()
}
