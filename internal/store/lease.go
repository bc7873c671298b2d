package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const (
	upsertLease = `
INSERT INTO xds_servers AS x (server_id, name, lease_until) VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
ON CONFLICT (server_id) DO UPDATE SET name = excluded.name, lease_until = excluded.lease_until, swept = false`
	endLease = `UPDATE xds_servers SET lease_until = least(lease_until, clock_timestamp()) WHERE server_id = $1`
)

// Lease says that a server lives, for ttl from now by the database's clock. When the
// lease ends, what the server said of its nodes is history and they are offline.
func (s *Store) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) error {
	b := &pgx.Batch{}
	b.Queue(upsertLease, id.String(), clean(name, 256), ttl.Seconds())
	if err := s.send(ctx, call{limit: writeTimeout, lane: laneLease}, b); err != nil {
		return fmt.Errorf("renew the lease of server %s: %w", id, kind(err))
	}
	return nil
}

// Release ends a server's lease at once.
func (s *Store) Release(ctx context.Context, id fleet.ServerID) error {
	b := &pgx.Batch{}
	b.Queue(endLease, id.String())
	if err := s.send(ctx, call{limit: writeTimeout, lane: laneLease}, b); err != nil {
		return fmt.Errorf("release the lease of server %s: %w", id, kind(err))
	}
	return nil
}
