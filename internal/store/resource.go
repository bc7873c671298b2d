package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Resource is a resource as the API shows it.
type Resource struct {
	fleet.Row
	Labels      map[string]string
	Description string
	DocHash     [32]byte
	CreatedAt   time.Time
	CreatedBy   string
	UpdatedAt   time.Time
	UpdatedBy   string
	Summary     []byte // JSON; of a Secret, what may be shown of it
}

// ETag is the resource's entity tag (SEMANTICS 1.3).
func (r Resource) ETag() string {
	return fmt.Sprintf("%q", fmt.Sprintf("%d-%s", r.Revision, hex.EncodeToString(r.DocHash[:4])))
}

// Cursor is the place of a resource in the order of lists, (type's slug, name,
// variant). The zero Cursor is the beginning.
type Cursor struct {
	Type          fleet.Type
	Name, Variant string
}

// Cursor is the resource's own place.
func (r Resource) Cursor() Cursor { return Cursor{r.Type, r.Name, r.Variant} }

// Filter says which resources a list is about.
type Filter struct {
	Type  *fleet.Type // nil: every type
	After Cursor
	Limit int // 0 is 100; the most is 1000
}

const selectResource = `
SELECT r.type, r.name, r.variant, r.revision, r.version, r.ttl_ms, r.selector, r.priority,
       (SELECT b.body FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash), r.derived, r.labels, r.description,
       r.doc_hash, r.created_at, r.created_by, r.updated_at, r.updated_by, r.summary
  FROM resources r
 WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND NOT r.deleted`

func scanResource(row pgx.CollectableRow) (r Resource, err error) {
	var slug string
	var ttl int64
	var derived, labels, hash []byte
	err = row.Scan(&slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &r.Version, &ttl, &r.Selector, &r.Priority, &r.Body, &derived, &labels,
		&r.Description, &hash, &r.CreatedAt, &r.CreatedBy, &r.UpdatedAt, &r.UpdatedBy, &r.Summary)
	if err != nil {
		return r, err
	}
	r.Type, _ = fleet.TypeFromSlug(slug) // the queries ask for known types alone
	r.TTL, r.DocHash = time.Duration(ttl)*time.Millisecond, hashOf(hash)
	r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
	if len(labels) > 0 {
		if err := json.Unmarshal(labels, &r.Labels); err != nil {
			return r, fmt.Errorf("decode labels: %w", err)
		}
	}
	r.Derived, err = decodeDerived(derived)
	return r, err
}

// Resource reads one resource; one that is deleted is fleet.ErrNotFound.
func (s *Store) Resource(ctx context.Context, t fleet.TenantID, f fleet.ID, typ fleet.Type, name, variant string) (Resource, error) {
	r, err := one(ctx, s, t, scanResource, selectResource+` AND r.type = $2 AND r.name = $3 AND r.variant = $4`,
		f.String(), typ.Slug(), clean(name, MaxName+1), clean(variant, MaxName+1))
	if err != nil {
		return r, fmt.Errorf("read %s %q: %w", typ, name, err)
	}
	return r, nil
}

// Resources reads a page of the fleet's resources in the order of Cursor, and tells
// whether there are more.
func (s *Store) Resources(ctx context.Context, t fleet.TenantID, f fleet.ID, q Filter) ([]Resource, bool, error) {
	limit := pageLimit(q.Limit)
	types := slugs(fleet.Types())
	if q.Type != nil {
		types = slugs([]fleet.Type{*q.Type})
	}
	after := ""
	if q.After != (Cursor{}) {
		after = q.After.Type.Slug()
	}
	rs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanResource, selectResource+
		` AND r.type = ANY ($2) AND (r.type, r.name, r.variant) > ($3, $4, $5) ORDER BY r.type, r.name, r.variant LIMIT $6`,
		f.String(), types, after, q.After.Name, q.After.Variant, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list resources of fleet %s: %w", f, err)
	}
	rs, more := page(rs, limit)
	return rs, more, nil
}

func slugs(types []fleet.Type) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = t.Slug()
	}
	return out
}
