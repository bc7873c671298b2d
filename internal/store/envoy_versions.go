package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// EnvoyVersion is how many of a fleet's nodes were seen last as an Envoy of a version.
type EnvoyVersion struct {
	Version string // as the nodes say it, "1.40.0"
	Nodes   int
}

// maxEnvoyVersions bounds what nodes that make versions up can fill an answer with.
const maxEnvoyVersions = 1_000

const selectEnvoyVersions = `
SELECT n.version, count(*) FROM nodes n
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.user_agent = 'envoy'
 GROUP BY n.version ORDER BY count(*) DESC, n.version LIMIT $2`

// EnvoyVersions returns the versions of Envoy of the fleet's nodes, those that are away and
// remembered too, the most frequent first. It reads every node of the fleet.
func (s *Store) EnvoyVersions(ctx context.Context, t fleet.TenantID, f fleet.ID) ([]EnvoyVersion, error) {
	vs, err := many(ctx, s, t, pgx.RowToStructByPos[EnvoyVersion], selectEnvoyVersions, f.String(), maxEnvoyVersions)
	if err != nil {
		return nil, fmt.Errorf("read the versions of the nodes of fleet %s: %w", f, err)
	}
	return vs, nil
}
