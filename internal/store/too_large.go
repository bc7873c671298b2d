package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// TooLarge is a resource that is kept from nodes, as their set of the type would be larger with it than they take at once.
type TooLarge struct {
	fleet.Ref
	Nodes int
	Named []string // the first ten of them by id
}

// selectTooLarge reads the fleet's status once, and looks into what nodes wait for alone: one that has all has nothing there. What waits for itself and
// is not sealed waits for room.
const selectTooLarge = `
SELECT h->>0, h->>1, count(DISTINCT s.node_id), (array_agg(DISTINCT s.node_id))[1:10]
  FROM node_status s JOIN xds_servers x ON x.server_id = s.server_id
 CROSS JOIN LATERAL jsonb_array_elements(s.waits->'withheld') h
 WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.connected AND s.waits ? 'withheld' AND x.lease_until > clock_timestamp()
   AND h->0 = h->2 AND h->1 = h->3 AND h->5 IS NULL
 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 1000`

// TooLarge tells what is kept from connected nodes of the fleet because they do not take so much at once, by type and name.
func (s *Store) TooLarge(ctx context.Context, t fleet.TenantID, f fleet.ID) ([]TooLarge, error) {
	all, err := manyIn(ctx, s, call{limit: readTimeout, plans: setJoins}, t, func(row pgx.CollectableRow) (x TooLarge, err error) {
		var slug string
		err = row.Scan(&slug, &x.Name, &x.Nodes, &x.Named)
		x.Type, _ = fleet.TypeFromSlug(slug) // of this build's types, as all that it reports
		return x, err
	}, selectTooLarge, f.String())
	if err != nil {
		return nil, fmt.Errorf("look what is too large for nodes of fleet %s: %w", f, err)
	}
	return all, nil
}
