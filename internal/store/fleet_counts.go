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
	Receipt                 string               // the state of the newest revision's receipt; "" of a fleet that has none
}

// countNodes is one statement for all fleets of $1. A fleet is counted after the other, each by its keys: joined
// with all others it would be a statement that reads what the tenant has.
var countNodes = `
SELECT f.id, c.* FROM unnest($1::uuid[]) AS f (id) CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE live.node_id IS NOT NULL AND open.n IS NULL), count(*) FILTER (WHERE live.node_id IS NOT NULL AND open.n IS NOT NULL),
         count(*) FILTER (WHERE live.node_id IS NULL), coalesce(sum(open.n), 0)::bigint
    FROM nodes n
    LEFT JOIN (SELECT DISTINCT s.node_id FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id AND x.lease_until > clock_timestamp()
                WHERE s.tenant_id = app_tenant() AND s.fleet_id = f.id AND s.connected) live ON live.node_id = n.node_id
    LEFT JOIN (SELECT e.node_id, count(*) AS n FROM refusals e
                WHERE e.tenant_id = app_tenant() AND e.fleet_id = f.id AND e.resolved_at IS NULL AND ` + stands("e") + ` GROUP BY e.node_id) open ON open.node_id = n.node_id
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = f.id) c`

const countResources = `
SELECT f.id, c.* FROM unnest($1::uuid[]) AS f (id) CROSS JOIN LATERAL (
  SELECT r.type, count(*) FROM resources r WHERE r.tenant_id = app_tenant() AND r.fleet_id = f.id AND NOT r.deleted GROUP BY r.type) c`

// CountFleets counts what each of the fleets has, in one transaction and one round trip; of a Fleet it reads ID
// and Revision. It costs as much as all that they have.
func (s *Store) CountFleets(ctx context.Context, t fleet.TenantID, fs []Fleet) (map[fleet.ID]FleetCounts, error) {
	ids := make([][16]byte, len(fs))
	for i, f := range fs {
		ids[i] = f.ID
	}
	var all countsByFleet
	err := s.transact(ctx, call{limit: readTimeout, plans: setJoins}, t, func(b *pgx.Batch) {
		all = make(countsByFleet, len(fs))
		b.Queue(countNodes, ids).Query(all.nodes)
		b.Queue(countResources, ids).Query(all.resources)
		for _, f := range fs {
			if f.Revision > 0 {
				b.Queue(selectReceipt, f.ID.String(), int64(f.Revision), 0, "", 0).Query(func(rows pgx.Rows) error { return all.receipt(f.ID, rows) })
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("count what %d fleets have: %w", len(fs), err)
	}
	return all, nil
}

type countsByFleet map[fleet.ID]FleetCounts

func (all countsByFleet) nodes(rows pgx.Rows) error {
	var id fleet.ID
	var c FleetCounts
	_, err := pgx.ForEachRow(rows, []any{(*[16]byte)(&id), &c.Live, &c.Refusing, &c.Offline, &c.OpenRefusals}, func() error {
		c.Resources = map[fleet.Type]int64{}
		all[id] = c
		return nil
	})
	return err
}

func (all countsByFleet) resources(rows pgx.Rows) error {
	var id fleet.ID
	var slug string
	var n int64
	_, err := pgx.ForEachRow(rows, []any{(*[16]byte)(&id), &slug, &n}, func() error {
		if typ, ok := fleet.TypeFromSlug(slug); ok { // else of a newer server
			all[id].Resources[typ] = n
		}
		return nil
	})
	return err
}

// receipt has no row where a failover has taken the revision back.
func (all countsByFleet) receipt(id fleet.ID, rows pgx.Rows) error {
	receipts, err := pgx.CollectRows(rows, scanReceipt)
	for _, r := range receipts {
		c := all[id]
		c.Receipt = fleet.State(r.Counts)
		all[id] = c
	}
	return err
}
