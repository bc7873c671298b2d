package compute_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/fleet"
)

// table is where something is looked up that takes a second of the bubble's clock: what was there when it began.
type table struct {
	shared compute.Shared[string, int]

	mu    sync.Mutex // guards what follows
	value int
	err   error
	reads int
}

func (x *table) read(ctx context.Context) (int, error) {
	x.mu.Lock()
	x.reads++
	value, err := x.value, x.err
	x.mu.Unlock()
	select {
	case <-time.After(time.Second):
		return value, err
	case <-ctx.Done():
		return 0, ctx.Err() //nolint:wrapcheck // it is ctx's
	}
}

func (x *table) set(value int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.value, x.err = value, err
}

// asks waits until as many ask as do, and then gives what they will be told.
func (x *table) asks(ctx context.Context, n int) func() []string {
	told := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			v, err := x.shared.Do(ctx, "k", x.read)
			told[i] = fmt.Sprint(v, err)
		})
	}
	synctest.Wait()
	return func() []string {
		all.Wait()
		return told
	}
}

func (x *table) is(t *testing.T, told []string, want string, reads int) {
	t.Helper()
	for _, s := range told {
		if s != want {
			t.Errorf("told %q, want %q", s, want)
		}
	}
	if x.reads != reads {
		t.Errorf("%d look-ups, want %d", x.reads, reads)
	}
}

// TestLookUpsAtOnceAreOne: and who asks after one has begun is told what was written before they asked.
func TestLookUpsAtOnceAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, start := &table{value: 1}, time.Now()
		first := x.asks(t.Context(), 1)
		x.set(2, nil)
		others := x.asks(t.Context(), 64)
		if n := x.shared.Waiting("k"); n != 64 {
			t.Errorf("%d wait", n)
		}
		x.is(t, others(), "2 <nil>", 2)
		x.is(t, first(), "1 <nil>", 2)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// TestWhoLeavesFailsNobody: neither while what they began is under way nor before.
func TestWhoLeavesFailsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{value: 1}
		ctx, leave := context.WithCancel(t.Context())
		under, leads := x.asks(ctx, 1), x.asks(ctx, 1)
		others := x.asks(t.Context(), 8)
		leave()
		x.is(t, others(), "1 <nil>", 2)
		x.is(t, append(under(), leads()...), "1 <nil>", 2)
	})
}

// TestADeadlineIsOnesOwn: the one who began the look-up had no time for it, another has.
func TestADeadlineIsOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{value: 1}
		under := x.asks(t.Context(), 1)
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		leads, follows := x.asks(ctx, 1), x.asks(t.Context(), 1)
		x.is(t, follows(), "1 <nil>", 3)
		x.is(t, leads(), "0 context deadline exceeded", 3)
		x.is(t, under(), "1 <nil>", 3)
	})
}

// TestWhatIsNotThereIsTold: to all at once, and any other failure to one.
func TestWhatIsNotThereIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{err: fleet.ErrNotFound}
		under, others := x.asks(t.Context(), 1), x.asks(t.Context(), 8)
		x.is(t, append(under(), others()...), "0 not found", 2)
		x.set(0, errors.New("broken"))
		under, others = x.asks(t.Context(), 1), x.asks(t.Context(), 8)
		x.is(t, append(under(), others()...), "0 broken", 11)
	})
}
