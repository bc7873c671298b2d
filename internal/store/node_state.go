package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// NodeState is what a node is at present, as NodeView has it.
type NodeState struct {
	ID, State string
}

// selectNodeStates is at most $4 nodes behind $2, whose ids begin with a prefix and so end before $3.
var selectNodeStates = `
SELECT n.node_id, CASE WHEN NOT l.live THEN 'offline' WHEN EXISTS (
         SELECT FROM refusals x WHERE x.tenant_id = n.tenant_id AND x.fleet_id = n.fleet_id AND x.node_id = n.node_id AND ` + stands("x") + ` OFFSET 0)
       THEN 'refusing' ELSE 'live' END
  FROM nodes n
 CROSS JOIN LATERAL (SELECT EXISTS (
         SELECT FROM node_status s
          CROSS JOIN LATERAL (SELECT FROM xds_servers x WHERE x.server_id = s.server_id AND x.lease_until > clock_timestamp() OFFSET 0) held
          WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id AND s.connected OFFSET 0) AS live OFFSET 0) l
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.node_id > $2 AND n.node_id >= $3 AND n.node_id < $4
 ORDER BY n.node_id LIMIT $5`

// NodeStates returns what nodes of the fleet are, those whose ids begin with prefix, after the given
// id, in the order of ids, and whether there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) NodeStates(ctx context.Context, t fleet.TenantID, f fleet.ID, prefix, after string, limit int) ([]NodeState, bool, error) {
	limit = pageLimit(limit)
	prefix = clean(prefix, maxNodeID)
	ns, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (n NodeState, err error) {
		return n, row.Scan(&n.ID, &n.State)
	}, selectNodeStates, f.String(), clean(after, maxNodeID), prefix, behind(prefix), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list states of nodes of fleet %s: %w", f, err)
	}
	ns, more := page(ns, limit)
	return ns, more, nil
}
