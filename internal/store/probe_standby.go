package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const selectCluster = `SELECT c.system_identifier || ' ' || d.oid FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()`

// cluster names the Postgres cluster, which its physical standbys share, and the database in it.
func (s *Store) cluster(ctx context.Context) (name string, err error) {
	b := &pgx.Batch{}
	b.Queue(selectCluster).QueryRow(func(row pgx.Row) error { return row.Scan(&name) })
	if err = kind(s.send(ctx, call{limit: readTimeout}, b)); err != nil {
		return "", fmt.Errorf("ask for the cluster's identity: %w", err)
	}
	return name, nil
}

// Follows waits until a standby has what the primary has now, and tells how long that took. One that is no standby of this primary is an error, and so is
// one that has not come so far before ctx ends.
func (p *Probe) Follows(ctx context.Context, primary *Probe) (took time.Duration, err error) {
	var ours, theirs, there string
	if err := primary.conn.QueryRow(ctx, `SELECT c.name, pg_current_wal_flush_lsn()::text FROM (`+selectCluster+`) AS c (name)`).Scan(&ours, &there); err != nil {
		return 0, fmt.Errorf("ask the primary where it is: %w", kind(err))
	}
	begun := time.Now()
	tick := time.NewTicker(standbyLook)
	defer tick.Stop()
	for {
		var standby, has bool
		err := p.conn.QueryRow(ctx, `SELECT c.name, pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false) FROM (`+selectCluster+`) AS c (name)`, there).
			Scan(&theirs, &standby, &has)
		switch {
		case err != nil && ctx.Err() == nil:
			return 0, fmt.Errorf("ask the standby where it is: %w", kind(err))
		case err == nil && ours != theirs:
			return 0, errForeign
		case err == nil && !standby:
			return 0, fmt.Errorf("it takes writes: it is the primary, or a primary of its own: %w", fleet.ErrInvalid)
		case err == nil && has:
			return time.Since(begun), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("after %s %w", time.Since(begun).Round(time.Millisecond), errBehind)
		}
	}
}
