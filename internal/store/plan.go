package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Planned is what a write would come to.
type Planned struct {
	Seen    Seen // what it was planned on
	Changed int  // how many resources
	Confirm []Reason
	Limits  []PlannedLimit
	Before  []Before
}

// PlannedLimit is what the fleet would have of a limit.
type PlannedLimit struct {
	What  LimitName `json:"what"`
	Used  int64     `json:"used"`
	Limit int64     `json:"limit"`
}

// Before is a resource that a change is of, as it is stored: without its body, which
// PlannedBodies reads. There is none where Revision is 0.
type Before struct {
	Resource
	body []byte // its hash
}

// selectBefore reads what is there of each key, whose place is ord; without bodies.
const selectBefore = `
SELECT k.ord, r.type, r.name, r.variant, r.revision, r.version, r.ttl_ms, r.selector, r.priority, r.body_hash, r.labels, r.description,
       r.doc_hash, r.created_at, r.created_by, r.updated_at, r.updated_by, r.summary, coalesce(r.derived ? 'by_name', false)
  FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY k (type, name, variant, ord)
  JOIN LATERAL (SELECT p.* FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = k.type AND p.name = k.name AND p.variant = k.variant
                   AND NOT p.deleted OFFSET 0) r ON true`

// Plan tells what Apply would do with w, and does nothing: the database makes the write as
// Apply does and undoes it, so that what can be planned can be applied, by the same caller to
// the same fleet. Its errors are those of Apply. Like a write it has the fleet for itself as
// long as it takes.
func (s *Store) Plan(ctx context.Context, t fleet.TenantID, f fleet.ID, w Write) (Planned, error) {
	changes, bodies, err := encodeChanges(w.Changes)
	if err != nil {
		return Planned{}, fmt.Errorf("plan an apply to fleet %s: %w: %w", f, fleet.ErrInvalid, err)
	}
	p, err := s.plan(ctx, applyTimeout(w.Changes), t, f, w, func(b *pgx.Batch, header []byte) *pgx.QueuedQuery {
		return b.Queue(`SELECT fleet_plan($1, $2, $3, $4)`, f.String(), header, changes, bodies)
	})
	if err != nil {
		return Planned{}, fmt.Errorf("plan an apply to fleet %s: %w", f, err)
	}
	return p, nil
}

// PlanRollback tells what Rollback would do with w, and does nothing, as Plan. Before has what is there of w.Changes: what
// RollbackChanges tells of, in whatever order.
func (s *Store) PlanRollback(ctx context.Context, t fleet.TenantID, f fleet.ID, to fleet.Revision, w Write) (Planned, error) {
	w.Kind = "rollback"
	p, err := s.plan(ctx, rollbackTimeout(w.Only), t, f, w, func(b *pgx.Batch, header []byte) *pgx.QueuedQuery {
		return b.Queue(`SELECT fleet_rollback_plan($1, $2, $3)`, f.String(), int64(to), header)
	})
	if err != nil {
		return Planned{}, fmt.Errorf("plan a rollback of fleet %s to revision %d: %w", f, to, err)
	}
	return p, nil
}

// plan runs one of the functions that plan, and reads what is there of the changes.
func (s *Store) plan(ctx context.Context, limit time.Duration, t fleet.TenantID, f fleet.ID, w Write,
	queue func(*pgx.Batch, []byte) *pgx.QueuedQuery) (p Planned, err error) {
	w.Idempotency = nil
	if err := w.check(); err != nil {
		return p, err
	}
	header, err := w.json()
	if err != nil {
		return p, err
	}
	types, names, variants := make([]string, len(w.Changes)), make([]string, len(w.Changes)), make([]string, len(w.Changes))
	for i, c := range w.Changes {
		types[i], names[i], variants[i] = c.Type.Slug(), c.Name, c.Variant
	}
	var answer []byte
	err = s.onHead(ctx, limit, t, f, func(b *pgx.Batch) {
		p.Before = make([]Before, len(w.Changes))
		queue(b, header).QueryRow(func(row pgx.Row) error { return row.Scan(&answer) })
		b.Queue(selectBefore, f.String(), types, names, variants).Query(func(rows pgx.Rows) error { return scanBefore(rows, p.Before) })
	})
	if err != nil {
		return Planned{}, err
	}
	var a struct {
		answerJSON
		Token   string         `json:"token"`
		Confirm []reasonJSON   `json:"confirm"`
		Limits  []PlannedLimit `json:"limits"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return Planned{}, fmt.Errorf("read the answer: %w", err)
	}
	p.Seen.Revision, p.Changed, p.Confirm, p.Limits = a.Revision, a.Changed, reasonsOf(a.Confirm), a.Limits
	p.Seen.Token, err = fleet.ParseToken(a.Token)
	return p, err
}

func scanBefore(rows pgx.Rows, into []Before) error {
	defer rows.Close()
	for rows.Next() {
		var ord, ttl int64
		var slug string
		var labels, hash []byte
		var r Before
		err := rows.Scan(&ord, &slug, &r.Name, &r.Variant, (*int64)(&r.Revision), &r.Version, &ttl, &r.Selector, &r.Priority, &r.body, &labels,
			&r.Description, &hash, &r.CreatedAt, &r.CreatedBy, &r.UpdatedAt, &r.UpdatedBy, &r.Summary, &r.Derived.ByName)
		if err != nil {
			return err
		}
		r.Type, _ = fleet.TypeFromSlug(slug) // it was asked for
		r.TTL, r.DocHash = time.Duration(ttl)*time.Millisecond, hashOf(hash)
		r.CreatedAt, r.UpdatedAt = r.CreatedAt.UTC(), r.UpdatedAt.UTC()
		if len(labels) > 0 {
			if err := json.Unmarshal(labels, &r.Labels); err != nil {
				return fmt.Errorf("decode labels: %w", err)
			}
		}
		into[ord-1] = r
	}
	return rows.Err()
}

// PlannedBodies sets the bodies of what was there before a plan. One that compaction has
// taken meanwhile is fleet.ErrConflict.
func (s *Store) PlannedBodies(ctx context.Context, t fleet.TenantID, of []*Before) error {
	var hashes [][]byte
	for _, b := range of {
		hashes = append(hashes, b.body)
	}
	byHash, err := s.bodies(ctx, t, hashes)
	if err != nil {
		return err
	}
	for _, b := range of {
		body, ok := byHash[string(b.body)]
		if !ok {
			return fmt.Errorf("%s %q is not kept any more: %w", b.Type, b.Name, fleet.ErrConflict)
		}
		b.Body = body
	}
	return nil
}
