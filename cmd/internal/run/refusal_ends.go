package run

import (
	"context"
	"log/slog"
	"time"
)

// endEvery is how often, give or take a fifth, it looks for what another process has
// left: one look at a table that is empty nearly always.
const endEvery = 10 * time.Second

// endRest is for how long nothing is tried after a run that failed, however many writes say so.
const endRest = time.Second

// refusalEnds writes down that refusals have ended, after the writes that ended them. Every API
// server has one, which begins at once with what its own writes leave; any number may be at
// it at the same time.
type refusalEnds struct {
	store interface {
		EndRefusals(ctx context.Context) error
		RefusalsEnding() <-chan struct{}
	}
	log *slog.Logger
}

func (m refusalEnds) run(ctx context.Context) error {
	failing := false
	return routine{log: m.log, name: "the ends of refusals", every: endEvery, now: m.store.RefusalsEnding(), rest: endRest, once: func(ctx context.Context) bool {
		failing = m.once(ctx, failing)
		return failing
	}}.run(ctx)
}

// once tells the first of several failures, and returns whether this is one.
func (m refusalEnds) once(ctx context.Context, failing bool) bool {
	err := m.store.EndRefusals(ctx)
	if err == nil || ctx.Err() != nil {
		return false
	}
	if !failing {
		m.log.Warn("ended refusals are not all written down: the next run goes on", "error", err)
	}
	return true
}
