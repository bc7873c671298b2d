package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Kept says of which revisions a fleet's content can be had.
type Kept struct {
	Oldest, Newest fleet.Revision // 0 is the empty fleet before the first
	At             fleet.Revision // of the time that was asked for; below Oldest: it is forgotten
}

const selectKept = `
SELECT h.history_from, h.revision,
       CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE greatest(coalesce((SELECT fleet_first_since($1, $2)), h.revision + 1) - 1, 0) END
  FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1`

// Kept tells which revisions there are, and which the fleet was at at a time, unless that is zero.
func (s *Store) Kept(ctx context.Context, t fleet.TenantID, f fleet.ID, at time.Time) (Kept, error) {
	if !at.IsZero() {
		at = at.Add(time.Microsecond) // what was made at that very moment was there
	}
	k, err := one(ctx, s, t, func(row pgx.CollectableRow) (k Kept, err error) {
		return k, row.Scan((*int64)(&k.Oldest), (*int64)(&k.Newest), (*int64)(&k.At))
	}, selectKept, f.String(), timeOrNil(at))
	if err != nil {
		return k, fmt.Errorf("look how far back the history of fleet %s goes: %w", f, err)
	}
	return k, nil
}

// pastColumns are what scanPast scans of a row x of resource_history.
const pastColumns = `x.type, x.name, x.variant, x.revision, x.version, x.ttl_ms, x.selector, x.priority, x.body_hash, x.labels, x.description,
       x.doc_hash, x.created_at, x.created_by, x.updated_at, x.updated_by, x.summary, coalesce(x.derived ? 'by_name', false)`

// scanPast scans pastColumns behind what else the row has.
func scanPast(row pgx.CollectableRow, r *Before, more ...any) error {
	var slug string
	var ttl int64
	var labels, hash []byte
	err := row.Scan(append(more, &slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &r.Version, &ttl, &r.Selector, &r.Priority, &r.body, &labels,
		&r.Description, &hash, &r.CreatedAt, &r.CreatedBy, &r.UpdatedAt, &r.UpdatedBy, &r.Summary, &r.Derived.ByName)...)
	if err != nil {
		return err
	}
	var known bool
	if r.Type, known = fleet.TypeFromSlug(slug); !known {
		return fmt.Errorf("%s %q is of a type that this server does not know: %w", slug, r.Name, fleet.ErrConflict)
	}
	r.TTL, r.DocHash = time.Duration(ttl)*time.Millisecond, hashOf(hash)
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	if len(labels) > 0 {
		if err := json.Unmarshal(labels, &r.Labels); err != nil {
			return fmt.Errorf("decode labels: %w", err)
		}
	}
	return nil
}

// Difference is a resource that is not the same at two revisions. A side that is nil: it was not there. Neither has its
// body, which PlannedBodies reads.
type Difference struct{ Before, After *Before }

// Key says of which resource it is.
func (d Difference) Key() Cursor {
	if d.After != nil {
		return d.After.Cursor()
	}
	return d.Before.Cursor()
}

// DifferenceFilter says which differences a page is about.
type DifferenceFilter struct {
	Type  *fleet.Type // nil: every type
	Name  string      // "": every name
	After Cursor
	Limit int // 0 is 100; the most is 1000
}

// selectDifferences gives each side of a difference as a row, by type, name and variant, with how many rows there are of which those of the first $10 bytes
// are given, each difference whole.
const selectDifferences = `
SELECT x.after, x.page_rows, ` + pastColumns + `
  FROM (
SELECT s.after, x.*, count(*) OVER () AS page_rows,
       sum(x.bytes) OVER (ORDER BY x.type, x.name, x.variant) - sum(x.bytes) OVER (PARTITION BY x.type, x.name, x.variant) AS page_before
  FROM fleet_heads h
 CROSS JOIN LATERAL fleet_differences($1, $2, $3, $4, $5, $6, $7, $8, $9) d
 CROSS JOIN LATERAL (VALUES (false, d.before), (true, d.after)) s (after, revision)
 CROSS JOIN LATERAL (SELECT * FROM resource_history x
                      WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = d.type AND x.name = d.name AND x.variant = d.variant
                        AND x.revision = s.revision OFFSET 0) x
 WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.history_from <= least($2::bigint, $3::bigint)) x
 WHERE x.page_before < $10
 ORDER BY x.type, x.name, x.variant, x.after`

// Differences tells what differs between the content at two revisions that are kept, and whether there is more. It costs what was
// changed between neighbours, else at most what was changed since the earlier one, each resource once. A page ends where it comes to pageBytes, too.
func (s *Store) Differences(ctx context.Context, t fleet.TenantID, f fleet.ID, from, to fleet.Revision, q DifferenceFilter) ([]Difference, bool, error) {
	limit, after := pageLimit(q.Limit), ""
	if q.After != (Cursor{}) {
		after = q.After.Type.Slug()
	}
	var slug, name *string
	if q.Type != nil {
		v := q.Type.Slug()
		slug = &v
	}
	if q.Name != "" {
		name = &q.Name
	}
	var out []Difference
	rows, found := 0, 0
	_, err := manyIn(ctx, s, call{limit: longTimeout}, t, func(row pgx.CollectableRow) (struct{}, error) {
		var b Before
		var isAfter bool
		if err := scanPast(row, &b, &isAfter, &found); err != nil {
			return struct{}{}, err
		}
		rows++
		if n := len(out); isAfter && n > 0 && out[n-1].After == nil && out[n-1].Before.Cursor() == b.Cursor() {
			out[n-1].After = &b
		} else if isAfter {
			out = append(out, Difference{After: &b})
		} else {
			out = append(out, Difference{Before: &b})
		}
		return struct{}{}, nil
	}, selectDifferences, f.String(), int64(from), int64(to), slug, name, after, q.After.Name, q.After.Variant, limit+1, pageBytes)
	if err != nil {
		return nil, false, fmt.Errorf("compare revisions %d and %d of fleet %s: %w", from, to, f, err)
	}
	out, more := page(out, limit)
	return out, more || rows < found, nil
}

// pastLook is how many names a page of ResourcesOf looks at, whether there was something then or not.
const pastLook = 5000

const selectPast = `
SELECT x.k_type, x.k_name, x.k_variant, x.k_revision, x.page_rows, ` + pastColumns + `
  FROM (
SELECT k.type AS k_type, k.name AS k_name, k.variant AS k_variant, k.revision AS k_revision, x.*, count(*) OVER () AS page_rows,
       sum(x.bytes) OVER (ORDER BY k.type, k.name, k.variant ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS page_before
  FROM fleet_heads h CROSS JOIN LATERAL fleet_keys_at($1, $2, $3, $4, $5, $6, $7, $8) k
  LEFT JOIN LATERAL (SELECT * FROM resource_history x
                      WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = k.type AND x.name = k.name AND x.variant = k.variant
                        AND x.revision = k.revision OFFSET 0) x ON true
 WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.history_from <= $2 AND h.revision >= $2) x
 WHERE coalesce(x.page_before, 0) < $9
 ORDER BY x.k_type, x.k_name, x.k_variant, x.k_revision NULLS LAST`

// ResourcesOf reads a page of what the fleet had at a revision that is kept, in the order of Cursor, and the cursor behind which
// the next page begins; nil at the end. A page looks at 5,000 names at most, and ends where it comes to pageBytes: it may be short, or empty, and there be more. Bodies
// are read by PlannedBodies.
func (s *Store) ResourcesOf(ctx context.Context, t fleet.TenantID, f fleet.ID, at fleet.Revision, q Filter) (rs []*Before, next *Cursor, err error) {
	limit, after, last := pageLimit(q.Limit), "", "~"
	if q.Type != nil {
		after, last = q.Type.Slug(), q.Type.Slug()
	}
	if q.After != (Cursor{}) {
		after = q.After.Type.Slug()
	}
	rows, found := 0, 0
	_, err = manyIn(ctx, s, call{limit: longTimeout}, t, func(row pgx.CollectableRow) (struct{}, error) {
		b, c, err := scanKeyAt(row, &found)
		rows++
		if b != nil {
			rs = append(rs, b)
		} else {
			next = c
		}
		return struct{}{}, err
	}, selectPast, f.String(), int64(at), after, q.After.Name, q.After.Variant, last, limit+1, pastLook, pageBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("list resources of fleet %s at revision %d: %w", f, at, err)
	}
	rs, more := page(rs, limit)
	if more || rows < found {
		c := rs[len(rs)-1].Cursor()
		next = &c
	}
	return rs, next, nil
}

// scanKeyAt returns nil and the place for the row that says how far was looked.
func scanKeyAt(row pgx.CollectableRow, found *int) (*Before, *Cursor, error) {
	values := row.RawValues()
	if values[3] != nil {
		var b Before
		var slug, name, variant string
		var revision int64
		err := scanPast(row, &b, &slug, &name, &variant, &revision, found)
		return &b, nil, err
	}
	if err := row.Scan(nil, nil, nil, nil, found, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
		return nil, nil, err
	}
	t, _ := fleet.TypeFromSlug(string(values[0]))
	return nil, &Cursor{Type: t, Name: string(values[1]), Variant: string(values[2])}, nil
}

const selectOnePast = `
SELECT ` + pastColumns + `
  FROM fleet_heads h
 CROSS JOIN LATERAL (SELECT * FROM resource_history x
                      WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = $3 AND x.name = $4 AND x.variant = $5 AND x.revision <= $2
                      ORDER BY x.revision DESC LIMIT 1) x
 WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.history_from <= $2 AND h.revision >= $2 AND NOT x.deleted`

// ResourceOf reads one resource as it was at a revision that is kept; what there was not then is fleet.ErrNotFound.
func (s *Store) ResourceOf(ctx context.Context, t fleet.TenantID, f fleet.ID, at fleet.Revision, k Cursor) (Resource, error) {
	b, err := one(ctx, s, t, func(row pgx.CollectableRow) (b Before, err error) { return b, scanPast(row, &b) },
		selectOnePast, f.String(), int64(at), k.Type.Slug(), clean(k.Name, MaxName+1), clean(k.Variant, MaxName+1))
	if err == nil && b.Type != fleet.Secret {
		err = s.PlannedBodies(ctx, t, []*Before{&b})
	}
	if err != nil {
		return Resource{}, fmt.Errorf("read %s %q at revision %d: %w", k.Type, k.Name, at, err)
	}
	return b.Resource, nil
}

// Change is one entry of a resource's history.
type Change struct {
	Resource              // as the revision left it; of a deletion, without content
	Created  bool         // there was none before, as far as the history goes
	Of       RevisionInfo // zero where the revision itself is forgotten
}

const selectHistoryOf = `
SELECT x.deleted, x.revision, x.version, x.doc_hash, x.updated_at, x.updated_by, coalesce(p.deleted, true),
       coalesce(h.kind, ''), coalesce(h.message, ''), coalesce(h.changes, 0)
  FROM (SELECT * FROM resource_history x
         WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = $2 AND x.name = $3 AND x.variant = $4 AND x.revision < $5
         ORDER BY x.revision DESC LIMIT $6) x
  LEFT JOIN LATERAL (SELECT y.deleted FROM resource_history y
                      WHERE y.tenant_id = app_tenant() AND y.fleet_id = $1 AND y.type = $2 AND y.name = $3 AND y.variant = $4 AND y.revision < x.revision
                      ORDER BY y.revision DESC LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT * FROM fleet_history h WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.revision = x.revision OFFSET 0) h ON true
 ORDER BY x.revision DESC`

// Changes tells what became of one resource below revision before, newest first, and whether there is more. Of a resource that the
// history does not know it is empty.
func (s *Store) Changes(ctx context.Context, t fleet.TenantID, f fleet.ID, k Cursor, before fleet.Revision, limit int) ([]Change, bool, error) {
	limit = pageLimit(limit)
	cs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (c Change, err error) {
		var hash []byte
		c.Type, c.Name, c.Variant = k.Type, k.Name, k.Variant
		err = row.Scan(&c.Deleted, (*int64)(&c.Revision), &c.Version, &hash, &c.UpdatedAt, &c.UpdatedBy, &c.Created, &c.Of.Kind, &c.Of.Message, &c.Of.Changes)
		c.DocHash, c.UpdatedAt = hashOf(hash), c.UpdatedAt.UTC()
		c.Created = c.Created && !c.Deleted
		return c, err
	}, selectHistoryOf, f.String(), k.Type.Slug(), clean(k.Name, MaxName+1), clean(k.Variant, MaxName+1), int64(before), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read the history of %s %q: %w", k.Type, k.Name, err)
	}
	cs, more := page(cs, limit)
	return cs, more, nil
}
