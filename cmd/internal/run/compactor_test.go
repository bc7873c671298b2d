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
	"fairlead/internal/store"
)

// errPanics is thrown.
var errPanics = errors.New("scripted")

// compactions answers each run with the next error.
type compactions struct {
	from time.Time

	mu   sync.Mutex // guards all below
	errs []error
	at   []time.Duration // since the start
}

func (c *compactions) CompactDue(context.Context) (store.Compaction, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Since(c.from))
	err := c.errs[0]
	c.errs = c.errs[1:]
	if errors.Is(err, errPanics) {
		panic(err)
	}
	return store.Compaction{Tenants: 2, Fleets: 5, Forgot: 3}, err
}

func (c *compactions) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.errs)
}

// Errors and panics (T36) are whatever can happen.
func TestT36_CompactorRunsAboutOnceAnHourWhateverHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := fmt.Errorf("list tenants: %w", fleet.ErrUnavailable)
		fake := &compactions{errs: []error{away, errors.New("broken"), nil, errPanics, nil}, from: time.Now()}
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := (compactor{fake, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
				t.Error(err)
			}
		})
		for fake.left() > 0 {
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		cancel()
		wg.Wait()
		if fake.at[0] < compactFirst || fake.at[0] > compactFirst*12/10 {
			t.Errorf("the first run is after %v", fake.at[0])
		}
		for i, at := range fake.at[1:] {
			if d := at - fake.at[i]; d < compactEvery*8/10 || d > compactEvery*12/10 {
				t.Errorf("then after %v", d)
			}
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, want := range []string{"WARN fleets=5 compacted=3", "ERROR fleets=5 compacted=3", "INFO fleets=5 compacted=3", "ERROR msg=panic", "INFO fleets=5 compacted=3"} {
			level, words, _ := strings.Cut(want, " ")
			if len(lines) != 5 || !strings.Contains(lines[i], "level="+level) || !strings.Contains(lines[i], words) {
				t.Fatalf("logged:\n%s", out.String())
			}
		}
	})
}
