package compute_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/fleet"
)

var a, b, c = fleet.TenantID{1}, fleet.TenantID{2}, fleet.TenantID{3}

// line notes who was let in.
type line struct {
	mu  sync.Mutex // guards who
	who []string
	wg  sync.WaitGroup
}

func (l *line) note(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.who = append(l.who, who)
}

// computes stands in line, and computes for a second; all who called it before stand before it.
func (l *line) computes(t *testing.T, p *compute.Pool, who string, id fleet.TenantID, kind compute.Kind) {
	l.wg.Go(func() {
		turn, err := p.Enter(t.Context(), id, kind)
		if err != nil {
			l.note(who + " " + err.Error())
			return
		}
		defer turn.Leave()
		l.note(who)
		time.Sleep(time.Second) // of the bubble's clock
	})
	synctest.Wait()
}

// TestT44_TenantsComputeInTurn: one tenant's many computations hold up another's for one of them, and a small one of its own for none that has not begun.
func TestT44_TenantsComputeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l line
		p := compute.New(compute.Config{Slots: 1, Waiting: 10, Patience: time.Hour})
		for range 4 {
			l.computes(t, p, "a", a, compute.Large)
		}
		l.computes(t, p, "b", b, compute.Large)
		l.computes(t, p, "a small", a, compute.Small)
		l.computes(t, p, "c", c, compute.Large)
		if got, want := p.State(), (compute.State{Slots: 1, Running: [2]int{0, 1}, Waiting: [2]int{1, 5}}); got != want {
			t.Errorf("it says %+v, want %+v", got, want)
		}
		l.wg.Wait()
		if got, want := p.State(), (compute.State{Slots: 1}); got != want {
			t.Errorf("in the end it says %+v, want %+v", got, want)
		}
		if want := []string{"a", "a small", "b", "c", "a", "a", "a"}; !slices.Equal(l.who, want) {
			t.Errorf("%q, want %q", l.who, want)
		}
	})
}

// TestT44_ATenantHasAllSlotsWhileNobodyElseWaits, and the next one that is free is another's.
func TestT44_ATenantHasAllSlotsWhileNobodyElseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l line
		p := compute.New(compute.Config{Slots: 3, Waiting: 10, Patience: time.Hour})
		for range 8 {
			l.computes(t, p, "a", a, compute.Large)
		}
		if len(l.who) != 3 {
			t.Errorf("%q compute, of 3 slots", l.who)
		}
		for range 3 {
			l.computes(t, p, "b", b, compute.Large)
		}
		l.wg.Wait()
		// Of the three that are free at once the other tenant gets more than half: it has none yet. In which order these three run is not the pool's to say.
		first := slices.Sorted(slices.Values(l.who[3:6]))
		if want := []string{"a", "b", "b"}; !slices.Equal(first, want) {
			t.Errorf("%q are next, want %q: %q", first, want, l.who)
		}
	})
}

// TestT44_WhoWaitsForATurnIsBounded, in number and in time, and gives its place up when its caller goes away.
func TestT44_WhoWaitsForATurnIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := compute.New(compute.Config{Slots: 1, Waiting: 2, Patience: 10 * time.Second})
		first, err := p.Enter(t.Context(), a, compute.Large)
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var late, left error
		wg.Go(func() { _, late = p.Enter(t.Context(), a, compute.Large) })
		wg.Go(func() { _, left = p.Enter(gone, a, compute.Large) })
		synctest.Wait()
		var busy *compute.BusyError
		if _, err := p.Enter(t.Context(), a, compute.Large); !errors.As(err, &busy) || !busy.Crowded || !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("the third that waits: %v", err)
		}
		cancel()
		synctest.Wait()
		wg.Wait() // the bubble's clock goes on
		if !errors.Is(left, context.Canceled) {
			t.Errorf("whose caller went away: %v", left)
		}
		if !errors.As(late, &busy) || busy.Crowded {
			t.Errorf("who waited too long: %v", late)
		}
		first.Leave()
		first.Leave()
		for range 2 { // none of them has the slot
			turn, err := p.Enter(t.Context(), b, compute.Large)
			if err != nil {
				t.Fatal(err)
			}
			turn.Leave()
		}
	})
}

// TestT44_ALongComputationLetsOthersIn between its steps, and ends at the next step when its caller goes away.
func TestT44_ALongComputationLetsOthersIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := compute.New(compute.Config{Slots: 1, Waiting: 10, Patience: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		var ended error
		var wg sync.WaitGroup
		steps := 0
		wg.Go(func() {
			turn, err := p.Enter(ctx, a, compute.Large)
			if err != nil {
				ended = err
				return
			}
			defer turn.Leave()
			for ended == nil {
				time.Sleep(time.Millisecond)
				steps++
				ended = turn.Yield(ctx)
			}
		})
		synctest.Wait()
		for _, one := range []struct {
			id   fleet.TenantID
			kind compute.Kind
		}{{b, compute.Large}, {a, compute.Small}} {
			start := time.Now()
			turn, err := p.Enter(t.Context(), one.id, one.kind)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited > compute.Slice+time.Millisecond {
				t.Errorf("another waited %v for a long computation", waited)
			}
			before := steps
			time.Sleep(time.Second)
			if steps != before {
				t.Errorf("two computed at the same time: %d steps", steps-before)
			}
			turn.Leave()
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if !errors.Is(ended, context.Canceled) {
			t.Errorf("it ended with %v", ended)
		}
		turn, err := p.Enter(t.Context(), b, compute.Large)
		if err != nil {
			t.Errorf("its slot is not free: %v", err)
		}
		turn.Leave()
	})
}

// TestT44_WhoAsksForTheSameSharesOneComputation, but for the one that has begun already: what was written meanwhile is not in it.
func TestT44_WhoAsksForTheSameSharesOneComputation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f compute.Flights[string, int]
		p := compute.New(compute.Config{Slots: 1, Waiting: 10, Patience: time.Hour})
		computed := 0
		compute1 := func(ctx context.Context, begin func()) (int, error) {
			turn, err := p.Enter(ctx, a, compute.Large)
			if err != nil {
				return 0, err
			}
			defer turn.Leave()
			begin()
			computed++
			mine := computed
			time.Sleep(time.Second)
			return mine, ctx.Err()
		}
		got := make([]int, 6)
		leads, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range got {
			ctx := t.Context()
			if i == 1 {
				ctx = leads
			}
			wg.Go(func() { got[i], _ = f.Do(ctx, "x", compute1) })
			synctest.Wait()
		}
		cancel() // who would have computed for the others has gone away
		wg.Wait()
		if want := []int{1, 0, 2, 2, 2, 2}; !slices.Equal(got, want) || computed != 2 {
			t.Errorf("%v of %d computations, want %v", got, computed, want)
		}
	})
}

// TestT44_SmallOnesOfOneTenantHoldUpNoLargeOne of another: what is reserved for small ones is a bound on the large ones, and no demand that
// so many slots be free at once.
func TestT44_SmallOnesOfOneTenantHoldUpNoLargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := compute.New(compute.Config{Slots: 2, Reserved: 1, Waiting: 10, Patience: 10 * time.Second})
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 4 { // more than there are slots, so one always waits
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				for ctx.Err() == nil {
					turn, err := p.Enter(t.Context(), a, compute.Small)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(5 * time.Millisecond)
					turn.Leave()
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
		turn, err := p.Enter(t.Context(), b, compute.Large)
		if err != nil {
			t.Errorf("a large one of another tenant: %v", err)
		} else {
			if second, err := p.Enter(t.Context(), c, compute.Large); err == nil {
				t.Error("a large one has the slot that is reserved for small ones")
				second.Leave()
			}
			turn.Leave()
		}
		stop()
		wg.Wait()
	})
}

// TestT44_LargeComputationsPauseForBriefWork: until that is over, for as long as it may last, or for as long as was computed before.
func TestT44_LargeComputationsPauseForBriefWork(t *testing.T) {
	for _, c := range []struct {
		name               string
		kind               compute.Kind
		computed           time.Duration
		brief, most, pause time.Duration // how long the brief work takes, may take, and is waited for
	}{
		{"until it is over", compute.Large, 10 * time.Millisecond, 3 * time.Millisecond, time.Hour, 3 * time.Millisecond},
		{"for as long as it may last", compute.Large, 10 * time.Millisecond, time.Hour, 4 * time.Millisecond, 4 * time.Millisecond},
		{"for as long as was computed", compute.Large, 10 * time.Millisecond, time.Hour, time.Hour, 10 * time.Millisecond},
		{"for a slice at most", compute.Large, time.Minute, time.Hour, time.Hour, compute.Slice},
		{"not so soon again", compute.Large, 500 * time.Microsecond, time.Hour, time.Hour, 0},
		{"not what is small", compute.Small, 10 * time.Millisecond, time.Hour, time.Hour, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := compute.New(compute.Config{Slots: 1, Waiting: 1, Patience: time.Hour})
				turn, err := p.Enter(t.Context(), a, c.kind)
				if err != nil {
					t.Fatal(err)
				}
				defer turn.Leave()
				time.Sleep(c.computed) // of the bubble's clock
				over := p.Brief(c.most)
				time.AfterFunc(c.brief, over)
				begun := time.Now()
				if err := turn.Yield(t.Context()); err != nil || time.Since(begun) != c.pause {
					t.Errorf("it pauses for %v, want %v: %v", time.Since(begun), c.pause, err)
				}
				if over(); c.pause == 0 {
					return
				}
				time.Sleep(c.computed)
				begun = time.Now()
				if err := turn.Yield(t.Context()); err != nil || time.Since(begun) != 0 {
					t.Errorf("it pauses for %v, and nothing brief is at work: %v", time.Since(begun), err)
				}
			})
		})
	}
}

// TestT44_APauseEndsWithItsClient: nobody waits for what is computed then.
func TestT44_APauseEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := compute.New(compute.Config{Slots: 1, Waiting: 1, Patience: time.Hour})
		ctx, gone := context.WithCancel(t.Context())
		turn, err := p.Enter(ctx, a, compute.Large)
		if err != nil {
			t.Fatal(err)
		}
		defer turn.Leave()
		time.Sleep(time.Minute) // of the bubble's clock
		over := p.Brief(time.Hour)
		defer over()
		time.AfterFunc(time.Millisecond, gone)
		begun := time.Now()
		if err := turn.Yield(ctx); !errors.Is(err, context.Canceled) || time.Since(begun) != time.Millisecond {
			t.Errorf("it pauses for %v after its client has gone: %v", time.Since(begun), err)
		}
	})
}

// TestTellsOfLargeComputations when they begin, and when none has been at work for a while.
func TestTellsOfLargeComputations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l line
		p := compute.New(compute.Config{Slots: 2, Waiting: 10, Patience: time.Hour})
		ctx, stop := context.WithCancel(t.Context())
		begun := time.Now()
		l.wg.Go(func() {
			p.TellLarge(ctx, 3*time.Second, func(here bool) { l.note(fmt.Sprint(here, " after ", time.Since(begun))) })
		})
		l.computes(t, p, "small", a, compute.Small)
		time.Sleep(10 * time.Second)
		l.computes(t, p, "large", a, compute.Large) // for a second
		time.Sleep(2 * time.Second)
		l.computes(t, p, "large", a, compute.Large)
		time.Sleep(time.Minute)
		l.computes(t, p, "large", a, compute.Large)
		stop()
		l.wg.Wait()
		want := []string{"small", "large", "true after 10s", "large", "false after 15s", "large", "true after 1m12s", "false after 1m12s"}
		if !slices.Equal(l.who, want) {
			t.Errorf("%q, want %q", l.who, want)
		}
	})
}

// TestAComputationHasTheNetworkWatched: once for each millisecond, however small its steps are.
func TestAComputationHasTheNetworkWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn, err := compute.New(compute.Config{Slots: 1, Waiting: 1, Patience: time.Second}).Enter(t.Context(), a, compute.Large)
		if err != nil {
			t.Fatal(err)
		}
		defer turn.Leave()
		before := goroutinesMade()
		for range 100 {
			time.Sleep(100 * time.Microsecond) // of the made-up time: it computes
			if err := turn.Yield(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := goroutinesMade() - before; n != 10 {
			t.Errorf("in 10 ms a thread was woken %d times, want 10", n)
		}
	})
}

func goroutinesMade() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// BenchmarkNetworkBesideAComputation is how long a client waits for an echo while a computation runs that the network woke, as one does that reads
// rows from the database between its parts. Without the goroutines of watchNetwork the p99 was 2.8 ms, with them 0.1 ms (two processors).
func BenchmarkNetworkBesideAComputation(b *testing.B) {
	turn, err := compute.New(compute.Config{Slots: 1, Waiting: 1, Patience: time.Second}).Enter(b.Context(), a, compute.Large)
	if err != nil {
		b.Fatal(err)
	}
	defer turn.Leave()
	wakes, echoed := echo(b), echo(b)
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for one := make([]byte, 1); ; {
			if _, err := wakes.Write(one); err != nil {
				b.Error(err)
				return
			}
			if _, err := io.ReadFull(wakes, one); err != nil {
				b.Error(err)
				return
			}
			for end := time.Now().Add(15 * time.Millisecond); time.Now().Before(end); {
				_ = turn.Yield(context.Background())
			}
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	var took []time.Duration
	for one := make([]byte, 1); b.Loop(); {
		start := time.Now()
		if _, err := echoed.Write(one); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(echoed, one); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	close(done)
	<-over
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// echo is a connection to another goroutine, which sends back what it gets.
func echo(b *testing.B) net.Conn {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, io.LimitReader(c, 1<<40))
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(); _ = l.Close() })
	return c
}
