package run

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"fairlead/internal/lifecycle"
)

// mendEvery is how often, give or take a fifth, a mender looks for what another process has
// left: one look at a table that is empty nearly always.
const mendEvery = 10 * time.Second

// mendRest is for how long nothing is tried after a run that failed, however many writes say so.
const mendRest = time.Second

// mender writes down that refusals have ended, after the writes that ended them. Every API
// server has one, which begins at once with what its own writes leave; any number may be at
// it at the same time.
type mender struct {
	store interface {
		Mend(ctx context.Context) error
		Mending() <-chan struct{}
	}
	log *slog.Logger
}

// run goes on until ctx ends, whatever a single run comes to.
func (m mender) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-m.store.Mending():
		}
		err := lifecycle.Contain(m.log, "the mender", func() error { failing = m.once(ctx, failing); return nil }) // the next run tries again
		timer.Reset(mendEvery - mendEvery/5 + rand.N(2*mendEvery/5))
		if failing || err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(mendRest):
			}
		}
	}
}

// once tells the first of several failures, and returns whether this is one.
func (m mender) once(ctx context.Context, failing bool) bool {
	err := m.store.Mend(ctx)
	if err == nil || ctx.Err() != nil {
		return false
	}
	if !failing {
		m.log.Warn("ended refusals are not all written down: the next run goes on", "error", err)
	}
	return true
}
