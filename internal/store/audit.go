package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// AuditEvent is one thing that was done in a tenant, by whom, and from where.
type AuditEvent struct {
	TenantEvent
	IP, RequestID string
	Fleet         fleet.ID // zero where it is about none
	FleetName     string   // "" where there is none, or it is purged
	Old, New      fleet.Revision
	Seq           int64      // in the tenant's chain; 0: it is from before there was one
	Hash          audit.Hash // of its link
}

// AuditFilter says which events a list is about. The zero one: all.
type AuditFilter struct {
	After        EventCursor
	Limit        int // 0 is 100; the most is 1000
	Kind         string
	Actor        string
	Fleet        string    // the name of a fleet that is not purged
	Since, Until time.Time // at Since or later, and before Until
}

// auditLook is how many events a page looks at, whether the filter takes them or not.
const auditLook = 5000

// selectAudit looks at $7 events, newest first, and gives the first $8 of those that the filter takes: $4 kind, $5 actor, $6 fleet, "" for all. In each row, the
// only one too, stands the last one that it looked at, and how many.
const selectAudit = `
WITH looked AS MATERIALIZED (
  SELECT e.* FROM audit_events e
   WHERE e.tenant_id = app_tenant() AND e.at >= $1 AND (e.at, e.id) < ($2::timestamptz, $3::uuid)
   ORDER BY e.at DESC, e.id DESC LIMIT $7)
SELECT l.n, l.at, l.id, x.*
  FROM (SELECT (SELECT count(*) FROM looked) AS n, k.at, k.id FROM looked k ORDER BY k.at, k.id LIMIT 1) l
  LEFT JOIN LATERAL (
    SELECT k.id, k.at, k.credential, coalesce(is_operator(k.credential), false), k.actor, k.action, k.object, k.detail, k.ip, k.request_id, k.fleet_id,
           coalesce(f.name, ''), coalesce(k.old_revision, 0), coalesce(k.new_revision, 0), coalesce(c.seq, 0), c.hash
      FROM looked k
      LEFT JOIN LATERAL (SELECT p.name FROM fleets p WHERE p.tenant_id = app_tenant() AND p.id = k.fleet_id OFFSET 0) f ON true
      LEFT JOIN LATERAL (SELECT n.seq, n.hash FROM audit_chain n WHERE n.tenant_id = app_tenant() AND n.event_id = k.id OFFSET 0) c ON true
     WHERE ($4 = '' OR k.action = $4) AND ($5 = '' OR k.actor = $5) AND ($6 = '' OR f.name = $6)
     ORDER BY k.at DESC, k.id DESC LIMIT $8) x ON true
 ORDER BY x.at DESC, x.id DESC`

// Audit returns what was done in the tenant, newest first, and after which event the next page begins; nil at the end. With filters a page
// looks at 5,000 events at most: it may be short, or empty, and there be more.
func (s *Store) Audit(ctx context.Context, t fleet.TenantID, q AuditFilter) (es []AuditEvent, next *EventCursor, err error) {
	limit, look, last := pageLimit(q.Limit), auditLook, q.After
	if q.Kind == "" && q.Actor == "" && q.Fleet == "" {
		look = limit + 1
	}
	if last.At.IsZero() || !q.Until.IsZero() && q.Until.Before(last.At) {
		last = EventCursor{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
		if !q.Until.IsZero() {
			last.At = q.Until
		}
	}
	var looked int
	var at EventCursor
	rows, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, func(row pgx.CollectableRow) (*AuditEvent, error) {
		return scanAudit(row, &looked, &at)
	}, selectAudit, q.Since, last.At, last.ID, q.Kind, q.Actor, q.Fleet, look, limit+1)
	if err != nil {
		return nil, nil, fmt.Errorf("list the audit of the tenant: %w", err)
	}
	for _, e := range rows {
		if e != nil {
			es = append(es, *e)
		}
	}
	es, more := page(es, limit)
	switch {
	case more:
		e := es[len(es)-1]
		next = &EventCursor{At: e.At, ID: e.ID}
	case looked == look:
		next = &at
	}
	return es, next, nil
}

// scanAudit is nil where the filter takes none.
func scanAudit(row pgx.CollectableRow, looked *int, last *EventCursor) (*AuditEvent, error) {
	if row.RawValues()[3] == nil {
		return nil, row.Scan(looked, &last.At, &last.ID, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	var e AuditEvent
	var credential, id *[16]byte
	var detail, hash []byte
	err := row.Scan(looked, &last.At, &last.ID, &e.ID, &e.At, &credential, &e.By.Operator, &e.By.Name, &e.Kind, &e.Object, &detail, &e.IP, &e.RequestID, &id,
		&e.FleetName, (*int64)(&e.Old), (*int64)(&e.New), &e.Seq, &hash)
	if err != nil {
		return nil, err
	}
	copy(e.Hash[:], hash)
	e.At, e.By.Credential, e.Fleet = e.At.UTC(), uuidOrZero[fleet.CredentialID](credential), uuidOrZero[fleet.ID](id)
	if detail != nil {
		err = json.Unmarshal(detail, &e.Detail)
	}
	return &e, err
}
