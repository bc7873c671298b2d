package run

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"fairlead/internal/lifecycle"
)

// routine is work that a server does now and then.
type routine struct {
	log   *slog.Logger
	name  string
	first time.Duration   // from the start to the first run
	every time.Duration   // from run to run, give or take a fifth
	now   <-chan struct{} // asks for a run at once; nil: nobody does
	rest  time.Duration   // after a run that failed nothing asks for one for so long
	// once is a run, which tells what it came to. A panic is a failure too.
	once func(ctx context.Context) (failed bool)
}

// run goes on until ctx ends, whatever a single run comes to.
func (r routine) run(ctx context.Context) error {
	timer := time.NewTimer(r.first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.now:
		}
		failed := true
		_ = lifecycle.Contain(r.log, r.name, func() error { failed = r.once(ctx); return nil }) // the next run tries again
		timer.Reset(about(r.every))
		if failed && r.rest > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(r.rest):
			}
		}
	}
}

// about is d, give or take a fifth, so that servers that started together do not work together.
func about(d time.Duration) time.Duration { return d - d/5 + rand.N(2*d/5) }
