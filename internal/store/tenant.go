package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Tenant is an isolation boundary.
type Tenant struct {
	ID        fleet.TenantID
	Slug      string // unique in the installation: a-z, 0-9 and inner hyphens, at most 63
	Name      string
	CreatedAt time.Time
	DeletedAt time.Time // zero: it is not
	Leaving   bool      // its rows are being copied to another cell: it is not written
}

const (
	selectTenant = `SELECT id, slug, name, created_at, deleted_at, place = 'leaving' FROM `
	selectSelf   = selectTenant + `tenants WHERE id = app_tenant()`
)

func scanTenant(row pgx.CollectableRow) (t Tenant, err error) {
	var deleted *time.Time
	err = row.Scan((*[16]byte)(&t.ID), &t.Slug, &t.Name, &t.CreatedAt, &deleted, &t.Leaving)
	t.CreatedAt, t.DeletedAt = t.CreatedAt.UTC(), timeOrZero(deleted)
	return t, err
}

// crossTenant runs a query through one of the SECURITY DEFINER functions, outside any tenant.
func crossTenant[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) (vs []T, err error) {
	b := &pgx.Batch{}
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		vs, err = pgx.CollectRows(rows, scan)
		return err
	})
	return vs, kind(s.send(ctx, call{limit: readTimeout}, b))
}

// CreateTenant is the operator's. A slug that is taken is fleet.ErrConflict, one of
// another form fleet.ErrInvalid.
func (s *Store) CreateTenant(ctx context.Context, a Actor, slug, name string) (Tenant, error) {
	who, err := json.Marshal(a.json())
	if err != nil {
		return Tenant{}, fmt.Errorf("create tenant %q: %w", slug, err)
	}
	ts, err := crossTenant(ctx, s, scanTenant, selectTenant+`operator_create_tenant($1, $2, $3, $4)`,
		fleet.NewTenantID().String(), slug, name, who)
	if err != nil {
		return Tenant{}, fmt.Errorf("create tenant %q: %w", slug, err)
	}
	return ts[0], nil
}

// Tenants is the operator's: the tenants after the given slug, in the order of slugs,
// and whether there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) Tenants(ctx context.Context, after string, limit int) ([]Tenant, bool, error) {
	return s.TenantsNamed(ctx, "", after, limit)
}

// TenantsNamed is Tenants of those whose slugs begin with prefix.
func (s *Store) TenantsNamed(ctx context.Context, prefix, after string, limit int) ([]Tenant, bool, error) {
	return s.tenants(ctx, prefix, after, limit, false)
}

// DeletedTenants is TenantsNamed of those that are deleted and can be restored.
func (s *Store) DeletedTenants(ctx context.Context, prefix, after string, limit int) ([]Tenant, bool, error) {
	return s.tenants(ctx, prefix, after, limit, true)
}

func (s *Store) tenants(ctx context.Context, prefix, after string, limit int, deleted bool) ([]Tenant, bool, error) {
	limit = pageLimit(limit)
	ts, err := crossTenant(ctx, s, scanTenant, selectTenant+`operator_tenants($1, $2, $3, $4, $5)`, after, prefix, behind(prefix), limit+1, deleted)
	if err != nil {
		return nil, false, fmt.Errorf("list tenants: %w", err)
	}
	ts, more := page(ts, limit)
	return ts, more, nil
}

// TenantBySlug finds a tenant for whoever asks: the caller must not tell a stranger
// that it exists.
func (s *Store) TenantBySlug(ctx context.Context, slug string) (Tenant, error) {
	ts, err := crossTenant(ctx, s, scanTenant, selectTenant+`operator_tenant_by_slug($1)`, slug)
	if err == nil && len(ts) == 0 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Tenant{}, fmt.Errorf("find tenant %q: %w", slug, err)
	}
	return ts[0], nil
}

// Tenant reads the tenant itself.
func (s *Store) Tenant(ctx context.Context, t fleet.TenantID) (Tenant, error) {
	v, err := one(ctx, s, t, scanTenant, selectSelf)
	if err != nil {
		return v, fmt.Errorf("read tenant %s: %w", t, err)
	}
	return v, nil
}
