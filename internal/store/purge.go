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
	return s.deleteTenant(ctx, t, a, nil)
}

// DeleteTenantConfirmed is DeleteTenant if these reasons to have it confirmed were seen, and an
// *UnconfirmedError for any other. It is of no fleet, so Seen says nothing.
func (s *Store) DeleteTenantConfirmed(ctx context.Context, t fleet.TenantID, a Actor, seen Reasons) error {
	return s.deleteTenant(ctx, t, a, seen.keys())
}

// deleteTenant is DeleteTenant; where seen is nil the caller is not asked.
func (s *Store) deleteTenant(ctx context.Context, t fleet.TenantID, a Actor, seen []string) error {
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("delete tenant %s: %w", t, err)
	}
	var confirmed any
	if seen != nil {
		confirmed = seen
	}
	fs, err := crossTenant(ctx, s, pgx.RowTo[[16]byte], `SELECT delete_tenant($1, $2, $3)`, t.String(), who, confirmed)
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

// purgeFleets removes the tenant's fleets that are due, with all that is theirs; false ends the
// run.
func (r *compactRun) purgeFleets(ctx context.Context, t fleet.TenantID) bool {
	fs, err := many(ctx, r.store, t, pgx.RowTo[[16]byte], selectPurgeable, purgeMost)
	if err != nil {
		return r.goOn(ctx, fmt.Errorf("find the deleted fleets of tenant %s: %w", t, err))
	}
	for _, id := range fs {
		f := fleet.ID(id)
		on := r.purge(ctx, fmt.Sprintf("purge fleet %s", f), func() (*bool, error) {
			return one(ctx, r.store, t, pgx.RowTo[*bool], `SELECT purge_fleet($1, $2)`, f.String(), purgeAtOnce)
		}, "a deleted fleet is purged", "tenant", t, "fleet", f)
		if !on {
			return false
		}
	}
	return true
}

const sweepSessionsAtOnce = 10_000 // rows that one transaction removes

// sweepSessions removes the sessions of all tenants that were over 30 days ago.
func (r *compactRun) sweepSessions(ctx context.Context) {
	err := lifecycle.Contain(r.store.log, "the sweep of sessions", func() error {
		for {
			done, err := crossTenant(ctx, r.store, pgx.RowTo[bool], `SELECT sweep_sessions($1)`, sweepSessionsAtOnce)
			if err != nil || done[0] {
				return err
			}
		}
	})
	if err != nil {
		r.goOn(ctx, fmt.Errorf("sweep sessions: %w", err))
	}
}

// purgeTenants removes the tenants that are due. Nothing but the log tells of them then.
func (r *compactRun) purgeTenants(ctx context.Context) {
	ts, err := crossTenant(ctx, r.store, scanTenant, selectTenant+`tenants_to_purge($1)`, purgeMost)
	if err != nil {
		r.goOn(ctx, fmt.Errorf("find the deleted tenants: %w", err))
		return
	}
	for _, t := range ts {
		on := r.purge(ctx, fmt.Sprintf("purge tenant %s", t.ID), func() (*bool, error) {
			gone, err := crossTenant(ctx, r.store, pgx.RowTo[*bool], `SELECT purge_tenant($1, $2)`, t.ID.String(), purgeAtOnce)
			if err != nil {
				return nil, err
			}
			return gone[0], nil
		}, "a deleted tenant is purged", "tenant", t.ID, "slug", t.Slug)
		if !on {
			return
		}
	}
}

// purge repeats a step until all is gone, and tells of it by said and attrs; false ends the run.
func (r *compactRun) purge(ctx context.Context, doing string, step func() (gone *bool, err error), said string, attrs ...any) bool {
	gone := false
	err := lifecycle.Contain(r.store.log, "a purge", func() (err error) { gone, err = stepwise(step); return err }, attrs...)
	if err != nil {
		return r.goOn(ctx, fmt.Errorf("%s: %w", doing, err))
	}
	if gone {
		r.done.Purged++
		r.store.log.Info(said, attrs...)
	}
	return true
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

// clean removes what of the tenant has been over for 30 days, and audit events that are too old; false ends the run.
func (r *compactRun) clean(ctx context.Context, t fleet.TenantID) bool {
	err := lifecycle.Contain(r.store.log, "the sweep of a tenant's credentials", func() error {
		return r.store.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) { b.Queue(`SELECT sweep_credentials()`) })
	}, "tenant", t)
	if err != nil && !r.goOn(ctx, fmt.Errorf("sweep the credentials of tenant %s: %w", t, err)) {
		return false
	}
	err = lifecycle.Contain(r.store.log, "the sweep of a tenant's idempotency keys", func() error { return r.store.sweepKeys(ctx, t) }, "tenant", t)
	if err != nil && !r.goOn(ctx, err) {
		return false
	}
	err = lifecycle.Contain(r.store.log, "the sweep of a tenant's audit", func() error { return r.store.sweepAudit(ctx, t) }, "tenant", t)
	if err != nil && !r.goOn(ctx, err) {
		return false
	}
	return r.purgeFleets(ctx, t)
}
