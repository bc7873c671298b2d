package run

import (
	"context"
	"log/slog"
	"time"
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

func (m mender) run(ctx context.Context) error {
	failing := false
	return routine{log: m.log, name: "the mender", every: mendEvery, now: m.store.Mending(), rest: mendRest, once: func(ctx context.Context) bool {
		failing = m.once(ctx, failing)
		return failing
	}}.run(ctx)
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
