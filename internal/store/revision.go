package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// RevisionInfo is one entry of a fleet's history.
type RevisionInfo struct {
	Revision   fleet.Revision
	At         time.Time
	Kind       string // "apply", "rollback", ...
	Message    string
	Actor      string
	Credential fleet.CredentialID
	Changes    int // how many resources it changed
	Created    int // of Changes, those that it brought
	Deleted    int // of Changes, those that it took away
	// RunFrom, of the kind KindEndpoints, is the first of the revisions that it stands for in a list: they follow each other, and are all of that kind. 0 of others.
	RunFrom fleet.Revision
}

// KindEndpoints is the kind of the revisions that endpoints as data make.
const KindEndpoints = "endpoints"

// RevisionFilter says which revisions a list is about. The zero one: all.
type RevisionFilter struct {
	Before       fleet.Revision // lower ones alone; 0: from the newest on
	Limit        int            // 0 is 100; the most is 1000
	Kind, Actor  string
	Since, Until time.Time // made at Since or later, and before Until
	Type         string    // the slug of a type of which it changed a resource
	Name         string    // with Type: the name of that resource
	Variant      string    // with Name
}

// revisionsLook is how many revisions a page looks at, whether the filter takes them or not.
const revisionsLook = 2000

const revisionColumns = `revision, at, kind, message, actor, credential, changes, created, deleted, coalesce(run_from, 0)`

const selectRevision = `
SELECT ` + revisionColumns + ` FROM fleet_history WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2`

// unfolded leaves out of the history x the revisions of endpoints that a newer one stands for.
const unfolded = `NOT (x.kind = 'endpoints' AND EXISTS (SELECT FROM fleet_history y WHERE y.tenant_id = x.tenant_id AND y.fleet_id = x.fleet_id AND y.revision = x.revision + 1 AND y.kind = 'endpoints' OFFSET 0))`

// selectRevisions looks at $7 revisions below $2 and not below $3, newest first, and gives the first $8 of those that the filter takes: $4 kind, $5 actor,
// $6 type, "" for all. In each row, the only one too, stand the lowest revision that it looked at, and how many.
const selectRevisions = `
WITH looked AS MATERIALIZED (
  SELECT x.* FROM fleet_history x WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.revision < $2 AND x.revision >= $3 AND ` + unfolded + `
   ORDER BY x.revision DESC LIMIT $7)` + revisionsOfLooked

// selectRevisionsOf is the same of those that changed one resource: $6, $9, $10.
const selectRevisionsOf = `
WITH looked AS MATERIALIZED (
  SELECT h.* FROM (
    SELECT x.revision FROM resource_history x
     WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.type = $6 AND x.name = $9 AND x.variant = $10 AND x.revision < $2 AND x.revision >= $3
     ORDER BY x.revision DESC LIMIT $7) r
   CROSS JOIN LATERAL (SELECT * FROM fleet_history h WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.revision = r.revision OFFSET 0) h)` + revisionsOfLooked

const revisionsOfLooked = `
SELECT l.low, l.n, x.revision, x.at, x.kind, x.message, x.actor, x.credential, x.changes, x.created, x.deleted, coalesce(x.run_from, 0)
  FROM (SELECT coalesce(min(revision), 0) AS low, count(*) AS n FROM looked) l
  LEFT JOIN LATERAL (SELECT * FROM looked k
                      WHERE ($4 = '' OR k.kind = $4) AND ($5 = '' OR k.actor = $5) AND ($6 = '' OR $6 = ANY (k.types))
                      ORDER BY k.revision DESC LIMIT $8) x ON true
 ORDER BY x.revision DESC`

func scanRevision(row pgx.CollectableRow) (r RevisionInfo, err error) {
	var cred *[16]byte
	err = row.Scan((*int64)(&r.Revision), &r.At, &r.Kind, &r.Message, &r.Actor, &cred, &r.Changes, &r.Created, &r.Deleted, (*int64)(&r.RunFrom))
	r.At, r.Credential = r.At.UTC(), uuidOrZero[fleet.CredentialID](cred)
	return r, err
}

// Revisions returns the kept history that the filter takes, newest first, and the revision below which the next page begins; 0
// at the end. With filters a page looks at 2,000 revisions at most: it may be short, or empty, and there be more.
func (s *Store) Revisions(ctx context.Context, t fleet.TenantID, f fleet.ID, q RevisionFilter) (rs []RevisionInfo, next fleet.Revision, err error) {
	limit, look, sql := pageLimit(q.Limit), revisionsLook, selectRevisions
	first, before, err := s.revisionsBetween(ctx, t, f, q)
	if err != nil {
		return nil, 0, err
	}
	if q.Kind == "" && q.Actor == "" && (q.Type == "" || q.Name != "") {
		look = limit + 1
	}
	args := []any{f.String(), before, first, q.Kind, q.Actor, q.Type, look, limit + 1}
	if q.Name != "" {
		sql, args = selectRevisionsOf, append(args, q.Name, q.Variant)
	}
	var low fleet.Revision
	var looked int
	rows, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (*RevisionInfo, error) {
		return scanLookedRevision(row, &low, &looked)
	}, sql, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("list revisions of fleet %s: %w", f, err)
	}
	for _, r := range rows {
		if r != nil {
			rs = append(rs, *r)
		}
	}
	rs, more := page(rs, limit)
	switch {
	case more:
		next = rs[len(rs)-1].Revision
	case looked == look:
		next = low
	}
	return rs, next, nil
}

// revisionsBetween are the first revision that the filter's times take, and the first behind it that is not asked for. Revisions
// are in the order of their times, which are found by halving.
func (s *Store) revisionsBetween(ctx context.Context, t fleet.TenantID, f fleet.ID, q RevisionFilter) (first, before int64, err error) {
	before = math.MaxInt64
	if !q.Since.IsZero() || !q.Until.IsZero() {
		var since, until *int64
		_, err = one(ctx, s, t, func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, row.Scan(&since, &until) },
			`SELECT fleet_first_since($1, $2), fleet_first_since($1, $3)`, f.String(), q.Since, q.Until)
		if err != nil {
			return 0, 0, fmt.Errorf("find revisions of fleet %s by their times: %w", f, err)
		}
		switch {
		case !q.Since.IsZero() && since == nil:
			first = math.MaxInt64
		case !q.Since.IsZero():
			first = *since
		}
		if !q.Until.IsZero() && until != nil {
			before = *until
		}
	}
	if q.Before > 0 {
		before = min(before, int64(q.Before))
	}
	return first, before, nil
}

// scanLookedRevision is nil where the filter takes none.
func scanLookedRevision(row pgx.CollectableRow, low *fleet.Revision, looked *int) (*RevisionInfo, error) {
	var revision *int64
	var at *time.Time
	var kind, message, actor *string
	var cred *[16]byte
	var changes, created, deleted *int
	var run int64
	if err := row.Scan((*int64)(low), looked, &revision, &at, &kind, &message, &actor, &cred, &changes, &created, &deleted, &run); err != nil || revision == nil {
		return nil, err
	}
	return &RevisionInfo{
		Revision: fleet.Revision(*revision), At: at.UTC(), Kind: *kind, Message: *message, Actor: *actor, Credential: uuidOrZero[fleet.CredentialID](cred),
		Changes: *changes, Created: *created, Deleted: *deleted, RunFrom: fleet.Revision(run),
	}, nil
}

// Revision reads one entry; one that is not kept any more is fleet.ErrNotFound.
func (s *Store) Revision(ctx context.Context, t fleet.TenantID, f fleet.ID, n fleet.Revision) (RevisionInfo, error) {
	r, err := one(ctx, s, t, scanRevision, selectRevision, f.String(), int64(n))
	if err != nil {
		return r, fmt.Errorf("read revision %d of fleet %s: %w", n, f, err)
	}
	return r, nil
}
