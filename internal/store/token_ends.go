package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// TokenEnd is when an API token that is bound to a fleet ends.
type TokenEnd struct {
	ID        fleet.CredentialID
	Name      string
	ExpiresAt time.Time
}

// selectTokenEnds reads the tenant's tokens, of which there are as many as its limits allow.
const selectTokenEnds = `
SELECT k.id, k.name, k.expires_at FROM api_tokens k
 WHERE k.tenant_id = app_tenant() AND k.fleet_id = $1 AND k.revoked_at IS NULL
   AND k.expires_at BETWEEN clock_timestamp() - make_interval(secs => $2) AND clock_timestamp() + make_interval(secs => $2)
 ORDER BY k.expires_at, k.id LIMIT 1000`

// TokenEnds tells of the API tokens that are bound to the fleet and that end within that time, or have ended within it, the first to end first.
func (s *Store) TokenEnds(ctx context.Context, t fleet.TenantID, f fleet.ID, within time.Duration) ([]TokenEnd, error) {
	ends, err := many(ctx, s, t, func(row pgx.CollectableRow) (k TokenEnd, err error) {
		err = row.Scan((*[16]byte)(&k.ID), &k.Name, &k.ExpiresAt)
		k.ExpiresAt = k.ExpiresAt.UTC()
		return k, err
	}, selectTokenEnds, f.String(), within.Seconds())
	if err != nil {
		return nil, fmt.Errorf("look which API tokens of fleet %s end: %w", f, err)
	}
	return ends, nil
}
