package store

import (
	"context"
	"encoding/json"
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
	Fleet         *fleet.ID         // bounds it to one fleet; auth.RoleCI must have one
	WritesSecrets bool              // for auth.RoleCI
	UsesSecrets   auth.SecretGrants // for auth.RoleCI and auth.RoleEditor
	ExpiresAt     time.Time         // zero: never
	// Parent is the token with which it ends, that which made it; nil: it stands alone,
	// as one does that an operator made or an owner handed over.
	Parent    *fleet.CredentialID
	CreatedAt time.Time
	CreatedBy Maker
	RevokedAt time.Time // zero while it is good
}

// Maker is who did something in a tenant, as the tenant is told it.
type Maker struct {
	Credential fleet.CredentialID
	Operator   bool // of the installation, not of the tenant
	Name       string
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
SELECT id, hash, role, name, fleet_id, writes_secrets, nullif(uses_secrets, '{}'), parent_id, created_at, made_by, coalesce(is_operator(made_by), false), created_by, expires_at, revoked_at
  FROM api_tokens WHERE tenant_id = app_tenant()`

func scanToken(row pgx.CollectableRow) (k APIToken, err error) {
	var hash []byte
	var f, parent, maker *[16]byte
	var expires, revoked *time.Time
	err = row.Scan((*[16]byte)(&k.ID), &hash, (*string)(&k.Role), &k.Name, &f, &k.WritesSecrets, (*[]string)(&k.UsesSecrets), &parent, &k.CreatedAt,
		&maker, &k.CreatedBy.Operator, &k.CreatedBy.Name, &expires, &revoked)
	k.Hash, k.Fleet, k.CreatedAt, k.ExpiresAt, k.RevokedAt = hashOf(hash), (*fleet.ID)(f), k.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
	k.Parent, k.CreatedBy.Credential = (*fleet.CredentialID)(parent), uuidOrZero[fleet.CredentialID](maker)
	return k, err
}

// insertToken keeps who made it, also where it does not end with that.
const insertToken = `
INSERT INTO api_tokens (tenant_id, id, hash, role, name, fleet_id, writes_secrets, uses_secrets, expires_at, created_by, made_by, makers, parent_id)
VALUES (app_tenant(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, makers_of($10), $11)`

// CreateToken adds an API token of the tenant. It is fleet.ErrUnauthenticated when the token that
// makes it has ended meanwhile, or when its Parent ends before it. A tenant that has all its tokens
// gets a *LimitError.
func (s *Store) CreateToken(ctx context.Context, t fleet.TenantID, a Actor, k APIToken) (APIToken, error) {
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		if k.Parent != nil {
			b.Queue(`SELECT token_makes($1, $2)`, k.Parent.String(), timeOrNil(k.ExpiresAt))
		}
		b.Queue(raiseUnlessMakerIsGood, uuidOrNil(a.Credential))
		queueRoom(b)
		b.Queue(raiseUnlessRoom, string(LimitTokens))
		b.Queue(`SELECT drop_ended_tokens()`)
		b.Queue(insertToken, k.ID.String(), k.Hash[:], string(k.Role), k.Name, (*[16]byte)(k.Fleet), k.WritesSecrets, grantsOf(k.UsesSecrets), timeOrNil(k.ExpiresAt),
			a.Name, uuidOrNil(a.Credential), (*[16]byte)(k.Parent))
		queueAudit(b, a, event{action: "token.create", object: "token " + k.ID.String(), detail: createdDetail(k)})
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

// grantsOf is no NULL where there is none.
func grantsOf(g auth.SecretGrants) []string { return append([]string{}, g...) }

// createdDetail is what the audit tells of a new token.
func createdDetail(k APIToken) map[string]any {
	detail := map[string]any{"role": k.Role, "name": k.Name}
	if len(k.UsesSecrets) > 0 {
		detail["uses_secrets"] = k.UsesSecrets
	}
	return detail
}

// raiseUnlessMakerIsGood ends a batch with FL401 when the token that makes something has ended. It comes
// before anything that locks a fleet's head.
const raiseUnlessMakerIsGood = `SELECT maker_must_be_good($1)`

// Revocation is how a token is ended.
type Revocation struct {
	Within []auth.Role // the roles that the caller may revoke: another one is fleet.ErrForbidden
	// Leaked: all that it made ends too, at whatever depth: tokens that stand alone and node credentials.
	Leaked bool
}

// RevokeToken ends a token and all that end with it. Revoking twice is no error and keeps the first
// time. Servers are told of the node credentials that end.
func (s *Store) RevokeToken(ctx context.Context, t fleet.TenantID, a Actor, id fleet.CredentialID, r Revocation) error {
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	var fleets []fleet.ID
	err = s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(`SELECT token_revoke($1, $2, $3, $4)`, id.String(), r.Within, r.Leaked, who).Query(func(rows pgx.Rows) (err error) {
			fleets, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f fleet.ID, err error) { return f, row.Scan((*[16]byte)(&f)) })
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	for _, f := range fleets {
		s.ring(t, f)
	}
	return nil
}

// HandOverToken makes a token stand alone: it does not end any more with the one that
// made it. One that has ended is fleet.ErrConflict. A second call changes nothing.
func (s *Store) HandOverToken(ctx context.Context, t fleet.TenantID, a Actor, id fleet.CredentialID) (APIToken, error) {
	var k APIToken
	err := s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(`SELECT token_hand_over($1)`, id.String())
		queueAudit(b, a, event{action: "token.hand_over", object: "token " + id.String()})
		b.Queue(selectToken+` AND id = $1`, id.String()).Query(func(rows pgx.Rows) (err error) {
			k, err = pgx.CollectOneRow(rows, scanToken)
			return err
		})
	})
	if err != nil {
		return APIToken{}, fmt.Errorf("hand token %s over: %w", id, err)
	}
	return k, nil
}

// FindToken looks a token of the API up by its public id, whoever's it is: the caller
// has nothing but the token yet. Expired and revoked ones are found too.
func (s *Store) FindToken(ctx context.Context, id fleet.CredentialID) (Token, error) {
	ks, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (k Token, err error) {
		var tenant, f *[16]byte
		var hash []byte
		var role *string
		var expires, revoked *time.Time
		p := &k.Principal
		err = row.Scan(&p.Operator, &tenant, &hash, &role, &p.Name, &f, &p.WritesSecrets, (*[]string)(&p.UsesSecrets), &k.CreatedAt, &expires, &revoked)
		p.Credential, p.Tenant, p.Fleet = id, uuidOrZero[fleet.TenantID](tenant), (*fleet.ID)(f)
		if role != nil {
			p.Role = auth.Role(*role)
		}
		k.Hash, k.CreatedAt, k.ExpiresAt, k.RevokedAt = hashOf(hash), k.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
		return k, err
	}, `SELECT operator, tenant_id, hash, role, name, fleet_id, writes_secrets, uses_secrets, created_at, expires_at, revoked_at FROM find_token($1)`, id.String())
	if err == nil && len(ks) != 1 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Token{}, fmt.Errorf("find token %s: %w", id, err)
	}
	return ks[0], nil
}
