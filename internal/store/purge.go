package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// What was deleted is kept for 30 days (SEMANTICS 8.3), which the schema's functions know.
const (
	purgeAtOnce = 1_000 // rows that one transaction removes; a body may have a MiB
	purgeMost   = 1_000 // fleets of a tenant, and tenants, that one run purges
)

// DeleteTenant ends a tenant: its tokens and node credentials are not found any more, and
// the streams of its fleets end. All that it has is purged 30 days later; until then its
// slug stays taken. A tenant that is gone is fleet.ErrNotFound.
func (s *Store) DeleteTenant(ctx context.Context, t fleet.TenantID, a Actor) error {
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("delete tenant %s: %w", t, err)
	}
	fs, err := crossTenant(ctx, s, pgx.RowTo[[16]byte], `SELECT delete_tenant($1, $2)`, t.String(), who)
	if err != nil {
		return fmt.Errorf("delete tenant %s: %w", t, err)
	}
	for _, f := range fs {
		s.ring(t, f)
	}
	return nil
}

const selectPurgeable = `
SELECT id FROM fleets WHERE tenant_id = app_tenant() AND deleted_at < clock_timestamp() - interval '30 days' ORDER BY deleted_at LIMIT $1`

// purgeFleets removes the tenant's fleets that are due, with all that is theirs.
func (r *compactRun) purgeFleets(ctx context.Context, t fleet.TenantID) error {
	fs, err := many(ctx, r.store, t, pgx.RowTo[[16]byte], selectPurgeable, purgeMost)
	if err != nil {
		return fmt.Errorf("find the deleted fleets of tenant %s: %w", t, err)
	}
	for _, f := range fs {
		gone, err := stepwise(func() (gone *bool, err error) {
			gone, err = one(ctx, r.store, t, pgx.RowTo[*bool], `SELECT purge_fleet($1, $2)`, fleet.ID(f).String(), purgeAtOnce)
			return gone, err
		})
		if err != nil {
			return fmt.Errorf("purge fleet %s: %w", fleet.ID(f), err)
		}
		if gone {
			r.done.Purged++
			r.store.log.Info("a deleted fleet is purged", "tenant", t, "fleet", fleet.ID(f))
		}
	}
	return nil
}

// purgeTenants removes the tenants that are due. Nothing but the log tells of them then.
func (r *compactRun) purgeTenants(ctx context.Context) error {
	ts, err := crossTenant(ctx, r.store, scanTenant, `SELECT id, slug, name, created_at FROM tenants_to_purge($1)`, purgeMost)
	if err != nil {
		return fmt.Errorf("find the deleted tenants: %w", err)
	}
	for _, t := range ts {
		gone, err := stepwise(func() (*bool, error) {
			gone, err := crossTenant(ctx, r.store, pgx.RowTo[*bool], `SELECT purge_tenant($1, $2)`, t.ID.String(), purgeAtOnce)
			if err != nil {
				return nil, err
			}
			return gone[0], nil
		})
		if err != nil {
			return fmt.Errorf("purge tenant %s: %w", t.ID, err)
		}
		if gone {
			r.done.Purged++
			r.store.log.Info("a deleted tenant is purged", "tenant", t.ID, "slug", t.Slug)
		}
	}
	return nil
}

// stepwise repeats a step until it says that all is gone, or that it is not to be done.
func stepwise(step func() (gone *bool, err error)) (bool, error) {
	for {
		gone, err := step()
		if err != nil || gone == nil || *gone {
			return gone != nil && *gone, err
		}
	}
}

// clean removes what of the tenant has been over for 30 days.
func (r *compactRun) clean(ctx context.Context, t fleet.TenantID) error {
	return lifecycle.Contain(r.store.log, "the purge of a tenant's fleets", func() error {
		err := r.store.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) { b.Queue(`SELECT sweep_credentials()`) })
		if err != nil {
			return fmt.Errorf("sweep the credentials of tenant %s: %w", t, err)
		}
		return r.purgeFleets(ctx, t)
	}, "tenant", t)
}
