package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Floors are the two below which a fleet forgets (SEMANTICS 8.1). 0 forgets nothing.
type Floors struct {
	// Tombstones: readers at a lower revision reload, so deletions at or below it need
	// not be kept for them.
	Tombstones fleet.Revision
	// History: lower revisions can neither be shown nor restored any more. The state at
	// this one can.
	History fleet.Revision
}

const (
	// compactAtOnce is how many rows one transaction forgets.
	compactAtOnce = 1000
	// collectAtOnce is how many bodies one transaction looks at.
	collectAtOnce = 1000
	// forgetAtOnce is how many rows one transaction of a sweep looks at.
	forgetAtOnce = 2000
)

const (
	// A node is forgotten a while, the fleet's setting, after it was last seen: its own row
	// says so, or the lease of a server that it was connected to. It looks at $3 nodes behind the node $2, and
	// returns the last one of them, null when there are no more.
	sweepNodes = `
WITH f AS MATERIALIZED (SELECT clock_timestamp() - make_interval(secs => forget_nodes_after) AS since FROM fleets WHERE tenant_id = app_tenant() AND id = $1),
looked AS MATERIALIZED (
  SELECT n.node_id, n.ctid AS place, n.last_seen FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.node_id > $2 ORDER BY n.node_id LIMIT $3),
gone AS (
  DELETE FROM nodes n
   WHERE n.ctid = ANY (ARRAY(SELECT l.place FROM looked l CROSS JOIN f WHERE l.last_seen < f.since)) AND n.last_seen < (SELECT f.since FROM f)
     AND NOT EXISTS (SELECT FROM node_status s JOIN xds_servers x USING (server_id)
                      WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id
                        AND s.connected AND x.lease_until > (SELECT f.since FROM f) OFFSET 0))
SELECT CASE WHEN count(*) = $3 THEN max(l.node_id) END FROM looked l`

	// Of the fleet it asks in words that the key of node_status does not fit: by that it would read
	// all of the fleet's rows for each server.
	sweepSettled = `
DELETE FROM server_settled v
 WHERE v.tenant_id = app_tenant() AND v.fleet_id = $1
   AND NOT EXISTS (SELECT FROM xds_servers x WHERE x.server_id = v.server_id AND x.lease_until > clock_timestamp() - interval '1 hour' OFFSET 0)
   AND NOT EXISTS (SELECT FROM node_status s WHERE s.server_id = v.server_id AND s.tenant_id IS NOT DISTINCT FROM v.tenant_id AND s.fleet_id IS NOT DISTINCT FROM v.fleet_id OFFSET 0)`
)

// Compact forgets what lies below the floors, the tenant's expired idempotency keys,
// the fleet's nodes that were not seen for as long as its setting says, its oldest events, and then every body of the tenant
// that nothing names any more. The revision does not change, and what a floor below an
// earlier one asks for is done already. It is safe beside writers of the fleet.
func (s *Store) Compact(ctx context.Context, t fleet.TenantID, f fleet.ID, floors Floors) error {
	return errors.Join(s.forget(ctx, t, f, floors, nil), s.sweepKeys(ctx, t), s.collect(ctx, t))
}

// forget is Compact without the keys and the bodies, which are the tenant's and not the fleet's. most, if
// it is set, is how many bytes the history may come to, whatever the floors say. It takes as
// many transactions as there are batches of rows; what an early end leaves the next run goes
// on with. Each sweep is made by itself: one that fails keeps none of the others from its turn, unless the caller has gone.
func (s *Store) forget(ctx context.Context, t fleet.TenantID, f fleet.ID, floors Floors, most *int64) error {
	var failed error
	for _, sweep := range []struct {
		what string
		make func(context.Context, fleet.TenantID, fleet.ID) error
	}{
		{"compact", func(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
			return s.steps(ctx, t, `SELECT fleet_compact($1, $2, $3, $4, $5)`, f.String(), int64(floors.Tombstones), int64(floors.History), most, compactAtOnce)
		}},
		{"sweep the nodes of", s.sweepNodes},
		{"sweep the settled revisions of", func(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
			return s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) { b.Queue(sweepSettled, f.String()) })
		}},
		{"sweep the events of", func(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
			return s.steps(ctx, t, sweepEvents, f.String(), keptEvents, forgetAtOnce)
		}},
		{"trim the reports of", func(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
			return s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) { b.Queue(trimReports, f.String()) })
		}},
	} {
		if err := sweep.make(ctx, t, f); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s fleet %s: %w", sweep.what, f, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// steps repeats a statement, a transaction each, until it says that all is done.
func (s *Store) steps(ctx context.Context, t fleet.TenantID, sql string, args ...any) error {
	_, err := stepwise(func() (done *bool, err error) {
		err = s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
			b.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&done) })
		})
		return done, err
	})
	return err
}

func (s *Store) sweepNodes(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
	for at, more := "", true; more; {
		var last *string
		err := s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
			b.Queue(sweepNodes, f.String(), at, forgetAtOnce).QueryRow(func(row pgx.Row) error { return row.Scan(&last) })
		})
		if err != nil {
			return err
		}
		if more = last != nil; more {
			at = *last
		}
	}
	return nil
}

// sweepKeys forgets the tenant's answers that no repeat gets any more.
func (s *Store) sweepKeys(ctx context.Context, t fleet.TenantID) error {
	if err := s.steps(ctx, t, `SELECT sweep_keys($1)`, forgetAtOnce); err != nil {
		return fmt.Errorf("sweep the idempotency keys of tenant %s: %w", t, err)
	}
	return nil
}

// collect removes every body of the tenant that nothing names. It looks at all of them, a
// thousand in a transaction.
func (s *Store) collect(ctx context.Context, t fleet.TenantID) error {
	for at := []byte{}; at != nil; {
		err := s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
			b.Queue(`SELECT bodies_collect($1, $2)`, at, collectAtOnce).QueryRow(func(row pgx.Row) error { return row.Scan(&at) })
		})
		if err != nil {
			return fmt.Errorf("collect bodies of tenant %s: %w", t, err)
		}
	}
	return nil
}
