package store

import (
	"context"
	"fmt"

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
