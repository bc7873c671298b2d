package replica

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// failing is a feed that cannot tell of the past, in one way or another.
type failing struct {
	*feed
	mu    sync.Mutex // guards both
	why   func(context.Context, fleet.Revision) error
	asked int
	world *world
}

func (f *failing) fails(ctx context.Context, at fleet.Revision) error {
	f.mu.Lock()
	why := f.why
	f.asked++
	f.mu.Unlock()
	if why == nil {
		return nil
	}
	return why(ctx, at)
}

func (f *failing) set(why func(context.Context, fleet.Revision) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.why = why
}

func (f *failing) readings() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *failing) ResourcesAt(ctx context.Context, k fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	if err := f.fails(ctx, at); err != nil {
		return nil, err
	}
	return f.feed.ResourcesAt(ctx, k, at)
}

func (f *failing) ChangesUpTo(ctx context.Context, k fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	if err := f.fails(ctx, at); err != nil {
		return nil, err
	}
	return f.feed.ChangesUpTo(ctx, k, at)
}

// withFailing is bubble with a fleet of three revisions whose past is told by a failing feed. come has a node come that
// settled at a revision, with a version that nobody knows.
func withFailing(t *testing.T, do func(t *testing.T, f *failing, come func(ctx context.Context, node string, settled fleet.Revision) xds.LastStream)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{feed: newFeed()}
		w := setupFeed(t, f, f.feed)
		f.world = w
		synctest.Wait()
		key, id, _ := w.newFleet(cluster("same", "1"))
		w.feed.write(key, cluster("b", "2"))
		w.feed.write(key, cluster("c", "3"))
		w.attach(id, "stays")
		do(t, f, func(ctx context.Context, node string, settled fleet.Revision) xds.LastStream {
			w.left(node, fleet.LastStream{Settled: settled})
			a, err := w.Attach(ctx, id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: "SotW ADS", Resumed: true})
			if err != nil {
				return xds.LastStream{}
			}
			defer a.Detach(false)
			return a.LastStream()
		})
		w.stop()
	})
}

func always(err error) func(context.Context, fleet.Revision) error {
	return func(context.Context, fleet.Revision) error { return err }
}

// TestT11_WhatCannotBeReadIsNotReadForEach: a crowd that comes back costs as many readings that fail as ones that do not.
func TestT11_WhatCannotBeReadIsNotReadForEach(t *testing.T) {
	for name, c := range map[string]struct {
		why   error
		after time.Duration // it is tried again
	}{
		"too much has changed since": {fmt.Errorf("read: %w", fleet.ErrLimit), keepBefore},
		"it is not kept":             {fmt.Errorf("read: %w", fleet.ErrNotFound), keepBefore},
		"the database is away":       {errAway, unreadRest},
	} {
		t.Run(name, func(t *testing.T) {
			withFailing(t, func(t *testing.T, f *failing, come func(context.Context, string, fleet.Revision) xds.LastStream) {
				f.set(always(c.why))
				come(t.Context(), "first", 1)
				asked := f.readings()
				for i := range 100 {
					if last := come(t.Context(), fmt.Sprint("n", i), 1); last.Before != nil || last.Between != nil {
						t.Fatalf("it was read: %+v", last)
					}
				}
				if asked != 2 || f.readings() != asked { // of what it held, and of what the fleet did
					t.Errorf("%d readings for the first, %d more for a hundred others", asked, f.readings()-asked)
				}
				f.set(nil)
				time.Sleep(c.after)
				if last := come(t.Context(), "later", 1); last.Before == nil || last.Between == nil {
					t.Errorf("after %s it is told of %v and %v", c.after, last.Before, last.Between)
				}
			})
		})
	}
}

// TestT11_ASlowReadingIsWaitedForOnce: those who come while it takes its time, or after it, wait no longer than for one.
func TestT11_ASlowReadingIsWaitedForOnce(t *testing.T) {
	withFailing(t, func(t *testing.T, f *failing, come func(context.Context, string, fleet.Revision) xds.LastStream) {
		f.set(func(ctx context.Context, _ fleet.Revision) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		begun := time.Now()
		var crowd sync.WaitGroup
		for i := range 100 {
			crowd.Go(func() { come(t.Context(), fmt.Sprint("n", i), 1) })
		}
		crowd.Wait()
		took, asked := time.Since(begun), f.readings()
		if took > 2*beforeWait || asked > 4 { // each may be asked a second time among the slow ones
			t.Errorf("a crowd waited %s, for %d readings", took, asked)
		}
		begun = time.Now()
		come(t.Context(), "next", 1)
		if took := time.Since(begun); took > 0 || f.readings() != asked {
			t.Errorf("the next one waited %s, for %d readings more", took, f.readings()-asked)
		}
	})
}

// TestT11_WhoGoesTakesNoReadingAway: a client that comes and goes would have the database begin anew each time.
func TestT11_WhoGoesTakesNoReadingAway(t *testing.T) {
	withFailing(t, func(t *testing.T, f *failing, come func(context.Context, string, fleet.Revision) xds.LastStream) {
		f.set(func(ctx context.Context, _ fleet.Revision) error {
			select {
			case <-time.After(beforeWait / 4):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		for i := range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), beforeWait/8)
			come(ctx, fmt.Sprint("goes", i), 1)
			cancel()
		}
		if last := come(t.Context(), "stays on", 1); last.Before == nil || f.readings() > 3 {
			t.Errorf("it had %v, by %d readings", last.Before, f.readings())
		}
	})
}

// TestWhatIsKeptWaitsForNoReading: what a server has in memory is told, though something else of the fleet is being read.
func TestWhatIsKeptWaitsForNoReading(t *testing.T) {
	withFailing(t, func(t *testing.T, f *failing, come func(context.Context, string, fleet.Revision) xds.LastStream) {
		if last := come(t.Context(), "first", 1); last.Between == nil {
			t.Fatal("nothing is known")
		}
		f.set(func(ctx context.Context, _ fleet.Revision) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		var slow sync.WaitGroup
		slow.Go(func() { come(t.Context(), "slow", 2) })
		synctest.Wait() // it reads
		begun := time.Now()
		last := come(t.Context(), "next", 1)
		if took := time.Since(begun); last.Before == nil || last.Between == nil || took > 0 {
			t.Errorf("it waited %s, and is told of %v and %v", took, last.Before, last.Between)
		}
		slow.Wait()
	})
}

// TestWhatHadNoTurnIsAskedForAgain: where the database was busy with other fleets, nothing is known of how it answers about this one.
func TestWhatHadNoTurnIsAskedForAgain(t *testing.T) {
	withFailing(t, func(t *testing.T, f *failing, _ func(context.Context, string, fleet.Revision) xds.LastStream) {
		f.set(func(ctx context.Context, _ fleet.Revision) error {
			select {
			case <-time.After(quickFor - time.Millisecond):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		w := f.world
		w.left("n", fleet.LastStream{Settled: 1})
		var ids []xds.Identity
		for range 50 {
			key, id, _ := w.newFleet(cluster("same", "1"))
			w.feed.write(key, cluster("b", "2"))
			w.attach(id, "stays")
			ids = append(ids, id)
		}
		missed := func() (missed int) {
			var crowd sync.WaitGroup
			var unknown atomic.Int64
			for _, id := range ids {
				crowd.Go(func() {
					a := w.resume(id, "n")
					defer a.Detach(true)
					if a.LastStream().Before == nil {
						unknown.Add(1)
					}
				})
			}
			crowd.Wait()
			return int(unknown.Load())
		}
		if missed() == 0 {
			t.Fatal("each had its turn")
		}
		f.set(nil)
		if n := missed(); n > 0 {
			t.Errorf("of %d fleets nothing was read, though the database had time", n)
		}
	})
}

// TestT11_ReadingsOfThePastHaveABudget: nodes that settled at more revisions than are kept have them read in turn, for as long as they come. Small ones are free.
func TestT11_ReadingsOfThePastHaveABudget(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct{ size, come, most, least int }{
		"large": {25 * mib, 60, pastBurst/(25*mib) + 1, pastBurst / (25 * mib)},
		"small": {1, 200, 200, 100},
	} {
		t.Run(name, func(t *testing.T) {
			body := make([]byte, c.size) // of all versions
			withFailing(t, func(t *testing.T, f *failing, _ func(context.Context, string, fleet.Revision) xds.LastStream) {
				w := f.world
				at := func(version int) fleet.Row {
					return fleet.Row{Type: fleet.Cluster, Name: "c", Version: fmt.Sprint(version), Body: body}
				}
				key, id, _ := w.newFleet(at(1))
				for i := range 2 * maxBefore {
					w.feed.write(key, at(i+2))
				}
				w.feed.write(key, cluster("c", "small"))
				for i := range 2 * maxBefore {
					w.left(fmt.Sprint("n", i), fleet.LastStream{Settled: fleet.Revision(i + 1)})
				}
				come := func(i int) { w.resume(id, fmt.Sprint("n", i%(2*maxBefore))).Detach(true) }
				for i := range c.come {
					come(i)
				}
				if n := f.readings(); n > c.most || n < c.least {
					t.Errorf("%d readings, want %d to %d", n, c.least, c.most)
				}
				time.Sleep(time.Duration(c.size/pastRate+1) * time.Second)
				n := f.readings()
				for i := range 2 * maxBefore {
					come(i)
				}
				if f.readings() == n {
					t.Error("nothing is read when it may be again")
				}
			})
		})
	}
}
