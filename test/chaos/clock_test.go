package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// noClock says what is missing where newClock is nil.
const noClock = "a clock that can be stepped for Postgres alone is libfaketime's: install the package libfaketime"

// clock is one that a Postgres has of its own. What is measured, and not read from it, goes on.
type clock struct{ library, file string }

// newClock is one that goes as all others do. It is nil where there is no libfaketime.
func newClock(t testing.TB) *clock {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	world.Must(t, err)
	if len(found) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "clock-")
	world.Must(t, err)
	t.Cleanup(func() { world.Must(t, os.RemoveAll(dir)) })
	world.Must(t, os.Chmod(dir, 0o711)) //nolint:gosec // Postgres's user passes
	c := &clock{found[0], filepath.Join(dir, "offset")}
	c.step(t, 0)
	return c
}

// step has it be wrong by so much. It is read once a second.
func (c *clock) step(t testing.TB, by time.Duration) {
	t.Helper()
	next := c.file + ".next"
	world.Must(t, os.WriteFile(next, fmt.Appendf(nil, "%+.3f", by.Seconds()), 0o644), //nolint:gosec // Postgres's user reads it
		os.Rename(next, c.file))
}

// env is for a Postgres whose clock it is; nothing without one.
func (c *clock) env() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1"}
}

// stepClock has the database's clock be wrong, by thirty times as long as it is: every other time it is behind.
func (in *installation) stepClock(_ int, lasts time.Duration) (heal func()) {
	by := 30 * lasts
	if lasts/time.Millisecond%2 == 0 {
		by = -by
	}
	in.clock.step(in.T, by)
	return func() { in.clock.step(in.T, 0) }
}

// TestTheClockIsStepped: what is read of the clock is what a step has made of it, in sessions that are there already too.
func TestTheClockIsStepped(t *testing.T) {
	t.Parallel()
	c := newClock(t)
	if c == nil {
		if os.Getenv("FAIRLEAD_SOAK") != "" || os.Getenv("CI") == "true" {
			t.Fatal(noClock)
		}
		t.Log("not played: " + noClock)
		return
	}
	w, pg := world.NewAloneAs(t, localpg.Config{Env: c.env()})
	db, err := pgx.Connect(t.Context(), pg.URL(w.DB.Name, localpg.Superuser))
	world.Must(t, err)
	defer db.Close(context.Background()) //nolint:errcheck // nothing is pending
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		c.step(t, by)
		world.Eventually(t, hang, fmt.Sprintf("the clock is not wrong by %s", by), func() bool {
			var now time.Time
			world.Must(t, db.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now))
			return (time.Until(now) - by).Abs() < time.Minute
		})
	}
}
