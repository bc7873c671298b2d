package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Denial is that a token of which the server knows whose it is asked for what it may not, or read what is worth knowing, once or several times.
type Denial struct {
	Kind        string // of the event; "": access.denied
	Actor       Actor  // of the last time
	Operation   string // of the contract
	Code        string // of the answer; "" of a reading
	Fleet       fleet.ID
	Attempts    int64
	First, Last time.Time
}

// RecordDenials adds an audit event of the tenant for each.
func (s *Store) RecordDenials(ctx context.Context, t fleet.TenantID, ds []Denial) error {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		for _, d := range ds {
			detail := map[string]any{"first_at": d.First.UTC().Format(time.RFC3339), "last_at": d.Last.UTC().Format(time.RFC3339)}
			if d.Code != "" {
				detail["code"], detail["attempts"] = d.Code, d.Attempts
			} else {
				detail["requests"] = d.Attempts
			}
			queueAudit(b, d.Actor, event{action: cmp.Or(d.Kind, "access.denied"), object: d.Operation, fleet: d.Fleet, detail: detail})
		}
	})
	if err != nil {
		return fmt.Errorf("record that %d requests of tenant %s were refused: %w", len(ds), t, err)
	}
	return nil
}

// RecordComparisons adds an audit event of the tenant for each: of Secrets, which Operation names, that were compared with what was
// sent; Code is what came of it.
func (s *Store) RecordComparisons(ctx context.Context, t fleet.TenantID, ds []Denial) error {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		for _, d := range ds {
			detail := map[string]any{"result": d.Code, "contents": d.Attempts, "first_at": d.First.UTC().Format(time.RFC3339), "last_at": d.Last.UTC().Format(time.RFC3339)}
			queueAudit(b, d.Actor, event{action: "secret.compared", object: d.Operation, fleet: d.Fleet, detail: detail})
		}
	})
	if err != nil {
		return fmt.Errorf("record %d comparisons of Secrets of tenant %s: %w", len(ds), t, err)
	}
	return nil
}

// sweepAudit removes the tenant's audit events that are older than its limit says, in small steps. It costs what it removes.
func (s *Store) sweepAudit(ctx context.Context, t fleet.TenantID) error {
	_, err := stepwise(func() (*bool, error) {
		return one(ctx, s, t, pgx.RowTo[*bool], `SELECT sweep_audit($1)`, compactAtOnce)
	})
	if err != nil {
		return fmt.Errorf("sweep the audit of tenant %s: %w", t, err)
	}
	return nil
}
