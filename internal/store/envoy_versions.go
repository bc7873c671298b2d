package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// EnvoyVersion is how many of a fleet's connected nodes are an Envoy of a version.
type EnvoyVersion struct {
	Version string // as the nodes say it, "1.40.0"
	Nodes   int
}

// maxEnvoyVersions bounds what nodes that make versions up can fill an answer with.
const maxEnvoyVersions = 1_000

// selectEnvoyVersions reads each node of the fleet once, and the status of those that no living
// server alone has connected.
const selectEnvoyVersions = `
WITH alive AS MATERIALIZED (SELECT array_agg(x.server_id) AS ids FROM xds_servers x WHERE x.lease_until > clock_timestamp())
SELECT n.version, count(*) FROM nodes n
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.user_agent = 'envoy'
   AND CASE WHEN n.served_by = ANY ((SELECT ids FROM alive)::uuid[]) THEN true
            ELSE EXISTS (SELECT FROM node_status s WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id
                            AND s.connected AND s.server_id = ANY ((SELECT ids FROM alive)::uuid[]) OFFSET 0) END
 GROUP BY n.version ORDER BY count(*) DESC, n.version LIMIT $2`

// EnvoyVersions returns the versions of Envoy of the fleet's nodes that are connected, the most
// frequent first. Its cost grows with the nodes that the fleet remembers: some rows for each.
func (s *Store) EnvoyVersions(ctx context.Context, t fleet.TenantID, f fleet.ID) ([]EnvoyVersion, error) {
	vs, err := many(ctx, s, t, pgx.RowToStructByPos[EnvoyVersion], selectEnvoyVersions, f.String(), maxEnvoyVersions)
	if err != nil {
		return nil, fmt.Errorf("read the versions of the nodes of fleet %s: %w", f, err)
	}
	return vs, nil
}
