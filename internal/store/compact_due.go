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

// selectFloors computes a fleet's floors: $1 the fleet, $2 the age of history in seconds, $3
// the revisions. Tombstones are kept as long as nodes are remembered. A floor is 0 where nothing lies below it. The age of a revision is that
// of the oldest one that is not older: clocks may go back, revisions do not. A history that is above its limit of bytes is
// kept as far back as it fits, beside the state that it begins with; it alone is read whole for that.
const selectFloors = `
WITH h AS (
  SELECT h.fleet_id, h.revision, h.compacted, f.forget_nodes_after, h.history_bytes > l.most AS over, greatest(l.most - h.bytes - h.resources * history_row_bytes(), 0) AS room
    FROM fleet_heads h JOIN fleets f ON f.tenant_id = h.tenant_id AND f.id = h.fleet_id CROSS JOIN (SELECT tenant_limit('history_bytes') AS most) l
   WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.deleted_at IS NULL),
sized AS (
  SELECT coalesce(min(s.revision) FILTER (WHERE s.newer <= s.room), max(s.revision)) AS history
    FROM (SELECT x.revision, h.room, sum(sum(x.bytes + history_row_bytes())) OVER (ORDER BY x.revision DESC) AS newer
            FROM h JOIN resource_history x ON x.tenant_id = app_tenant() AND x.fleet_id = h.fleet_id
           WHERE h.over GROUP BY x.revision, h.room) s),
aged AS (
  SELECT coalesce(min(x.revision) FILTER (WHERE x.at >= clock_timestamp() - make_interval(secs => h.forget_nodes_after)) - 1, max(h.revision)) AS tombstones,
         greatest(least(coalesce(min(x.revision) FILTER (WHERE x.at >= clock_timestamp() - make_interval(secs => $2)), max(h.revision)),
                        max(h.revision) - $3 + 1),
                  (SELECT sized.history FROM sized)) AS history
    FROM h LEFT JOIN fleet_history x ON x.tenant_id = app_tenant() AND x.fleet_id = h.fleet_id)
SELECT CASE WHEN aged.tombstones > h.compacted
             AND EXISTS (SELECT FROM resources r WHERE r.tenant_id = app_tenant() AND r.fleet_id = h.fleet_id AND r.deleted
                            AND r.revision <= aged.tombstones)
            THEN aged.tombstones ELSE 0 END,
       CASE WHEN EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = app_tenant() AND x.fleet_id = h.fleet_id
                            AND x.revision < aged.history)
            THEN aged.history ELSE 0 END
  FROM h, aged`

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
// what was deleted 30 days ago, fleets and tenants, and credentials that ended as long ago. Some
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
			r.done.Tenants++
			if !r.tenant(ctx, t.ID) {
				return r.done, r.err
			}
		}
	}
	if err := lifecycle.Contain(s.log, "the purge of tenants", func() error { return r.purgeTenants(ctx) }); err != nil {
		r.goOn(ctx, err)
	}
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
	if err := r.clean(ctx, t); err != nil && !r.goOn(ctx, err) {
		return false
	}
	if err := r.store.collect(ctx, t); err != nil {
		return r.goOn(ctx, err)
	}
	return true
}

func (r *compactRun) fleet(ctx context.Context, t fleet.TenantID, f fleet.ID) error {
	floors, err := one(ctx, r.store, t, func(row pgx.CollectableRow) (v Floors, err error) {
		return v, row.Scan((*int64)(&v.Tombstones), (*int64)(&v.History))
	}, selectFloors, f.String(), keepHistory.Seconds(), keepRevisions)
	if err != nil {
		return fmt.Errorf("find what fleet %s may forget: %w", f, err)
	}
	if err := r.store.forget(ctx, t, f, floors); err != nil {
		return err
	}
	r.done.Fleets++
	if floors != (Floors{}) {
		r.done.Forgot++
	}
	return nil
}
