package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// idempotencyPatience is how long a repeat waits for the first request of its key, however long that may take itself.
const idempotencyPatience = 5 * time.Second

// waitingForKey is how many repeats may wait for the first request of their key.
const waitingForKey = 100

// keyOf is whose key it is.
type keyOf struct {
	credential fleet.CredentialID
	key        string
}

// keyTurn has a repeat wait here for the first request of its key, where that came to this process too: at the fleet's head, which the first one holds, it
// would wait for as long as that may take. It is ErrBusy when its patience ends. Whoever gets nil calls leave.
func (s *Store) keyTurn(ctx context.Context, w Write) (leave func(), err error) {
	if w.Idempotency == nil {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.patience.of(idempotencyPatience))
	defer cancel()
	leave, err = s.keys.take(waiting, keyOf{w.Credential, w.Idempotency.Key})
	switch {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, kind(ctx.Err())
	}
	return nil, fmt.Errorf("%w: %w", ErrBusy, err)
}

// waiting is the write with how long it still waits for the first of its key.
func (w Write) waiting(d time.Duration) Write {
	if w.Idempotency != nil {
		key := *w.Idempotency
		key.wait, w.Idempotency = d, &key
	}
	return w
}

// answerJSON is what the write functions return and what an idempotency row keeps.
type answerJSON struct {
	Revision fleet.Revision `json:"revision"`
	Changed  int            `json:"changed"`
	At       time.Time      `json:"at"`
	Ended    int            `json:"ended"`
	Rows     []struct {
		Revision  fleet.Revision `json:"revision"`
		CreatedAt *time.Time     `json:"created_at"`
		CreatedBy string         `json:"created_by"`
		UpdatedAt *time.Time     `json:"updated_at"`
		UpdatedBy string         `json:"updated_by"`
	} `json:"rows"`
}

// Apply makes the changes of w, all or none, as one revision. A precondition that does
// not hold is fleet.ErrPrecondition (a *StaleError if it is a resource's), a fleet that
// is gone fleet.ErrNotFound; an idempotency key may give ErrKeyReused or ErrBusy.
// A fleet whose references are strict may give a *DanglingError, one that would have more
// than it may a *LimitError, what is to be confirmed first an *UnconfirmedError. After fleet.ErrUnavailable the write may have happened,
// unless it is a *TimeoutError. How long it may take grows with the changes.
func (s *Store) Apply(ctx context.Context, t fleet.TenantID, f fleet.ID, w Write) (Result, error) {
	if err := w.check(); err != nil {
		return Result{}, fmt.Errorf("apply to fleet %s: %w", f, err)
	}
	changes, bodies, err := encodeChanges(w.Changes)
	if err != nil {
		return Result{}, fmt.Errorf("apply to fleet %s: %w: %w", f, fleet.ErrInvalid, err)
	}
	r, err := s.write(ctx, t, f, w, applyTimeout(w.Changes), func(b *pgx.Batch, header []byte) *pgx.QueuedQuery {
		return b.Queue(`SELECT answer, replayed FROM fleet_apply($1, $2, $3, $4)`, f.String(), header, changes, bodies)
	})
	if err != nil {
		return Result{}, fmt.Errorf("apply to fleet %s: %w", f, err)
	}
	return r, nil
}

// applyTimeout is how long an apply of these changes may take.
func applyTimeout(cs []ResourceChange) time.Duration {
	var bytes int
	for _, c := range cs {
		bytes += len(c.Body)
	}
	d := writeTimeout + time.Duration(len(cs))*perChange + time.Duration(bytes)*perMiB>>20
	return min(d.Truncate(100*time.Millisecond), mostTimeout) // it is told to people
}

// Rollback makes the fleet's resources, or those of w.Only, what they were at revision to: bodies, TTLs,
// selectors, priorities, labels and descriptions, under their old versions, as a new
// revision. w.Changes are ignored. A revision that is not kept any more is
// fleet.ErrNotFound. Errors are otherwise Apply's. How long it may take grows with w.Only; of all it is as long as anything may.
func (s *Store) Rollback(ctx context.Context, t fleet.TenantID, f fleet.ID, to fleet.Revision, w Write) (Result, error) {
	w.Changes = nil
	if err := w.check(); err != nil {
		return Result{}, fmt.Errorf("roll fleet %s back to revision %d: %w", f, to, err)
	}
	if w.Kind == "" {
		w.Kind = "rollback"
	}
	if w.Message == "" {
		w.Message = RollbackMessage(w.Only, to)
	}
	r, err := s.write(ctx, t, f, w, rollbackTimeout(w.Only), func(b *pgx.Batch, header []byte) *pgx.QueuedQuery {
		return b.Queue(`SELECT answer, replayed FROM fleet_rollback($1, $2, $3)`, f.String(), int64(to), header)
	})
	if err != nil {
		return Result{}, fmt.Errorf("roll fleet %s back to revision %d: %w", f, to, err)
	}
	return r, nil
}

// write runs one of the write functions, waits for the first request of an idempotency
// key, and rings the bell.
func (s *Store) write(ctx context.Context, t fleet.TenantID, f fleet.ID, w Write, limit time.Duration,
	queue func(*pgx.Batch, []byte) *pgx.QueuedQuery) (Result, error) {
	start := time.Now()
	leave, err := s.keyTurn(ctx, w)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	var answer []byte
	var replayed bool
	for {
		header, err := w.waiting(s.patience.of(idempotencyPatience) - time.Since(start)).json()
		if err != nil {
			return Result{}, err
		}
		err = s.onHead(ctx, limit, t, f, func(b *pgx.Batch) {
			queue(b, header).QueryRow(func(row pgx.Row) error { return row.Scan(&answer, &replayed) })
		})
		if errors.Is(err, ErrBusy) && time.Since(start) < s.patience.of(idempotencyPatience) {
			continue // the database has waited for its lock_timeout before it says busy
		}
		if err != nil {
			return Result{}, err
		}
		break
	}
	var a answerJSON
	if err := json.Unmarshal(answer, &a); err != nil {
		return Result{}, fmt.Errorf("read the answer: %w", err)
	}
	if a.Changed > 0 { // a replay too: the first may have died before it could ring
		s.ring(t, f)
	}
	if a.Changed > 0 && !replayed {
		s.traced(ctx, fleet.Key{Tenant: t, Fleet: f}, a.Revision, start, slog.String("fairlead.kind", w.kind()), slog.Int("fairlead.changes", a.Changed))
	}
	if a.Ended > 0 {
		s.ending.set()
	}
	if a.Changed >= bulk {
		s.grown.set()
	}
	r := Result{Revision: a.Revision, Changed: a.Changed, CommittedAt: a.At.UTC(), Replayed: replayed}
	r.Resources = a.resources(w.Changes)
	return r, nil
}

// resources joins what the database answered with what the caller sent: the two are the
// same documents, so nothing has to travel twice.
func (a answerJSON) resources(cs []ResourceChange) []Resource {
	if len(cs) == 0 || len(a.Rows) != len(cs) {
		return nil
	}
	out := make([]Resource, len(cs))
	for i, c := range cs {
		row := a.Rows[i]
		r := Resource{Row: fleet.Row{Type: c.Type, Name: c.Name, Variant: c.Variant, Revision: row.Revision, Deleted: c.Delete}}
		r.CreatedAt, r.CreatedBy = timeOrZero(row.CreatedAt), row.CreatedBy
		r.UpdatedAt, r.UpdatedBy = timeOrZero(row.UpdatedAt), row.UpdatedBy
		if !c.Delete {
			r.Version, r.TTL, r.Selector, r.Priority = c.Version, c.TTL.Truncate(time.Millisecond), c.Selector, c.Priority
			r.Body, r.Derived, r.Labels, r.Description = c.Body, c.Derived, c.Labels, c.Description
			r.DocHash, r.Summary = c.DocHash, c.Summary
		}
		out[i] = r
	}
	return out
}
