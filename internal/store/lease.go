package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const endLease = `UPDATE xds_servers SET lease_until = least(lease_until, clock_timestamp()) WHERE server_id = $1`

// Lease says that a server lives, for ttl from now by the database's clock. When the
// lease ends, what the server said of its nodes is history and they are offline. Whether it
// had ended when it is taken the next time the database judges: then it is of another term.
func (s *Store) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (term fleet.Term, err error) {
	b := &pgx.Batch{}
	b.Queue(`SELECT server_take_lease($1, $2, $3)`, id.String(), clean(name, 256), ttl.Seconds()).
		QueryRow(func(row pgx.Row) error { return row.Scan((*int64)(&term)) })
	if err := s.send(ctx, call{limit: writeTimeout, lane: laneLease}, b); err != nil {
		return 0, fmt.Errorf("renew the lease of server %s: %w", id, kind(err))
	}
	return term, nil
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
