package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"fairlead/internal/fleet"
)

const (
	appConns  = 10
	nodeConns = 5
	// vitalConns is how many a node's lease and reports have, beside the others. One of
	// them is the lease's alone.
	vitalConns = 3
)

// lane says which connections a call may take, so that what may take long keeps out
// nothing that must not wait.
type lane int

const (
	laneRequest lane = iota // any that is not kept for another lane
	laneReload              // fleets that are read whole: half of the pool
	laneFollow              // what moved of fleets that are known, the past of nodes: half of the pool
	laneReport              // of the vital ones all but the lease's
	laneLease
)

// conns are the connections of a Store.
type conns struct {
	pool  *pgxpool.Pool
	vital *pgxpool.Pool // nil for the app, which has neither lease nor reports
	most  map[lane]slots
}

// newConns connects as needed, with most connections and vitalConns more for a node.
func newConns(ctx context.Context, conf *pgxpool.Config, node bool) (*conns, error) {
	pool, err := pgxpool.NewWithConfig(ctx, conf.Copy())
	if err != nil || !node {
		return &conns{pool: pool}, err
	}
	half := max(1, conf.MaxConns/2)
	c := &conns{pool: pool, most: map[lane]slots{
		laneReload: make(slots, half), laneFollow: make(slots, half), laneReport: make(slots, vitalConns-1),
	}}
	conf = conf.Copy()
	conf.MaxConns, conf.MinConns, conf.MinIdleConns = vitalConns, 0, 0
	if c.vital, err = pgxpool.NewWithConfig(ctx, conf); err != nil {
		pool.Close()
		return nil, err
	}
	return c, nil
}

// close waits for the calls that are under way.
func (c *conns) close() {
	c.pool.Close()
	if c.vital != nil {
		c.vital.Close()
	}
}

// enter waits until ctx ends for a place in the lane. Whoever has one calls leave.
func (c *conns) enter(ctx context.Context, l lane) (leave func(), err error) {
	s, bounded := c.most[l]
	if !bounded {
		return func() {}, nil
	}
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	return s.give, nil
}

// acquire waits for a connection of the lane for writeTimeout, however long the call may
// take: a database that is away is noticed as fast by the long calls as by the short ones.
func (c *conns) acquire(ctx context.Context, l lane) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	pool := c.pool
	if c.vital != nil && (l == laneReport || l == laneLease) {
		pool = c.vital
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: no connection: %w", fleet.ErrUnavailable, err)
	}
	return conn, nil
}

// slots lets so many callers in at a time as it has capacity; who waits comes in its turn.
type slots chan struct{}

func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) give() { <-s }
