package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"fairlead/internal/fleet"
)

const (
	appConns = 10
	// nodeConns has room for all that a replica asks at once, slow questions included, and for
	// credentials and the poll beside them: what hangs keeps out nothing else.
	nodeConns = 12
	// vitalConns is how many a node's lease and reports have, beside the others. One of
	// them is the lease's alone.
	vitalConns = 3

	// How many calls of a process may wait for a fleet's head, and for their tenant's share.
	waitingForHead  = 100
	waitingForShare = 1000
)

// lane says which connections a call may take, so that what may take long keeps out
// nothing that must not wait.
type lane int

const (
	laneRequest lane = iota // any that is not kept for another lane
	laneReload              // fleets that are read whole: half of the pool
	laneFollow              // what moved of fleets that are known, the last streams of nodes: three fifths of the pool
	laneReport              // of the vital ones all but the lease's
	laneLease
)

// conns are the connections of a Store.
type conns struct {
	pool  *pgxpool.Pool
	vital *pgxpool.Pool // nil for the app, which has neither lease nor reports
	most  map[lane]*semaphore.Weighted

	// One caller of a fleet locks its head; the others of this process wait without a
	// connection, which they would hold for nothing.
	heads  *turns[fleet.ID]
	shares *turns[fleet.TenantID] // of an app's connections a tenant has half; nil for a node
}

// newConns connects as needed, with most connections and vitalConns more for a node.
func newConns(ctx context.Context, conf *pgxpool.Config, node bool) (*conns, error) {
	pool, err := pgxpool.NewWithConfig(ctx, conf.Copy())
	if err != nil {
		return nil, err
	}
	half := max(1, int(conf.MaxConns)/2)
	c := &conns{pool: pool, heads: newTurns[fleet.ID](1, waitingForHead)}
	if !node {
		c.shares = newTurns[fleet.TenantID](half, waitingForShare)
		return c, nil
	}
	c.most = map[lane]*semaphore.Weighted{
		laneReload: semaphore.NewWeighted(int64(half)), laneFollow: semaphore.NewWeighted(max(1, int64(conf.MaxConns)*3/5)), laneReport: semaphore.NewWeighted(vitalConns - 1),
	}
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

// enter waits until the call may take a connection, for at most its limit. It waits for
// what is narrowest first, and holds nothing that others need while it waits: who waits
// for a fleet's head holds no part of the tenant's share, and nobody a connection.
// Whoever has entered calls leave.
func (c *conns) enter(ctx context.Context, k call) (leave func(), err error) {
	within, cancel := context.WithTimeout(ctx, k.most())
	defer cancel()
	var entered []func()
	leave = func() {
		for _, l := range entered {
			l()
		}
	}
	step := func(wait Wait, take func(context.Context) (func(), error)) {
		if err != nil {
			return
		}
		l, failed := take(within)
		switch {
		case failed == nil:
			entered = append(entered, l)
		case ctx.Err() != nil:
			err = fmt.Errorf("%w: given up by the caller: %w", fleet.ErrUnavailable, ctx.Err())
		default:
			err = &TimeoutError{Wait: wait, Limit: k.most(), Crowded: errors.Is(failed, errCrowded), cause: failed}
		}
	}
	if k.head != (fleet.ID{}) {
		step(WaitHead, func(ctx context.Context) (func(), error) { return c.heads.take(ctx, k.head) })
	}
	if c.shares != nil && k.tenant != (fleet.TenantID{}) {
		step(WaitShare, func(ctx context.Context) (func(), error) { return c.shares.take(ctx, k.tenant) })
	}
	if s, bounded := c.most[k.lane]; bounded {
		step(WaitWork, func(ctx context.Context) (func(), error) { return func() { s.Release(1) }, s.Acquire(ctx, 1) })
	}
	if err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// acquire waits for a connection of the lane for writeTimeout, however long the call may
// take: a database that is away is noticed as fast by the long calls as by the short ones.
func (c *conns) acquire(ctx context.Context, k call) (*pgxpool.Conn, error) {
	limit := k.times.of(writeTimeout)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pool := c.pool
	if c.vital != nil && (k.lane == laneReport || k.lane == laneLease) {
		pool = c.vital
	}
	conn, err := pool.Acquire(within)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() == nil && within.Err() != nil && pool.Stat().AcquiredConns() == pool.Config().MaxConns:
		return nil, &TimeoutError{Wait: WaitConn, Limit: limit, cause: err}
	}
	return nil, fmt.Errorf("%w: no connection: %w", fleet.ErrUnavailable, err)
}
