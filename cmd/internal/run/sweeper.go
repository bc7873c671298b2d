package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
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

func (s sweeper) run(ctx context.Context) error {
	return routine{log: s.log, name: "the sweeper", first: about(sweepEvery), every: sweepEvery, once: s.once}.run(ctx)
}

func (s sweeper) once(ctx context.Context) (failed bool) {
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
	return err != nil
}
