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

// sweeps answers each run with the next error.
type sweeps struct {
	mu   sync.Mutex // guards errs and at
	errs []error
	at   []time.Time
}

func (s *sweeps) SweepServers(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	err := s.errs[0]
	s.errs = s.errs[1:]
	if errors.Is(err, errPanics) {
		panic(err)
	}
	return 2, err
}

func (s *sweeps) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.errs)
}

func TestT36_SweeperRunsAboutOnceAMinuteWhateverHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := &sweeps{errs: []error{fmt.Errorf("away: %w", fleet.ErrUnavailable), errors.New("broken"), errPanics, nil}, at: []time.Time{time.Now()}}
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := (sweeper{fake, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
				t.Error(err)
			}
		})
		for fake.left() > 0 {
			time.Sleep(time.Second)
			synctest.Wait()
		}
		cancel()
		wg.Wait()
		for i, at := range fake.at[1:] {
			if d := at.Sub(fake.at[i]); d < sweepEvery*8/10 || d > sweepEvery*12/10 {
				t.Errorf("a run comes after %v", d)
			}
		}
		var levels []string
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, "level=")
			level, _, _ := strings.Cut(rest, " ")
			levels = append(levels, level)
		}
		if got := strings.Join(levels, " "); got != "ERROR ERROR INFO" {
			t.Errorf("it logs %s:\n%s", got, &out)
		}
	})
}
