package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// LoadSettings tells what fleets say of their nodes' load reports, of those whose epoch is another one than is known: to look at the others costs one index lookup for each. It works as
// the node role.
func (s *Store) LoadSettings(ctx context.Context, known []fleet.KnownLoadSettings) ([]fleet.KnownLoadSettings, error) {
	if len(known) == 0 {
		return nil, nil
	}
	tenants, fleets, epochs := make([][16]byte, len(known)), make([][16]byte, len(known)), make([]int64, len(known))
	for i, k := range known {
		tenants[i], fleets[i], epochs[i] = k.Tenant, k.Fleet, k.Epoch
	}
	changed, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (k fleet.KnownLoadSettings, err error) {
		err = row.Scan((*[16]byte)(&k.Tenant), (*[16]byte)(&k.Fleet), &k.Epoch, (*seconds)(&k.Interval), &k.Clusters, &k.Endpoints)
		if len(k.Clusters) == 0 {
			k.Clusters = nil // all
		}
		return k, err
	}, `SELECT * FROM load_settings($1::uuid[], $2::uuid[], $3::bigint[])`, tenants, fleets, epochs)
	if err != nil {
		return nil, fmt.Errorf("read the settings of load reports of %d fleets: %w", len(known), err)
	}
	return changed, nil
}
