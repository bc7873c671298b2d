package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// RollbackChange is one resource that a rollback would change, as it was, without its body.
type RollbackChange struct {
	ResourceChange
	ChangedAt fleet.Revision // of what is there now, or of its tombstone; 0: nothing is known of it

	body []byte // its hash; nil of what is deleted, and of a Secret, which is sealed
}

// onlyJSON is what the schema's functions take as "only".
func onlyJSON(only []Cursor) []map[string]string {
	out := make([]map[string]string, len(only))
	for i, c := range only {
		out[i] = map[string]string{"type": c.Type.Slug(), "name": c.Name, "variant": c.Variant}
	}
	return out
}

// RollbackMessage is what the history says where nobody said anything.
func RollbackMessage(only []Cursor, to fleet.Revision) string {
	switch {
	case only == nil:
		return fmt.Sprintf("rollback to revision %d", to)
	case len(only) == 1:
		return fmt.Sprintf("rollback of %s/%s to revision %d", only[0].Type.Slug(), only[0].Name, to)
	}
	return fmt.Sprintf("rollback of %d resources to revision %d", len(only), to)
}

// selectRollback: $1 the fleet, $2 the revision to go back to. selectRollbackSome: $3 which resources.
const (
	selectRollback     = rollbackHead + `fleet_rollback_changes($1, $2) c` + rollbackTail
	selectRollbackSome = rollbackHead + `fleet_rollback_some($1, $2, $3) c` + rollbackTail
)

const rollbackHead = `
WITH head AS MATERIALIZED (
  SELECT h.revision, h.token FROM fleet_heads h
   WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.deleted_at IS NULL
     AND EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision = $2))
SELECT revision, token::text, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM head
UNION ALL
SELECT n.revision, NULL, c.type, c.name, c.variant, c.delete, c.body_hash, c.summary, c.labels, c.description, c.selector, c.priority, c.ttl_ms, c.version, c.doc_hash, c.derived
  FROM head CROSS JOIN LATERAL `

const rollbackTail = `
  LEFT JOIN LATERAL (SELECT p.revision FROM resources p
                      WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = c.type AND p.name = c.name AND p.variant = c.variant OFFSET 0) n ON true`

// RollbackChanges tells what a rollback of some resources, nil: of all, to revision to would
// change if it were made at the revision that it returns, by type, name and variant. A revision
// that is not kept is fleet.ErrNotFound. It costs what changed since, or what is named.
func (s *Store) RollbackChanges(ctx context.Context, t fleet.TenantID, f fleet.ID, to fleet.Revision, only []Cursor) (at Seen, cs []RollbackChange, err error) {
	sql, args := selectRollback, []any{f.String(), int64(to)}
	if only != nil {
		sql, args = selectRollbackSome, append(args, onlyJSON(only))
	}
	err = s.inTenant(ctx, rollbackTimeout(only), t, func(b *pgx.Batch) {
		b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			at, cs, err = scanRollback(rows)
			return err
		})
	})
	if err == nil && at == (Seen{}) {
		err = fmt.Errorf("the revision is not kept: %w", fleet.ErrNotFound)
	}
	if err != nil {
		return Seen{}, nil, fmt.Errorf("look what a rollback of fleet %s to revision %d changes: %w", f, to, err)
	}
	return at, cs, nil
}

// rollbackTimeout is how long a rollback of these resources may take; nil: of all that has changed.
func rollbackTimeout(only []Cursor) time.Duration {
	if only == nil {
		return mostTimeout
	}
	return min(longTimeout+time.Duration(len(only))*perChange, mostTimeout).Truncate(100 * time.Millisecond) // it is told to people
}

// scanRollback reads the head as it is, zero where the revision is not kept, and the rows
// below it.
func scanRollback(rows pgx.Rows) (at Seen, cs []RollbackChange, err error) {
	defer rows.Close()
	for rows.Next() {
		var revision *int64
		var token, slug, name, variant *string
		var deleted *bool
		var description, selector, version *string
		var priority *int32
		var ttl *int64
		var hash, derived []byte
		var c RollbackChange
		err := rows.Scan(&revision, &token, &slug, &name, &variant, &deleted, &c.body, &c.Summary, &c.Labels, &description, &selector, &priority, &ttl, &version, &hash, &derived)
		if err != nil {
			return Seen{}, nil, err
		}
		if slug == nil {
			at.Revision = fleet.Revision(*revision)
			if at.Token, err = fleet.ParseToken(*token); err != nil {
				return Seen{}, nil, err
			}
			continue
		}
		if revision != nil {
			c.ChangedAt = fleet.Revision(*revision)
		}
		var known bool
		if c.Type, known = fleet.TypeFromSlug(*slug); !known {
			return Seen{}, nil, fmt.Errorf("%s %q is of a type that this server does not know: %w", *slug, *name, fleet.ErrConflict)
		}
		if c.Name, c.Variant, c.Delete = *name, *variant, *deleted; !c.Delete {
			c.Description, c.Selector, c.Priority, c.Version, c.DocHash = *description, *selector, *priority, *version, hashOf(hash)
			c.TTL = time.Duration(*ttl) * time.Millisecond
			if d, err := decodeDerived(derived); err == nil { // else it is of a newer server, or broken: nothing is known of it
				c.Derived = d
			}
		}
		if c.Delete || c.Type == fleet.Secret {
			c.body = nil
		}
		cs = append(cs, c)
	}
	slices.SortFunc(cs, func(a, b RollbackChange) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name), strings.Compare(a.Variant, b.Variant))
	})
	return at, cs, rows.Err()
}

// RollbackBodies reads what a rollback would put, in the order of cs; nil of what has none.
// One that compaction has taken meanwhile is fleet.ErrConflict.
func (s *Store) RollbackBodies(ctx context.Context, t fleet.TenantID, cs []RollbackChange) ([][]byte, error) {
	var hashes [][]byte
	for _, c := range cs {
		if c.body != nil {
			hashes = append(hashes, c.body)
		}
	}
	byHash, err := s.bodies(ctx, t, hashes)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(cs))
	for i, c := range cs {
		if c.body == nil {
			continue
		}
		body, ok := byHash[string(c.body)]
		if !ok {
			return nil, fmt.Errorf("%s %q is not kept any more: %w", c.Type, c.Name, fleet.ErrConflict)
		}
		out[i] = body
	}
	return out, nil
}

// selectBodies looks up each by its key: with stale statistics a search for many would read all bodies of the tenant.
const selectBodies = `
SELECT k.hash, b.body
  FROM unnest($1::bytea[]) k (hash)
  JOIN LATERAL (SELECT p.body FROM bodies p WHERE p.tenant_id = app_tenant() AND p.hash = k.hash OFFSET 0) b ON true`

// bodies reads bodies by their hashes; what is gone is left out.
func (s *Store) bodies(ctx context.Context, t fleet.TenantID, hashes [][]byte) (map[string][]byte, error) {
	byHash := make(map[string][]byte, len(hashes))
	err := s.inTenant(ctx, longTimeout, t, func(b *pgx.Batch) {
		b.Queue(selectBodies, hashes).Query(func(rows pgx.Rows) error {
			var hash, body []byte
			_, err := pgx.ForEachRow(rows, []any{&hash, &body}, func() error {
				if body == nil {
					body = []byte{}
				}
				byHash[string(hash)] = body
				return nil
			})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read %d bodies: %w", len(hashes), err)
	}
	return byHash, nil
}

// selectEverWere looks up each by its key: behind OFFSET 0 it cannot become a join.
const selectEverWere = `
SELECT k.type, k.name, k.variant
  FROM unnest($2::text[], $3::text[], $4::text[]) k (type, name, variant)
 WHERE EXISTS (SELECT FROM resource_history x
                WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = k.type AND x.name = k.name AND x.variant = k.variant OFFSET 0)`

// EverWere tells of which resources the fleet's history knows.
func (s *Store) EverWere(ctx context.Context, t fleet.TenantID, f fleet.ID, which []Cursor) (map[Cursor]bool, error) {
	types, names, variants := make([]string, len(which)), make([]string, len(which)), make([]string, len(which))
	for i, c := range which {
		types[i], names[i], variants[i] = c.Type.Slug(), c.Name, c.Variant
	}
	were, err := many(ctx, s, t, func(row pgx.CollectableRow) (c Cursor, err error) {
		var slug string
		err = row.Scan(&slug, &c.Name, &c.Variant)
		c.Type, _ = fleet.TypeFromSlug(slug) // it was asked for
		return c, err
	}, selectEverWere, f.String(), types, names, variants)
	if err != nil {
		return nil, fmt.Errorf("look for %d resources in the history of fleet %s: %w", len(which), f, err)
	}
	out := make(map[Cursor]bool, len(were))
	for _, c := range were {
		out[c] = true
	}
	return out, nil
}
