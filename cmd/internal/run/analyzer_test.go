package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// analyses answers each run with the next error, and then with none.
type analyses struct {
	signal chan struct{}
	ran    chan time.Time
	errs   []error
}

func (a *analyses) Grown() <-chan struct{} { return a.signal }

func (a *analyses) AnalyzeGrown(context.Context) ([]string, error) {
	var err error
	if len(a.errs) > 0 {
		err, a.errs = a.errs[0], a.errs[1:]
	}
	a.ran <- time.Now()
	if errors.Is(err, errPanics) {
		panic(err)
	}
	return nil, err
}

// The analyzer begins when it starts, after a write that changed much, and now and then for what others wrote, whatever happens (T36).
func TestT36_AnalyzerRunsAtOnceAndNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &analyses{signal: make(chan struct{}, 1), ran: make(chan time.Time), errs: []error{nil, fmt.Errorf("away: %w", fleet.ErrUnavailable), errors.New("broken"), errPanics}}
		var out bytes.Buffer
		begun := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := (analyzer{fake, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
				t.Error(err)
			}
		})
		last := <-fake.ran
		if last != begun {
			t.Errorf("the first run is after %v", last.Sub(begun))
		}
		for i := range 4 {
			synctest.Wait()
			at := <-fake.ran
			if d := at.Sub(last); d < analyzeEvery*8/10 || d > analyzeEvery*22/10 {
				t.Errorf("run %d is after %v", i+2, d)
			}
			last = at
		}
		synctest.Wait()
		fake.signal <- struct{}{}
		if at := <-fake.ran; at != last {
			t.Errorf("after a write it waits %v", at.Sub(last))
		}
		cancel()
		wg.Wait()
		for line, want := range map[string]int{"the database does not answer": 0, "are not analyzed\" error=broken": 1} {
			if got := strings.Count(out.String(), line); got != want {
				t.Errorf("%q is told %d times, want %d:\n%s", line, got, want, out.String())
			}
		}
	})
}
