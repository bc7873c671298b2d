package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

// What a token or a credential is at present.
const (
	CredentialActive  = "active"
	CredentialExpired = "expired"
	CredentialRevoked = "revoked"
)

// CredentialFilter says which tokens or credentials a list is about, newest first. What is zero
// leaves nothing out.
type CredentialFilter struct {
	State  string    // CredentialActive, ...
	Role   auth.Role // of tokens of a tenant
	Prefix string    // of the name, of what has one
	After  fleet.CredentialID
	Limit  int // 0 is 100; the most is 1000
}

// stateOf is the state of a row of tokens or credentials.
const stateOf = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'active' END`

// args are those of pageOfCredentials; the last one asks for one more than the page has.
func (q CredentialFilter) args() []any {
	after := "ffffffff-ffff-ffff-ffff-ffffffffffff"
	if q.After != (fleet.CredentialID{}) {
		after = q.After.String()
	}
	return []any{after, q.State, pageLimit(q.Limit) + 1}
}

// pageOfCredentials is for the arguments from $n on. What it leaves out is read: of one tenant or
// fleet there are as many as its limit allows, and those that have ended and are still kept.
func pageOfCredentials(n int) string {
	return fmt.Sprintf(` id < $%d AND ($%[2]d = '' OR `+stateOf+` = $%[2]d) ORDER BY id DESC LIMIT $%[3]d`, n, n+1, n+2)
}

// Tokens lists those of the tenant, newest first, and whether there are more.
func (s *Store) Tokens(ctx context.Context, t fleet.TenantID, q CredentialFilter) ([]APIToken, bool, error) {
	ks, err := many(ctx, s, t, scanToken, selectToken+` AND ($1 = '' OR role = $1) AND starts_with(name, $2) AND`+pageOfCredentials(3),
		append([]any{string(q.Role), q.Prefix}, q.args()...)...)
	if err != nil {
		return nil, false, fmt.Errorf("list tokens: %w", err)
	}
	ks, more := page(ks, pageLimit(q.Limit))
	return ks, more, nil
}

// NodeCredentials lists those of the fleet, newest first, and whether there are more.
func (s *Store) NodeCredentials(ctx context.Context, t fleet.TenantID, f fleet.ID, q CredentialFilter) ([]NodeCredential, bool, error) {
	cs, err := many(ctx, s, t, scanNodeCredential, selectNodeCredential+` AND`+pageOfCredentials(2), append([]any{f.String()}, q.args()...)...)
	if err != nil {
		return nil, false, fmt.Errorf("list node credentials: %w", err)
	}
	cs, more := page(cs, pageLimit(q.Limit))
	return cs, more, nil
}

// OperatorTokens lists those of the installation, newest first, and whether there are more.
func (s *Store) OperatorTokens(ctx context.Context, q CredentialFilter) ([]OperatorToken, bool, error) {
	ks, err := crossTenant(ctx, s, scanOperatorToken, selectOperatorTokens+` WHERE starts_with(name, $1) AND`+pageOfCredentials(2),
		append([]any{q.Prefix}, q.args()...)...)
	if err != nil {
		return nil, false, fmt.Errorf("list operator tokens: %w", err)
	}
	ks, more := page(ks, pageLimit(q.Limit))
	return ks, more, nil
}

// EndingCredential is a node credential whose end concerns nodes.
type EndingCredential struct {
	ID        fleet.CredentialID
	ExpiresAt time.Time
	Nodes     int      // that are connected with it or, if it has ended, were until its end and are connected no more
	Named     []string // the first ten of them by id
}

// selectEnding reads the status of the nodes only where a credential ends within $2 seconds, or has ended. A stream ends with its credential, so
// who was cut off by that left no sooner than a minute before: the clocks of servers differ.
const selectEnding = `
WITH ending AS MATERIALIZED (
  SELECT c.id, c.expires_at FROM node_credentials c
   WHERE c.tenant_id = app_tenant() AND c.fleet_id = $1 AND c.revoked_at IS NULL AND c.expires_at < clock_timestamp() + make_interval(secs => $2)),
used AS (
  SELECT s.node_id, s.credential_id, bool_or(s.connected AND coalesce(x.lease_until > clock_timestamp(), false)) AS live,
         max(CASE WHEN s.connected THEN x.lease_until ELSE s.since END) AS ended
    FROM node_status s LEFT JOIN xds_servers x ON x.server_id = s.server_id
   WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND EXISTS (SELECT FROM ending)
   GROUP BY s.node_id, s.credential_id),
seen AS (SELECT u.*, bool_or(u.live) OVER (PARTITION BY u.node_id) AS somewhere FROM used u)
SELECT e.id, e.expires_at, count(*), (array_agg(n.node_id ORDER BY n.node_id))[1:10]
  FROM ending e JOIN seen n ON n.credential_id = e.id
 WHERE CASE WHEN e.expires_at > clock_timestamp() THEN n.live ELSE NOT n.somewhere AND n.ended >= e.expires_at - interval '1 minute' END
 GROUP BY e.id, e.expires_at ORDER BY e.expires_at, e.id`

// EndingCredentials tells of the node credentials with which nodes have come that end within that time or have ended, the first to end first. Those that
// nobody comes with any more are left out.
func (s *Store) EndingCredentials(ctx context.Context, t fleet.TenantID, f fleet.ID, within time.Duration) ([]EndingCredential, error) {
	cs, err := manyIn(ctx, s, call{limit: readTimeout, plans: setJoins}, t, func(row pgx.CollectableRow) (c EndingCredential, err error) {
		err = row.Scan((*[16]byte)(&c.ID), &c.ExpiresAt, &c.Nodes, &c.Named)
		c.ExpiresAt = c.ExpiresAt.UTC()
		return c, err
	}, selectEnding, f.String(), within.Seconds())
	if err != nil {
		return nil, fmt.Errorf("look which node credentials of fleet %s end: %w", f, err)
	}
	return cs, nil
}
