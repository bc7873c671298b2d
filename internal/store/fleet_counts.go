package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// FleetCounts is how much of what a fleet has at present.
type FleetCounts struct {
	Live, Refusing, Offline int64 // nodes, each in one state, as NodeView has it
	OpenRefusals            int64
	Resources               map[fleet.Type]int64 // only of types that it has
}

var countNodes = `
SELECT count(*) FILTER (WHERE live.node_id IS NOT NULL AND open.n IS NULL), count(*) FILTER (WHERE live.node_id IS NOT NULL AND open.n IS NOT NULL),
       count(*) FILTER (WHERE live.node_id IS NULL), coalesce(sum(open.n), 0)::bigint
  FROM nodes n
  LEFT JOIN (SELECT DISTINCT s.node_id FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id AND x.lease_until > clock_timestamp()
              WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.connected) live ON live.node_id = n.node_id
  LEFT JOIN (SELECT e.node_id, count(*) AS n FROM node_exceptions e
              WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.resolved_at IS NULL AND ` + stands("e") + ` GROUP BY e.node_id) open ON open.node_id = n.node_id
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1`

const countResources = `
SELECT r.type, count(*) FROM resources r WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND NOT r.deleted GROUP BY r.type`

// FleetCounts counts what the fleet has. It costs as much as that is.
func (s *Store) FleetCounts(ctx context.Context, t fleet.TenantID, f fleet.ID) (c FleetCounts, err error) {
	err = s.transact(ctx, call{limit: readTimeout, plans: setJoins}, t, func(b *pgx.Batch) {
		c = FleetCounts{Resources: map[fleet.Type]int64{}}
		b.Queue(countNodes, f.String()).QueryRow(func(row pgx.Row) error { return row.Scan(&c.Live, &c.Refusing, &c.Offline, &c.OpenRefusals) })
		b.Queue(countResources, f.String()).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				var slug string
				var n int64
				if err := rows.Scan(&slug, &n); err != nil {
					return err
				}
				if typ, ok := fleet.TypeFromSlug(slug); ok { // else of a newer server
					c.Resources[typ] = n
				}
			}
			return rows.Err()
		})
	})
	if err != nil {
		return c, fmt.Errorf("count what fleet %s has: %w", f, err)
	}
	return c, nil
}
