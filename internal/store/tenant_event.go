package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// TenantEvent is one thing that was done to a tenant as a whole: to its tokens, to itself.
type TenantEvent struct {
	ID     [16]byte // tells events of one moment apart
	At     time.Time
	By     Maker
	Kind   string // "token.create", "tenant.create", ...
	Object string // what it was done to
	Detail map[string]any
}

const selectTenantEvents = `
SELECT e.id, e.at, e.credential, coalesce(is_operator(e.credential), false), e.actor, e.action, e.object, e.detail
  FROM audit_events e
 WHERE e.tenant_id = app_tenant() AND e.fleet_id IS NULL AND ($1::timestamptz IS NULL OR (e.at, e.id) < ($1, $2::uuid))
 ORDER BY e.at DESC, e.id DESC LIMIT $3`

// TenantEvents returns what was done to the tenant, newest first, and whether there is
// more. A limit of 0 is 100; the most is 1000.
func (s *Store) TenantEvents(ctx context.Context, t fleet.TenantID, after EventCursor, limit int) ([]TenantEvent, bool, error) {
	limit = pageLimit(limit)
	es, err := many(ctx, s, t, scanTenantEvent, selectTenantEvents, timeOrNil(after.At), after.ID, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list events of the tenant: %w", err)
	}
	es, more := page(es, limit)
	return es, more, nil
}

func scanTenantEvent(row pgx.CollectableRow) (e TenantEvent, err error) {
	var credential *[16]byte
	var detail []byte
	if err = row.Scan(&e.ID, &e.At, &credential, &e.By.Operator, &e.By.Name, &e.Kind, &e.Object, &detail); err != nil {
		return e, err
	}
	e.At, e.By.Credential = e.At.UTC(), uuidOrZero[fleet.CredentialID](credential)
	if detail != nil {
		err = json.Unmarshal(detail, &e.Detail)
	}
	return e, err
}
