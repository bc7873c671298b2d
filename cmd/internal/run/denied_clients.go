package run

import (
	"context"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
)

const (
	deniedEvery = 5 * time.Second // give or take a fifth
	deniedEnd   = 5 * time.Second // for the last ones, when the server stops
)

// deniedClients writes down, every few seconds, which clients were not let in.
type deniedClients struct {
	replica interface {
		TellDenied(ctx context.Context, end bool, tell func(context.Context, []fleet.Denied) error) error
	}
	store interface {
		TellDenied(ctx context.Context, ds []fleet.Denied) error
	}
	log *slog.Logger
}

func (d deniedClients) run(ctx context.Context) error {
	failing := false
	err := routine{log: d.log, name: "the record of clients that were not let in", first: deniedEvery, every: deniedEvery, once: func(ctx context.Context) bool {
		failing = d.once(ctx, false, failing)
		return failing
	}}.run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), deniedEnd)
	defer cancel()
	d.once(last, true, failing)
	return err
}

// once tells the first of several failures, and returns whether this is one.
func (d deniedClients) once(ctx context.Context, end, failing bool) bool {
	err := d.replica.TellDenied(ctx, end, d.store.TellDenied)
	if err != nil && !failing && ctx.Err() == nil {
		d.log.Warn("events of clients that were not let in are not written: the next run goes on", "error", err)
	}
	return err != nil
}
