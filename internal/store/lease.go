package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const endLease = `UPDATE xds_servers SET lease_until = least(lease_until, clock_timestamp()) WHERE server_id = $1`

// ServerLoad is what a server says of itself with its lease.
type ServerLoad struct {
	Version string // "": not known
	SealKey string // the id of the key with which it opens secrets; "": not known
	Streams int
	Fleets  int           // that have streams there
	Behind  time.Duration // how long it had not known whether what it serves is the newest: of the fleet where this is longest
}

// Lease says that a server lives, for ttl from now by the database's clock. When the
// lease ends, what the server said of its nodes is history and they are offline. Whether it
// had ended when it is taken the next time the database judges: then it is of another term.
func (s *Store) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (fleet.Term, error) {
	return s.takeLease(ctx, id, name, ttl, nil)
}

// LeaseWith also tells what the server does.
func (s *Store) LeaseWith(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration, l ServerLoad) (fleet.Term, error) {
	load, err := json.Marshal(map[string]any{"version": clean(l.Version, maxVersion), "streams": l.Streams, "fleets": l.Fleets, "behind": l.Behind.Seconds(), "seal_key": clean(l.SealKey, maxSealKey)})
	if err != nil {
		return 0, fmt.Errorf("renew the lease of server %s: %w", id, err)
	}
	return s.takeLease(ctx, id, name, ttl, load)
}

// maxVersion bounds what a server calls its version, in bytes.
const maxVersion = 128

// maxSealKey bounds the id of its key, in bytes.
const maxSealKey = 64

func (s *Store) takeLease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration, load []byte) (term fleet.Term, err error) {
	b := &pgx.Batch{}
	b.Queue(`SELECT server_take_lease($1, $2, $3, $4)`, id.String(), clean(name, 256), ttl.Seconds(), load).
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
