package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// measured is how metrics tell a lane apart.
func (l lane) measured() metrics.Lane {
	switch l {
	case laneReload:
		return metrics.LaneReload
	case laneFollow:
		return metrics.LaneFollow
	case laneReport:
		return metrics.LaneReport
	case laneLease:
		return metrics.LaneLease
	default:
		return metrics.LaneRequest
	}
}

// countFailed counts a call that failed. caller is the context that it was called with.
func (s *Store) countFailed(caller context.Context, c call, err error) {
	if err == nil {
		return
	}
	var late *TimeoutError
	var pg *pgconn.PgError
	said := errors.As(err, &pg) // else it may be what was made of an answer, such as that there is no row
	err = kind(c.timeout(err))
	switch {
	case caller.Err() != nil:
		s.metrics.Failed(metrics.FailedGivenUp)
	case errors.As(err, &late):
		s.metrics.Failed(metrics.FailedTimeout)
	case errors.Is(err, ErrFull):
		s.metrics.Failed(metrics.FailedFull)
	case errors.Is(err, fleet.ErrUnavailable) && !errors.Is(err, ErrMoving):
		s.metrics.Failed(metrics.FailedUnavailable)
	case said:
		s.metrics.Failed(metrics.FailedRefused)
	}
}

// state is how many connections there are.
func (c *conns) state() []metrics.PoolState {
	all := []metrics.PoolState{poolState("shared", c.pool)}
	if c.vital != nil {
		all = append(all, poolState("vital", c.vital))
	}
	return all
}

func poolState(name string, p *pgxpool.Pool) metrics.PoolState {
	s := p.Stat()
	return metrics.PoolState{Pool: name, Idle: s.IdleConns(), Acquired: s.AcquiredConns(), Opening: s.ConstructingConns(), Maximum: s.MaxConns(), Opened: s.NewConnsCount()}
}
