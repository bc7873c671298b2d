package xds

import (
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
)

// A fleet of many streams holds up another one for one step.
func TestT44_FleetsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		crowd, shop := fleet.Key{Fleet: fleet.NewID()}, fleet.Key{Fleet: fleet.NewID()}
		ts := newTurns(1)
		var served []fleet.Key
		step := func(key fleet.Key) {
			go func() {
				mine := turn{of: ts, key: key}
				mine.take()
				mine.take() // it has it
				served = append(served, key)
				mine.leave()
				mine.leave()
			}()
			synctest.Wait() // in this order
		}
		long := turn{of: ts, key: crowd}
		long.take()
		for range 1000 {
			step(crowd)
		}
		step(shop)
		step(shop)
		long.leave()
		synctest.Wait()
		if len(served) != 1002 || served[1] != shop || served[3] != shop {
			t.Errorf("the second fleet was not served beside the first: of %d the first are %v", len(served), served[:4])
		}
		if ts.free != 1 || len(ts.lines)+len(ts.next) != 0 {
			t.Errorf("at the end %d turns are free and %d lines wait", ts.free, len(ts.lines))
		}
	})
}
