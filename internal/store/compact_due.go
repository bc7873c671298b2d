package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// How long a fleet remembers (SEMANTICS 8.1).
const (
	keepHistory   = 90 * 24 * time.Hour
	keepRevisions = 1000 // or more, if they are younger than keepHistory
)

// Compaction is what a run of CompactDue did.
type Compaction struct {
	Tenants int // that were looked at
	Fleets  int // that were looked at, those that failed apart
	Forgot  int // of Fleets, those that had history or tombstones to forget
	Failed  int // fleets and tenants that could not be compacted or purged
	Purged  int // fleets and tenants that were deleted 30 days ago
}

// CompactDue compacts every fleet of every tenant down to what is kept (SEMANTICS 8.1):
// tombstones as long as the fleet remembers nodes, history for 1,000 revisions or 90 days, whichever is more, as far as
// the tenant's limit of its bytes allows. It purges
// what was deleted 30 days ago, fleets and tenants, and credentials and sessions that ended as long ago. Some
// processes may do it at the same time. What cannot be compacted does not hold up the
// others; the error is the first one. It ends early when the database is away or ctx
// ends: then what was done is done.
func (s *Store) CompactDue(ctx context.Context) (Compaction, error) {
	return s.compactDue(ctx, func(_ fleet.ID, compact func() error) error { return compact() })
}

// compactDue is CompactDue with something around the work for each fleet.
func (s *Store) compactDue(ctx context.Context, around func(f fleet.ID, compact func() error) error) (Compaction, error) {
	r := compactRun{store: s, around: around}
	after := ""
	for more := true; more; {
		var ts []Tenant
		var err error
		if ts, more, err = s.Tenants(ctx, after, 0); err != nil {
			return r.done, r.failed(err)
		}
		for _, t := range ts {
			after = t.Slug
			if t.Leaving {
				continue
			}
			r.done.Tenants++
			if !r.tenant(ctx, t.ID) {
				return r.done, r.err
			}
		}
	}
	r.sweepSessions(ctx)
	r.purgeTenants(ctx)
	return r.done, r.err
}

// compactRun is a run of CompactDue.
type compactRun struct {
	store  *Store
	around func(f fleet.ID, compact func() error) error
	done   Compaction
	err    error // the first one
}

func (r *compactRun) failed(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// goOn counts what failed, and says whether the rest is worth trying.
func (r *compactRun) goOn(ctx context.Context, err error) bool {
	if errors.Is(err, fleet.ErrNotFound) {
		return true // deleted meanwhile
	}
	r.done.Failed++
	_ = r.failed(err)
	return ctx.Err() == nil && (!errors.Is(err, fleet.ErrUnavailable) || r.store.Ping(ctx) == nil)
}

// tenant compacts a tenant's fleets; false ends the run.
func (r *compactRun) tenant(ctx context.Context, t fleet.TenantID) bool {
	after := ""
	for more := true; more; {
		var fs []Fleet
		var err error
		if fs, more, err = r.store.Fleets(ctx, t, after, 0); err != nil {
			return r.goOn(ctx, err)
		}
		for _, f := range fs {
			after = f.Name
			err := lifecycle.Contain(r.store.log, "the compaction of a fleet", func() error {
				return r.around(f.ID, func() error { return r.fleet(ctx, t, f.ID) })
			}, "tenant", t, "fleet", f.ID)
			if err != nil && !r.goOn(ctx, err) {
				return false
			}
		}
	}
	if !r.clean(ctx, t) {
		return false
	}
	if err := r.store.collect(ctx, t); err != nil {
		return r.goOn(ctx, err)
	}
	return true
}

func (r *compactRun) fleet(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
	var most *int64
	floors, err := one(ctx, r.store, t, func(row pgx.CollectableRow) (v Floors, err error) {
		return v, row.Scan((*int64)(&v.Tombstones), (*int64)(&v.History), &most)
	}, `SELECT * FROM fleet_floors($1, $2, $3)`, f.String(), keepHistory.Seconds(), keepRevisions)
	if err != nil {
		return fmt.Errorf("find what fleet %s may forget: %w", f, err)
	}
	if err := r.store.forget(ctx, t, f, floors, most); err != nil {
		return err
	}
	r.done.Fleets++
	if floors != (Floors{}) || most != nil {
		r.done.Forgot++
	}
	return nil
}
