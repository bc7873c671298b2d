package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectStored looks up each by its key: behind OFFSET 0 it cannot become a join over the
// whole fleet (functions/write.sql).
const selectStored = `
SELECT k.type, k.name, k.variant, r.revision, r.doc_hash, r.selector, r.priority, r.ttl_ms, r.labels, r.description, r.derived, r.summary
  FROM unnest($2::text[], $3::text[], $4::text[]) k (type, name, variant)
  JOIN LATERAL (SELECT p.revision, p.doc_hash, p.selector, p.priority, p.ttl_ms, p.labels, p.description, p.derived, p.summary FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = k.type AND p.name = k.name AND p.variant = k.variant
                   AND NOT p.deleted OFFSET 0) r ON true`

// Stored reads of each resource that is there what names its content, and what stands
// beside its body: of the Resources Type, Name, Variant, Revision, DocHash, Selector,
// Priority, TTL, Labels, Description, Derived and Summary are set. It costs what is asked for.
func (s *Store) Stored(ctx context.Context, t fleet.TenantID, f fleet.ID, which []Cursor) (map[Cursor]Resource, error) {
	types, names, variants := make([]string, len(which)), make([]string, len(which)), make([]string, len(which))
	for i, c := range which {
		types[i], names[i], variants[i] = c.Type.Slug(), c.Name, c.Variant
	}
	rows, err := many(ctx, s, t, func(row pgx.CollectableRow) (r Resource, err error) {
		var slug string
		var ttl int64
		var hash, labels, derived []byte
		err = row.Scan(&slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &hash, &r.Selector, &r.Priority, &ttl, &labels, &r.Description, &derived, &r.Summary)
		r.Type, _ = fleet.TypeFromSlug(slug) // it was asked for
		r.DocHash, r.TTL = hashOf(hash), time.Duration(ttl)*time.Millisecond
		if err == nil && len(labels) > 0 {
			err = json.Unmarshal(labels, &r.Labels)
		}
		if d, broken := decodeDerived(derived); broken == nil { // else it is of a newer server: nothing is known of it
			r.Derived = d
		}
		return r, err
	}, selectStored, f.String(), types, names, variants)
	if err != nil {
		return nil, fmt.Errorf("look up %d resources of fleet %s: %w", len(which), f, err)
	}
	out := make(map[Cursor]Resource, len(rows))
	for _, r := range rows {
		out[r.Cursor()] = r
	}
	return out, nil
}

// Replay returns the answer of an earlier write with w's idempotency key, and writes
// nothing: without one it is fleet.ErrNotFound. It waits for a first request that is under
// way, as Apply does, and may give ErrKeyReused or ErrBusy.
func (s *Store) Replay(ctx context.Context, t fleet.TenantID, f fleet.ID, w Write) (Result, error) {
	never := fleet.Revision(-1) // where no fleet is: what claims the key anew is undone
	w.Expect = &never
	r, err := s.write(ctx, t, f, w, writeTimeout, func(b *pgx.Batch, header []byte) *pgx.QueuedQuery {
		return b.Queue(`SELECT answer, replayed FROM fleet_apply($1, $2, '[]', '{}')`, f.String(), header)
	})
	if errors.Is(err, fleet.ErrPrecondition) {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Result{}, fmt.Errorf("look for the answer of an earlier write to fleet %s: %w", f, err)
	}
	return r, nil
}
