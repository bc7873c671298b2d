package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

func pending(n int) (r fleet.Receipt) {
	r.Counts.Pending = n
	r.State = fleet.State(r.Counts)
	return r
}

func TestFiftyWaitersAreOneReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads, inside, most atomic.Int32
		start := time.Now()
		b := NewReceipts(func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error) {
			reads.Add(1)
			most.Store(max(most.Load(), inside.Add(1)))
			defer inside.Add(-1)
			time.Sleep(time.Millisecond)
			if time.Since(start) < 10*time.Second {
				return pending(1), nil
			}
			return pending(0), nil
		})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				r, err := b.Wait(t.Context(), nil, testKey, 7, pending(1), whoever)
				if err != nil || r.Counts.Pending != 0 {
					t.Errorf("wait = %+v, %v", r, err)
				}
			})
		}
		all.Wait()
		took := time.Since(start)
		if took < 10*time.Second || took > 10*time.Second+2*pollLatest {
			t.Errorf("it took %v", took)
		}
		if n := reads.Load(); n < 40 || n > 60 {
			t.Errorf("%d reads in 10 s, want about 43", n)
		}
		if most.Load() != 1 {
			t.Errorf("%d reads at once", most.Load())
		}
		if len(b.fleets) != 0 {
			t.Error("the board remembers a fleet that nobody waits for")
		}
	})
}

func TestAnotherWaiterTakesTheTurnOfOneThatLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reading := make(chan struct{}, 1)
		var first atomic.Bool
		b := NewReceipts(func(ctx context.Context, _ fleet.Key, _ fleet.Revision) (fleet.Receipt, error) {
			if first.CompareAndSwap(false, true) {
				reading <- struct{}{}
				<-ctx.Done() // the database hangs for the first reader
				return fleet.Receipt{}, ctx.Err()
			}
			return pending(0), nil
		})
		var all sync.WaitGroup
		leaving, leave := context.WithCancel(t.Context())
		all.Go(func() {
			if r, err := b.Wait(leaving, nil, testKey, 1, pending(3), whoever); err != nil || r.Counts.Pending != 3 {
				t.Errorf("the one that left got %+v, %v", r, err)
			}
		})
		<-reading
		all.Go(func() {
			if r, err := b.Wait(t.Context(), nil, testKey, 1, pending(3), whoever); err != nil || r.Counts.Pending != 0 {
				t.Errorf("the other got %+v, %v", r, err)
			}
		})
		synctest.Wait()
		leave()
		all.Wait()
	})
}

func TestWaitersOfTwoRevisionsShareATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewReceipts(func(_ context.Context, _ fleet.Key, rev fleet.Revision) (fleet.Receipt, error) {
			return fleet.Receipt{Revision: rev, State: fleet.ReceiptDelivered}, nil
		})
		var all sync.WaitGroup
		for _, rev := range []fleet.Revision{3, 4} {
			all.Go(func() {
				if r, err := b.Wait(t.Context(), nil, testKey, rev, pending(1), whoever); err != nil || r.Revision != rev {
					t.Errorf("revision %d: %+v, %v", rev, r, err)
				}
			})
		}
		all.Wait()
	})
}

func TestWaitEndsWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewReceipts(func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error) { return pending(2), nil })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if r, err := b.Wait(ctx, nil, testKey, 1, pending(5), whoever); err != nil || r.Counts.Pending != 2 {
			t.Errorf("at its deadline: %+v, %v", r, err)
		}
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		begin := time.Now()
		if r, err := b.Wait(t.Context(), stop, testKey, 1, pending(5), whoever); err != nil || r.Counts.Pending != 2 {
			t.Errorf("when the server stops: %+v, %v", r, err)
		}
		if d := time.Since(begin); d != time.Second {
			t.Errorf("the server's stop was noticed after %v", d)
		}
	})
}

func TestWaitTellsThatTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewReceipts(func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error) {
			return fleet.Receipt{}, fleet.ErrUnavailable
		})
		if _, err := b.Wait(t.Context(), nil, testKey, 1, pending(1), whoever); !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("err = %v", err)
		}
	})
}

func TestT36_AReaderThatPanicsGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		b := NewReceipts(func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error) {
			if broken.Swap(false) {
				panic("scripted")
			}
			return pending(0), nil
		})
		start, panics := time.Now(), atomic.Int32{}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				defer func() {
					if recover() != nil {
						panics.Add(1)
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if r, err := b.Wait(ctx, nil, testKey, 7, pending(1), whoever); err != nil || r.Counts.Pending != 0 {
					t.Errorf("the other one waits for %+v, %v", r, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); panics.Load() != 1 || took > time.Second || len(b.fleets) != 0 {
			t.Errorf("%d panics, it took %v, %d fleets are remembered", panics.Load(), took, len(b.fleets))
		}
	})
}

// whoever may go on waiting.
func whoever(context.Context) error { return nil }
