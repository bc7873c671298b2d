package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// A write that takes a version out of force, which nodes refuse, ends their refusals: at its
// commit, for whoever reads them, by one row in refusal_ends. EndRefusals writes that down in the refusals
// themselves.
const (
	endAtOnce = 1000 // refusals that one transaction ends
	endFleets = 100  // fleets that are asked for at once
)

// ended joins the end of a refusal, whose row's alias is e, to it as
// end_of: what an open row says is not so where there is one.
func ended(e string) string {
	return `LEFT JOIN LATERAL (
      SELECT m.at, m.revision FROM refusal_ends m
       WHERE ` + e + `.resolved_at IS NULL AND ` + endOf(e) + `
       ORDER BY m.revision LIMIT 1) end_of ON true`
}

// stands says of a refusal, whose row's alias is e, that it has not ended. It is for what
// the key finds: the index of all that is open in the fleet does not fit resolved_by.
func stands(e string) string {
	return `(` + e + `.resolved_by IS NULL AND NOT EXISTS (SELECT FROM refusal_ends m WHERE ` + endOf(e) + ` OFFSET 0))`
}

func endOf(e string) string {
	return `m.tenant_id = ` + e + `.tenant_id AND m.fleet_id = ` + e + `.fleet_id AND m.type = ` + e + `.type AND m.name = ` + e + `.name
         AND m.version = ` + e + `.version AND m.revision > ` + e + `.revision`
}

// signal says that there may be something to do. It never blocks.
type signal chan struct{}

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default: // already set
	}
}

// RefusalsEnding is signalled when a write of this Store has left something for EndRefusals.
func (s *Store) RefusalsEnding() <-chan struct{} { return s.ending }

// EndRefusals writes into the refusals of every fleet what refusal_ends has of them, and tells an
// event of each, until nothing is left. It holds no lock that a write waits for, and any
// number of processes may do it at once. Fleets take turns: each has one batch before any has
// another one. What fails does not hold up the others; the error is the first one, and what is
// left is done by the next run.
func (s *Store) EndRefusals(ctx context.Context) error {
	r := endRun{store: s, at: map[fleet.Key][]string{}, passed: map[fleet.Key]bool{}}
	for more := true; more; {
		var err error
		if more, err = r.round(ctx); err != nil {
			return err
		}
	}
	return r.first
}

// endRun is a run of EndRefusals.
type endRun struct {
	store  *Store
	at     map[fleet.Key][]string // where each goes on
	passed map[fleet.Key]bool     // what failed, or is held by reports
	first  error
}

// round gives each fleet a turn; more: one of them has something left.
func (r *endRun) round(ctx context.Context) (more bool, err error) {
	var after fleet.Key
	for {
		fs, err := crossTenant(ctx, r.store, scanKey, `SELECT tenant_id, fleet_id FROM fleets_with_refusal_ends($1, $2, $3)`, after.Tenant.String(), after.Fleet.String(), endFleets)
		if err != nil {
			return false, fmt.Errorf("find fleets whose refusals have ended: %w", err)
		}
		for _, k := range fs {
			if r.passed[k] {
				continue
			}
			left := r.step(ctx, k)
			more = more || left
			if ctx.Err() != nil {
				return false, r.first
			}
		}
		if len(fs) < endFleets {
			return more, nil
		}
		after = fs[len(fs)-1]
	}
}

// step is a fleet's turn; left: it has more to do.
func (r *endRun) step(ctx context.Context, k fleet.Key) (left bool) {
	type answer struct {
		Done *bool
		At   []string
	}
	a, err := one(ctx, r.store, k.Tenant, pgx.RowToStructByPos[answer], `SELECT o_done, o_at FROM fleet_end_refusals($1, $2, $3)`, k.Fleet.String(), r.at[k], endAtOnce)
	r.at[k] = a.At
	r.passed[k] = err != nil || a.Done == nil
	if r.first == nil && err != nil {
		r.first = fmt.Errorf("end refusals of fleet %s: %w", k.Fleet, err)
	}
	return !r.passed[k] && !*a.Done
}

func scanKey(row pgx.CollectableRow) (k fleet.Key, err error) {
	return k, row.Scan((*[16]byte)(&k.Tenant), (*[16]byte)(&k.Fleet))
}
