package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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

	Prefix   string            // of the name
	Labels   map[string]string // all of which it has; with them the rows of the fleet behind After are read until the page is full
	NoBodies bool              // Body is left out, and Derived but for ByName
}

const (
	resourceBody = `(SELECT b.body FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash), r.derived`
	noBody       = `NULL::bytea, CASE WHEN r.derived ? 'by_name' THEN '{"by_name":true}'::jsonb END`
	// bareSummary is all of it that is told without the body: not the texts with placeholders.
	bareSummary = `r.summary - 'texts'`
	// bareBytes is what a row comes to without its body; with it, it is what it counts of the fleet's bytes.
	bareBytes = `512 + coalesce(octet_length((` + bareSummary + `)::text), 0) + coalesce(octet_length(r.labels::text), 0)`
)

// pageBytes is what a page of resources, or of differences, comes to as it is stored, but for its last one: what one request reads, and holds, is
// bounded whatever its limit.
const pageBytes = 8 << 20

// resourceColumns are what scanResource scans of a row r; body is resourceBody or noBody.
func resourceColumns(body string) string {
	summary := `r.summary`
	if body == noBody {
		summary = bareSummary
	}
	return `r.type, r.name, r.variant, r.revision, r.version, r.ttl_ms, r.selector, r.priority, ` + body + `, r.labels, r.description,
       r.doc_hash, r.created_at, r.created_by, r.updated_at, r.updated_by, ` + summary
}

var selectResource = `
SELECT ` + resourceColumns(resourceBody) + `
  FROM resources r
 WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND NOT r.deleted`

func scanResource(row pgx.CollectableRow) (Resource, error) { return scanResourceAnd(row) }

// scanResourceAnd scans a resource, and what stands behind it into more.
func scanResourceAnd(row pgx.CollectableRow, more ...any) (r Resource, err error) {
	var slug string
	var ttl int64
	var derived, labels, hash []byte
	err = row.Scan(append([]any{&slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &r.Version, &ttl, &r.Selector, &r.Priority, &r.Body, &derived, &labels,
		&r.Description, &hash, &r.CreatedAt, &r.CreatedBy, &r.UpdatedAt, &r.UpdatedBy, &r.Summary}, more...)...)
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
// whether there are more. It ends where it comes to pageBytes, too.
func (s *Store) Resources(ctx context.Context, t fleet.TenantID, f fleet.ID, q Filter) ([]Resource, bool, error) {
	limit := pageLimit(q.Limit)
	after := ""
	if q.After != (Cursor{}) {
		after = q.After.Type.Slug()
	}
	types := slugs(fleet.Types())
	if q.Type != nil {
		types = slugs([]fleet.Type{*q.Type})
	}
	types = slices.DeleteFunc(types, func(slug string) bool { return slug < after })
	body, bytes := resourceBody, `r.bytes`
	if q.NoBodies {
		body, bytes = noBody, bareBytes
	}
	// A page of each type, so that the names of a prefix are found by the key; bodies are read of the one page of all.
	sql := `
SELECT ` + resourceColumns(body) + `, r.page_rows
  FROM (SELECT r.*, count(*) OVER () AS page_rows, sum(` + bytes + `) OVER (ORDER BY r.type, r.name, r.variant ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS page_before FROM (
        SELECT r.* FROM unnest($2::text[]) k (type)
 CROSS JOIN LATERAL (SELECT * FROM resources p
                      WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND NOT p.deleted AND p.type = k.type AND (p.type, p.name, p.variant) > ($3, $4, $5)
                        AND p.name >= $6 AND p.name < $7 AND ($8::jsonb IS NULL OR p.labels @> $8::jsonb)
                      ORDER BY p.type, p.name, p.variant LIMIT $9) r
         ORDER BY r.type, r.name, r.variant LIMIT $9) r) r
 WHERE coalesce(r.page_before, 0) < $10
 ORDER BY r.type, r.name, r.variant`
	found := 0
	rs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (Resource, error) { return scanResourceAnd(row, &found) }, sql,
		f.String(), types, after, q.After.Name, q.After.Variant, q.Prefix, behind(q.Prefix), labelsOrNil(q.Labels), limit+1, pageBytes)
	if err != nil {
		return nil, false, fmt.Errorf("list resources of fleet %s: %w", f, err)
	}
	cut := len(rs) < found
	rs, more := page(rs, limit)
	return rs, more || cut, nil
}

func labelsOrNil(labels map[string]string) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	return labels
}

func slugs(types []fleet.Type) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = t.Slug()
	}
	return out
}
