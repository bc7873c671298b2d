package run

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

const sweepEvery = time.Minute // give or take a fifth

// sweeper deletes, about once a minute, what xDS servers said that are dead. Every API server
// has one: what the first has done, the second finds done. Where no server has died a run is
// one look at the list of servers.
type sweeper struct {
	store interface {
		SweepServers(ctx context.Context) (int, error)
	}
	log *slog.Logger
}

// run goes on until ctx ends, whatever a single run comes to.
func (s sweeper) run(ctx context.Context) error {
	next := func() time.Duration { return sweepEvery - sweepEvery/5 + rand.N(2*sweepEvery/5) }
	timer := time.NewTimer(next())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		_ = lifecycle.Contain(s.log, "the sweeper", func() error { s.once(ctx); return nil }) // the next run tries again
		timer.Reset(next())
	}
}

func (s sweeper) once(ctx context.Context) {
	n, err := s.store.SweepServers(ctx)
	switch {
	case err == nil && n > 0:
		s.log.Info("what dead xDS servers said is swept", "servers", n)
	case err == nil || ctx.Err() != nil: // nothing, or the server stops: the next one goes on
	case errors.Is(err, fleet.ErrUnavailable):
		s.log.Debug("what dead xDS servers said is not swept: the database does not answer", "error", err)
	default:
		s.log.Error("what dead xDS servers said is not swept", "error", err)
	}
}
