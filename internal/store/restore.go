package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectDeletedFleet is of fleets that can be restored (migrations, restore.sql).
const selectDeletedFleet = selectAnyFleet + ` AND f.deleted_at > clock_timestamp() - interval '30 days'`

// DeletedFleet finds a fleet that was deleted and can be restored: by its id, or the one of
// the name that was deleted last.
func (s *Store) DeletedFleet(ctx context.Context, t fleet.TenantID, name string, id *fleet.ID) (Fleet, error) {
	sql, args := selectDeletedFleet+` AND f.name = $1`, []any{name}
	if id != nil {
		sql, args = sql+` AND f.id = $2`, append(args, id.String())
	}
	f, err := one(ctx, s, t, scanFleet, sql+` ORDER BY f.deleted_at DESC, f.id DESC LIMIT 1`, args...)
	if err != nil {
		return f, fmt.Errorf("find the deleted fleet %q: %w", name, err)
	}
	return f, nil
}

// DeletedFleets returns the fleets that were deleted and can be restored, by name and then id,
// after the given ones, and whether there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) DeletedFleets(ctx context.Context, t fleet.TenantID, prefix, after string, id fleet.ID, limit int) ([]Fleet, bool, error) {
	limit = pageLimit(limit)
	fs, err := many(ctx, s, t, scanFleet, selectDeletedFleet+` AND (f.name, f.id) > ($1, $2::uuid) AND f.name >= $3 AND f.name < $4 ORDER BY f.name, f.id LIMIT $5`,
		after, id.String(), prefix, behind(prefix), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list deleted fleets: %w", err)
	}
	fs, more := page(fs, limit)
	return fs, more, nil
}

// RestoreFleet takes back the deletion of a fleet: it is what it was, but for tokens and
// credentials that ended meanwhile. One that is not deleted, or was 30 days ago, is fleet.ErrNotFound,
// one whose name is taken fleet.ErrConflict; a tenant that has all its fleets gets a *LimitError.
func (s *Store) RestoreFleet(ctx context.Context, t fleet.TenantID, a Actor, f fleet.ID) (out Fleet, err error) {
	who, err := json.Marshal(a.json())
	if err != nil {
		return out, fmt.Errorf("restore fleet %s: %w", f, err)
	}
	err = s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(`SELECT restore_fleet($1, $2)`, f.String(), who)
		b.Queue(selectFleet+` AND f.id = $1`, f.String()).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectOneRow(rows, scanFleet)
			return err
		})
	})
	if err != nil {
		return Fleet{}, fmt.Errorf("restore fleet %s: %w", f, err)
	}
	s.ring(t, f)
	return out, nil
}

// RestoreTenant is the operator's: it takes back the deletion of a tenant and of the fleets that were
// deleted with it. One that is not there, or was deleted 30 days ago, is fleet.ErrNotFound, one
// that is not deleted fleet.ErrConflict.
func (s *Store) RestoreTenant(ctx context.Context, a Actor, slug string) (Tenant, error) {
	who, err := json.Marshal(a.json())
	if err != nil {
		return Tenant{}, fmt.Errorf("restore tenant %q: %w", slug, err)
	}
	fs, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (k fleet.Key, err error) {
		err = row.Scan((*[16]byte)(&k.Tenant), (*[16]byte)(&k.Fleet))
		return k, err
	}, `SELECT tenant, fleet FROM restore_tenant($1, $2)`, slug, who)
	if err != nil {
		return Tenant{}, fmt.Errorf("restore tenant %q: %w", slug, err)
	}
	for _, k := range fs {
		s.ring(k.Tenant, k.Fleet)
	}
	return s.TenantBySlug(ctx, slug)
}
