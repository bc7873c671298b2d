package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

// SessionFilter says which open sessions a list is about, newest first. What is zero leaves
// nothing out.
type SessionFilter struct {
	Token fleet.CredentialID // whose they are
	After fleet.SessionID
	Limit int // 0 is 100; the most is 1000
}

func (q SessionFilter) args() []any {
	after := "ffffffff-ffff-ffff-ffff-ffffffffffff"
	if q.After != (fleet.SessionID{}) {
		after = q.After.String()
	}
	return []any{uuidOrNil(q.Token), after, pageLimit(q.Limit) + 1}
}

// selectSessions reads those that are over too, of which a token has no more kept than it may have open.
const selectSessions = `
SELECT s.id, s.credential_id, k.name, k.role, s.created_at, s.last_seen_at, s.last_seen_at + session_idle() AS idle_at, s.expires_at, s.ip, s.user_agent
  FROM sessions s CROSS JOIN LATERAL (
         SELECT t.name, t.role FROM api_tokens t WHERE t.tenant_id = s.tenant_id AND t.id = s.credential_id AND t.revoked_at IS NULL OFFSET 0) k
 WHERE s.tenant_id = app_tenant() AND ($1::uuid IS NULL OR s.credential_id = $1) AND s.id < $2 AND session_open(s.last_seen_at, s.expires_at, s.ended_at)
 ORDER BY s.id DESC LIMIT $3`

const selectOperatorSessions = `
SELECT id, credential_id, name, role, created_at, last_seen_at, idle_at, expires_at, ip, user_agent FROM operator_list_sessions()
 WHERE ($1::uuid IS NULL OR credential_id = $1) AND id < $2 ORDER BY id DESC LIMIT $3`

// Sessions lists the open ones of the tenant's tokens, newest first, and whether there are more.
func (s *Store) Sessions(ctx context.Context, t fleet.TenantID, q SessionFilter) ([]OpenSession, bool, error) {
	xs, err := many(ctx, s, t, scanOpenSession, selectSessions, q.args()...)
	if err != nil {
		return nil, false, fmt.Errorf("list sessions: %w", err)
	}
	xs, more := page(xs, pageLimit(q.Limit))
	return xs, more, nil
}

// OperatorSessions lists the open ones of operators' tokens, newest first, and whether there are more.
func (s *Store) OperatorSessions(ctx context.Context, q SessionFilter) ([]OpenSession, bool, error) {
	xs, err := crossTenant(ctx, s, scanOpenSession, selectOperatorSessions, q.args()...)
	if err != nil {
		return nil, false, fmt.Errorf("list operator sessions: %w", err)
	}
	xs, more := page(xs, pageLimit(q.Limit))
	return xs, more, nil
}

func scanOpenSession(row pgx.CollectableRow) (x OpenSession, err error) {
	var role string
	err = row.Scan((*[16]byte)(&x.ID), (*[16]byte)(&x.Token), &x.Name, &role, &x.CreatedAt, &x.LastSeenAt, &x.IdleAt, &x.ExpiresAt, &x.IP, &x.UserAgent)
	x.Role = auth.Role(role)
	x.utc()
	return x, err
}
