package store

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"fairlead/internal/lifecycle"
)

const (
	firstPause = 100 * time.Millisecond
	// longestPause keeps a reconnecting process within one poll interval or so.
	longestPause = 5 * time.Second
	// goodRun is how long a connection must have lived for the next failure to count as
	// the first again.
	goodRun = 10 * time.Second
)

// forever calls serve again and again, with growing, random pauses, until ctx ends.
// lost is told every error; it may be nil. A panic of serve, which where names, is an error
// (T36).
func forever(ctx context.Context, log *slog.Logger, where string, lost func(error), serve func(context.Context) error) {
	pause := firstPause
	for ctx.Err() == nil {
		start := time.Now()
		err := lifecycle.Contain(log, where, func() error { return serve(ctx) })
		if ctx.Err() != nil {
			return
		}
		if lost != nil {
			lost(kind(err))
		}
		if time.Since(start) > goodRun {
			pause = firstPause
		}
		wait(ctx, pause/2+rand.N(pause/2+1)) //nolint:gosec // jitter, no secret
		pause = min(pause*2, longestPause)
	}
}

// wait returns after d or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
