package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Neighbour is a resource that stands beside what a write changes, without its body, which
// PlannedBodies reads: of the Resource Type, Name, Variant, Revision, Version, TTL, Selector, Priority,
// Derived and Summary are set.
type Neighbour = Before

const neighbourColumns = `r.type, r.name, r.variant, r.revision, r.version, r.ttl_ms, r.selector, r.priority, r.derived, r.summary, r.body_hash`

// selectNamed looks up each name by its key: behind OFFSET 0 it cannot become a join over the
// whole fleet (functions/write.sql).
const selectNamed = `
SELECT ` + neighbourColumns + `
  FROM unnest($2::text[], $3::text[]) k (type, name)
  JOIN LATERAL (SELECT p.* FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = k.type AND p.name = k.name AND NOT p.deleted OFFSET 0) r ON true`

// selectHosts: of each route $2 the virtual hosts, which are called <route>/<host>, at most $3. '0' comes after '/'.
const selectHosts = `
SELECT ` + neighbourColumns + `
  FROM unnest($2::text[]) k (route)
  JOIN LATERAL (SELECT p.* FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = 'virtual-hosts' AND p.name > k.route || '/' AND p.name < k.route || '0'
                   AND NOT p.deleted ORDER BY p.name LIMIT $3) r ON true`

// selectReferrers: what names one of $2, $3, also for streams and polls of their own, at most $4 in all.
const selectReferrers = `
SELECT ` + neighbourColumns + `
  FROM (SELECT DISTINCT x.type, x.name, x.variant FROM (
          SELECT y.type, y.name, y.variant FROM unnest($2::text[], $3::text[]) k (type, name)
            JOIN LATERAL (SELECT z.type, z.name, z.variant FROM resource_refs z
                           WHERE z.ref_name = k.name AND z.ref_type IN (k.type, 'polled:' || k.type) AND z.tenant_id = app_tenant() AND z.fleet_id = $1 LIMIT $4) y ON true
          LIMIT $4) x) x
  JOIN LATERAL (SELECT p.* FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = x.type AND p.name = x.name AND p.variant = x.variant
                   AND NOT p.deleted OFFSET 0) r ON true
 ORDER BY r.type, r.name, r.variant`

// selectAlike: names of the type that begin as one of $3 does, at most $4 for each.
const selectAlike = `
SELECT DISTINCT k.type, r.name
  FROM unnest($2::text[], $3::text[]) k (type, start)
  JOIN LATERAL (SELECT p.name FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = k.type AND p.name >= k.start AND starts_with(p.name, k.start)
                   AND p.name <= k.start || chr(1114111) AND NOT p.deleted ORDER BY p.name LIMIT $4) r ON true`

// Neighbours reads the variants of each of the names, and, up to a number for each route, the virtual
// hosts of the routes. It costs what is asked for, not what the fleet has.
func (s *Store) Neighbours(ctx context.Context, t fleet.TenantID, f fleet.ID, names []fleet.Ref, routes []string, hosts int) ([]Neighbour, error) {
	var out []Neighbour
	take := func(rows pgx.Rows) (err error) {
		out, err = pgx.AppendRows(out, rows, scanNeighbour)
		return err
	}
	types, called := columnsOf(names)
	err := s.transact(ctx, call{limit: readTimeout, plans: setNames}, t, func(b *pgx.Batch) {
		out = nil
		b.Queue(selectNamed, f.String(), types, called).Query(take)
		if len(routes) > 0 {
			b.Queue(selectHosts, f.String(), routes, hosts).Query(take)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read %d names of fleet %s: %w", len(names), f, err)
	}
	return out, nil
}

// Referrers reads what names one of these, at most limit, by type, name and variant; more: there is
// more.
func (s *Store) Referrers(ctx context.Context, t fleet.TenantID, f fleet.ID, of []fleet.Ref, limit int) (rs []Neighbour, more bool, err error) {
	types, names := columnsOf(of)
	rs, err = manyIn(ctx, s, call{limit: readTimeout, plans: setNames}, t, scanNeighbour, selectReferrers, f.String(), types, names, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read what names %d resources of fleet %s: %w", len(of), f, err)
	}
	rs, more = page(rs, limit)
	return rs, more, nil
}

// Alike reads names that begin as one of these texts does, at most limit for each.
func (s *Store) Alike(ctx context.Context, t fleet.TenantID, f fleet.ID, starts []fleet.Ref, limit int) ([]fleet.Ref, error) {
	types, names := columnsOf(starts)
	out, err := manyIn(ctx, s, call{limit: readTimeout, plans: setNames}, t, func(row pgx.CollectableRow) (r fleet.Ref, err error) {
		var slug string
		err = row.Scan(&slug, &r.Name)
		r.Type, _ = fleet.TypeFromSlug(slug) // it was asked for
		return r, err
	}, selectAlike, f.String(), types, names, limit)
	if err != nil {
		return nil, fmt.Errorf("look for names like %d others in fleet %s: %w", len(starts), f, err)
	}
	return out, nil
}

func columnsOf(refs []fleet.Ref) (types, names []string) {
	types, names = make([]string, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		types[i], names[i] = r.Type.Slug(), r.Name
	}
	return types, names
}

func scanNeighbour(row pgx.CollectableRow) (r Neighbour, err error) {
	var slug string
	var derived []byte
	var ttl int64
	err = row.Scan(&slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &r.Version, &ttl, &r.Selector, &r.Priority, &derived, &r.Summary, &r.body)
	r.Type, _ = fleet.TypeFromSlug(slug)
	r.TTL = time.Duration(ttl) * time.Millisecond
	if d, err := decodeDerived(derived); err == nil { // else it is of a newer server, or broken: nothing is known of it
		r.Derived = d
	}
	return r, err
}
