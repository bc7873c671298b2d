package run

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// endings answers each run with the next error.
type endings struct {
	from   time.Time
	signal chan struct{}
	ran    chan time.Duration // since the start

	mu   sync.Mutex // guards errs
	errs []error
}

func (m *endings) RefusalsEnding() <-chan struct{} { return m.signal }

func (m *endings) EndRefusals(context.Context) (err error) {
	m.mu.Lock()
	if len(m.errs) > 0 {
		err, m.errs = m.errs[0], m.errs[1:]
	}
	m.mu.Unlock()
	m.ran <- time.Since(m.from)
	if errors.Is(err, errPanics) {
		panic(err)
	}
	return err
}

// It begins when it starts, when a write says so, and now and then for what another
// process has left, whatever happens (T36).
func TestT36_MenderRunsAtOnceAndNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		fake := &endings{from: time.Now(), signal: make(chan struct{}, 1), ran: make(chan time.Duration), errs: []error{nil, away, away, errPanics, nil, away}}
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := (refusalEnds{fake, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
				t.Error(err)
			}
		})
		if at := <-fake.ran; at != 0 {
			t.Errorf("the first run is after %v", at)
		}
		synctest.Wait()
		last := time.Duration(0)
		for range 5 {
			at := <-fake.ran
			if d := at - last; d < endEvery*8/10 || d > endEvery*12/10 {
				t.Errorf("then after %v", d)
			}
			last = at
			synctest.Wait()
		}
		fake.signal <- struct{}{} // the last run has failed
		if at := <-fake.ran; at != last+endRest {
			t.Errorf("after a write it tries again what failed after %v", at-last)
		}
		synctest.Wait()
		fake.signal <- struct{}{}
		if at := <-fake.ran; at != last+endRest {
			t.Errorf("after a write it waits %v", at-last-endRest)
		}
		cancel()
		wg.Wait()
		if got := strings.Count(out.String(), "level=WARN"); got != 2 {
			t.Errorf("of two failures in a row, a panic and another failure it says:\n%s", out.String())
		}
	})
}
