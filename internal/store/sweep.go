package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// sweepAtOnce is how many nodes one transaction locks: a report of one of them waits some
// milliseconds at most.
const sweepAtOnce = 200

// selectDead is the servers that are to be swept: a minute after their end, when the clients that
// they had are elsewhere and have been asked about, and after a day.
const selectDead = `
SELECT server_id FROM xds_servers
 WHERE NOT swept AND lease_until < clock_timestamp() - interval '1 minute' OR lease_until < clock_timestamp() - interval '1 day'
 ORDER BY lease_until`

// sweepCursor is the node after which a sweep goes on.
type sweepCursor struct {
	tenant, fleet [16]byte
	node          string
	passed        int // nodes that a report held
}

// SweepServers deletes what servers said that are dead: of nodes that were elsewhere since
// at once, of the others after a day, when what they had last is kept as the node's own. It
// returns the number of servers that it looked through. Their rows are found by key, some at
// a time, and those that a report holds are left to the next run. Some processes may do it at
// the same time. What fails does not hold up the others; the error is the first one.
func (s *Store) SweepServers(ctx context.Context) (n int, first error) {
	servers, err := crossTenant(ctx, s, pgx.RowTo[[16]byte], selectDead)
	if err != nil {
		return 0, fmt.Errorf("find dead servers: %w", err)
	}
	for _, id := range servers {
		err := lifecycle.Contain(s.log, "the sweep of a server", func() error { return s.sweepServer(ctx, fleet.ServerID(id)) }, "server", fleet.ServerID(id))
		if err == nil {
			n++
			continue
		}
		if first == nil {
			first = fmt.Errorf("sweep server %s: %w", fleet.ServerID(id), err)
		}
		if ctx.Err() != nil || errors.Is(err, fleet.ErrUnavailable) && s.Ping(ctx) != nil {
			break
		}
	}
	return n, first
}

func (s *Store) sweepServer(ctx context.Context, id fleet.ServerID) error {
	var at sweepCursor
	for whole := true; ; whole = whole && at.passed == 0 {
		next, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (c sweepCursor, err error) {
			return c, row.Scan(&c.tenant, &c.fleet, &c.node, &c.passed)
		}, `SELECT o_tenant, o_fleet, o_node, o_passed FROM sweep_server($1, $2, $3, $4, $5, $6)`, id.String(), at.tenant, at.fleet, at.node, whole, sweepAtOnce)
		if err != nil || len(next) == 0 {
			return err
		}
		at = next[0]
	}
}
