package store

import (
	"context"
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
)

const (
	sweepKeys = `DELETE FROM idempotency_keys WHERE tenant_id = app_tenant() AND created_at < clock_timestamp() - interval '24 hours'`

	// A node is forgotten a while, the fleet's setting, after it was last seen: its own row
	// says so, or the lease of a server that it was connected to.
	sweepNodes = `
WITH f AS MATERIALIZED (SELECT clock_timestamp() - make_interval(secs => forget_nodes_after) AS since FROM fleets WHERE tenant_id = app_tenant() AND id = $1)
DELETE FROM nodes n USING f
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.last_seen < f.since
   AND NOT EXISTS (SELECT FROM node_status s JOIN xds_servers x USING (server_id)
                    WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id
                      AND s.connected AND x.lease_until > f.since OFFSET 0)`

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
	if err := s.forget(ctx, t, f, floors, nil); err != nil {
		return err
	}
	return s.collect(ctx, t)
}

// forget is Compact without the bodies, which are the tenant's and not the fleet's. most, if
// it is set, is how many bytes the history may come to, whatever the floors say. It takes as
// many transactions as there are batches of rows; what an early end leaves the next run goes
// on with.
func (s *Store) forget(ctx context.Context, t fleet.TenantID, f fleet.ID, floors Floors, most *int64) error {
	_, err := stepwise(func() (done *bool, err error) {
		err = s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
			b.Queue(`SELECT fleet_compact($1, $2, $3, $4, $5)`, f.String(), int64(floors.Tombstones), int64(floors.History), most, compactAtOnce).
				QueryRow(func(row pgx.Row) error { return row.Scan(&done) })
		})
		return done, err
	})
	if err != nil {
		return fmt.Errorf("compact fleet %s: %w", f, err)
	}
	err = s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
		b.Queue(sweepKeys)
		b.Queue(sweepNodes, f.String())
		b.Queue(sweepSettled, f.String())
		b.Queue(sweepEvents, f.String(), keptEvents)
		b.Queue(trimReports, f.String())
	})
	if err != nil {
		return fmt.Errorf("sweep fleet %s: %w", f, err)
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
