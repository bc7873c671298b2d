package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

// APIToken is a token of a tenant's API. The secret itself is nowhere.
type APIToken struct {
	ID            fleet.CredentialID
	Hash          [32]byte // SHA-256 of the token
	Role          auth.Role
	Name          string
	Fleet         *fleet.ID // bounds it to one fleet; auth.RoleCI must have one
	WritesSecrets bool      // for auth.RoleCI
	ExpiresAt     time.Time // zero: never
	CreatedAt     time.Time
	CreatedBy     string
	RevokedAt     time.Time // zero while it is good
}

// OperatorToken is a token of the installation's operator.
type OperatorToken struct {
	ID        fleet.CredentialID
	Hash      [32]byte
	Name      string
	ExpiresAt time.Time // zero: never
}

// Token is what a presented token is checked against.
type Token struct {
	Principal auth.Principal
	Hash      [32]byte
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero while it is good
}

const selectToken = `
SELECT id, hash, role, name, fleet_id, writes_secrets, created_at, created_by, expires_at, revoked_at FROM api_tokens WHERE tenant_id = app_tenant()`

func scanToken(row pgx.CollectableRow) (k APIToken, err error) {
	var hash []byte
	var f *[16]byte
	var expires, revoked *time.Time
	err = row.Scan((*[16]byte)(&k.ID), &hash, (*string)(&k.Role), &k.Name, &f, &k.WritesSecrets, &k.CreatedAt, &k.CreatedBy, &expires, &revoked)
	k.Hash, k.Fleet, k.CreatedAt, k.ExpiresAt, k.RevokedAt = hashOf(hash), (*fleet.ID)(f), k.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
	return k, err
}

// CreateToken adds an API token of the tenant. One that has all its tokens gets a *LimitError.
func (s *Store) CreateToken(ctx context.Context, t fleet.TenantID, a Actor, k APIToken) (APIToken, error) {
	var f *[16]byte
	if k.Fleet != nil {
		f = uuidOrNil(*k.Fleet)
	}
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(raiseUnlessRoom, string(LimitTokens))
		b.Queue(`INSERT INTO api_tokens (tenant_id, id, hash, role, name, fleet_id, writes_secrets, expires_at, created_by)
			VALUES (app_tenant(), $1, $2, $3, $4, $5, $6, $7, $8)`,
			k.ID.String(), k.Hash[:], string(k.Role), k.Name, f, k.WritesSecrets, timeOrNil(k.ExpiresAt), a.Name)
		queueAudit(b, a, event{action: "token.create", object: "token " + k.ID.String(), detail: map[string]any{"role": k.Role, "name": k.Name}})
		b.Queue(selectToken+` AND id = $1`, k.ID.String()).Query(func(rows pgx.Rows) (err error) {
			k, err = pgx.CollectOneRow(rows, scanToken)
			return err
		})
	})
	if err != nil {
		return APIToken{}, fmt.Errorf("create token: %w", err)
	}
	return k, nil
}

// Tokens lists all of the tenant, the revoked too, newest first.
func (s *Store) Tokens(ctx context.Context, t fleet.TenantID) ([]APIToken, error) {
	ks, err := many(ctx, s, t, scanToken, selectToken+` ORDER BY id DESC`)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return ks, nil
}

const revokeToken = `
WITH u AS (
  UPDATE api_tokens SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE tenant_id = app_tenant() AND id = $1 RETURNING 1)
SELECT must_exist(EXISTS (SELECT FROM u))`

// RevokeToken ends a token. Revoking twice is no error and keeps the first time.
func (s *Store) RevokeToken(ctx context.Context, t fleet.TenantID, a Actor, id fleet.CredentialID) error {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(revokeToken, id.String())
		queueAudit(b, a, event{action: "token.revoke", object: "token " + id.String()})
	})
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	return nil
}

// CreateOperatorToken adds the installation's first operator token; when there is one,
// revoked or not, it is fleet.ErrConflict.
func (s *Store) CreateOperatorToken(ctx context.Context, k OperatorToken) error {
	made, err := door(ctx, s, pgx.RowTo[bool], `SELECT operator_first_token($1, $2, $3, $4)`, k.ID.String(), k.Hash[:], k.Name, timeOrNil(k.ExpiresAt))
	if err == nil && !made[0] {
		err = fmt.Errorf("%w: there is one already", fleet.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("create the first operator token: %w", err)
	}
	return nil
}

// FindToken looks a token of the API up by its public id, whoever's it is: the caller
// has nothing but the token yet. Expired and revoked ones are found too.
func (s *Store) FindToken(ctx context.Context, id fleet.CredentialID) (Token, error) {
	ks, err := door(ctx, s, func(row pgx.CollectableRow) (k Token, err error) {
		var tenant, f *[16]byte
		var hash []byte
		var role *string
		var expires, revoked *time.Time
		p := &k.Principal
		err = row.Scan(&p.Operator, &tenant, &hash, &role, &p.Name, &f, &p.WritesSecrets, &k.CreatedAt, &expires, &revoked)
		p.Credential, p.Tenant, p.Fleet = id, uuidOrZero[fleet.TenantID](tenant), (*fleet.ID)(f)
		if role != nil {
			p.Role = auth.Role(*role)
		}
		k.Hash, k.CreatedAt, k.ExpiresAt, k.RevokedAt = hashOf(hash), k.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
		return k, err
	}, `SELECT operator, tenant_id, hash, role, name, fleet_id, writes_secrets, created_at, expires_at, revoked_at FROM find_token($1)`, id.String())
	if err == nil && len(ks) != 1 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Token{}, fmt.Errorf("find token %s: %w", id, err)
	}
	return ks[0], nil
}
