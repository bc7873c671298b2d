package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// A transaction begins with its tenant, which is never a session's setting: that would
// leak to the connection's next borrower. It bounds the work of each statement by what the
// call may take, whatever the role's own bound is. And it plans without sequential scans: plans
// live as long as their session, every statement finds its rows by a key, and what was
// right for a table of one page is ruinous when the first large import has filled it.
const (
	setTenant = `SELECT set_config('app.tenant_id', $1, true), set_config('statement_timeout', $2, true), set_config('enable_seqscan', 'off', true)`
	setLocks  = `SELECT set_config('lock_timeout', $1, true)`
	setPlans  = `SELECT set_config('statement_timeout', $1, true), set_config('enable_seqscan', 'off', true)`
	// setJoins is for a statement that joins sets which all grow with the fleet. Where nothing is
	// known of a table the planner takes each for one row, and then compares each row with each. What
	// remains is joins by hash or by merging, and look-ups from laterals and subqueries. Such a statement
	// is long, and to plan it for its values each time costs as much as half of its work: they change nothing.
	setJoins = `SELECT set_config('enable_nestloop', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`
	// setNames is for look-ups of names that come as an array: for one the planner thinks anew each time, and finds the same.
	setNames = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`
	// setOrder is for a page in the order of a key, which ends as soon as it is full, instead of
	// reading and sorting all that there is.
	setOrder = `SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)`
)

// inTenant is transact of a call that locks no fleet's head.
func (s *Store) inTenant(ctx context.Context, limit time.Duration, t fleet.TenantID, queue func(*pgx.Batch)) error {
	return s.transact(ctx, call{limit: limit}, t, queue)
}

// onHead is transact of a call that locks the head of fleet f.
func (s *Store) onHead(ctx context.Context, limit time.Duration, t fleet.TenantID, f fleet.ID, queue func(*pgx.Batch)) error {
	return s.transact(ctx, call{limit: limit, head: f}, t, queue)
}

// transact runs what queue queues, in one transaction for tenant t and one round trip.
// A batch is one implicit transaction: it commits when every statement has succeeded.
// An error of a callback comes too late to undo anything; what must undo must raise in
// SQL. queue may run again, on repeatable errors.
func (s *Store) transact(ctx context.Context, c call, t fleet.TenantID, queue func(*pgx.Batch)) error {
	c.tenant, c.times = t, s.patience
	var err error
	for range 3 {
		b := &pgx.Batch{}
		b.Queue(setTenant, t.String(), c.statementTimeout())
		if wait := c.lockTimeout(); wait != lockTimeout {
			b.Queue(setLocks, fmt.Sprint(wait.Milliseconds()))
		}
		if c.plans != "" {
			b.Queue(c.plans)
		}
		queue(b)
		if err = s.send(ctx, c, b); !repeatable(err) {
			break
		}
	}
	return kind(c.timeout(err))
}

// one reads one row of a query of the tenant; no row is fleet.ErrNotFound.
func one[T any](ctx context.Context, s *Store, t fleet.TenantID, scan pgx.RowToFunc[T], sql string, args ...any) (v T, err error) {
	err = s.inTenant(ctx, readTimeout, t, func(b *pgx.Batch) {
		b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			v, err = pgx.CollectOneRow(rows, scan)
			return err
		})
	})
	return v, err
}

// many reads the rows of a query of the tenant; no row is nil.
func many[T any](ctx context.Context, s *Store, t fleet.TenantID, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	return manyIn(ctx, s, call{limit: readTimeout}, t, scan, sql, args...)
}

// manyIn is many as another call.
func manyIn[T any](ctx context.Context, s *Store, c call, t fleet.TenantID, scan pgx.RowToFunc[T], sql string, args ...any) (vs []T, err error) {
	err = s.transact(ctx, c, t, func(b *pgx.Batch) {
		b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			vs, err = pgx.AppendRows([]T(nil), rows, scan)
			return err
		})
	})
	return vs, err
}

// page cuts the surplus row that tells whether there are more.
func page[T any](vs []T, limit int) ([]T, bool) {
	if len(vs) > limit {
		return vs[:limit], true
	}
	return vs, false
}

// pageLimit keeps a limit within 1 and 1000; 0 is 100.
func pageLimit(limit int) int {
	if limit <= 0 {
		return 100
	}
	return min(limit, 1000)
}
