package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// NodeCredential lets nodes of one fleet in. The secret itself is nowhere.
type NodeCredential struct {
	ID          fleet.CredentialID
	Hash        [32]byte // SHA-256 of the token
	Nodes       string   // allowed node ids: "exact", "prefix*" or "*"
	Description string
	ExpiresAt   time.Time // zero: never
	CreatedAt   time.Time
	CreatedBy   Maker     // its Credential is zero where it is not known
	RevokedAt   time.Time // zero while it is good
	// LastUsedAt is when it was used last, to the hour, and LastUsedFrom from which address; zero: never.
	LastUsedAt   time.Time
	LastUsedFrom string
}

const selectNodeCredential = `
SELECT id, hash, nodes, description, created_at, made_by, coalesce(is_operator(made_by), false), created_by, expires_at, revoked_at, last_used_at, last_used_from
  FROM node_credentials WHERE tenant_id = app_tenant() AND fleet_id = $1`

func scanNodeCredential(row pgx.CollectableRow) (NodeCredential, error) {
	return scanNodeCredentialAfter(row)
}

// scanNodeCredentialAfter is of a row that begins with something else.
func scanNodeCredentialAfter(row pgx.CollectableRow, before ...any) (c NodeCredential, err error) {
	var hash []byte
	var maker *[16]byte
	var expires, revoked, used *time.Time
	err = row.Scan(append(before, (*[16]byte)(&c.ID), &hash, &c.Nodes, &c.Description, &c.CreatedAt, &maker, &c.CreatedBy.Operator, &c.CreatedBy.Name,
		&expires, &revoked, &used, &c.LastUsedFrom)...)
	c.Hash, c.CreatedAt, c.ExpiresAt, c.RevokedAt = hashOf(hash), c.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
	c.CreatedBy.Credential, c.LastUsedAt = uuidOrZero[fleet.CredentialID](maker), timeOrZero(used)
	return c, err
}

const insertNodeCredential = `
INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes, description, expires_at, created_by, made_by, makers)
VALUES (app_tenant(), $1, $2, $3, $4, $5, $6, $7, $8, makers_of($8))`

const insertRenewed = `
INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes, description, expires_at, created_by, made_by, makers)
SELECT c.tenant_id, c.fleet_id, $2, $3, c.nodes, c.description, $4, $5, $6, makers_of($6)
  FROM node_credentials c WHERE c.tenant_id = app_tenant() AND c.fleet_id = $1 AND c.id = $7`

// CreateNodeCredential adds a credential and tells the servers. One that does not say for
// which nodes it is is fleet.ErrInvalid; a fleet that has all its credentials gets a
// *LimitError. It is fleet.ErrUnauthenticated when the token that makes it has ended meanwhile.
func (s *Store) CreateNodeCredential(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, c NodeCredential) (NodeCredential, error) {
	if c.Nodes == "" {
		return NodeCredential{}, fmt.Errorf("create node credential: nodes is empty: name a node id, a prefix and *, or *: %w", fleet.ErrInvalid)
	}
	c, err := s.addNodeCredential(ctx, t, f, a, c, nil)
	if err != nil {
		return NodeCredential{}, fmt.Errorf("create node credential: %w", err)
	}
	return c, nil
}

// RenewNodeCredential adds a credential for the nodes of an old one. That one ends at oldEnd if it does
// not end sooner; the zero time leaves its end as it is. An old one that has ended is fleet.ErrConflict.
func (s *Store) RenewNodeCredential(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, old fleet.CredentialID, oldEnd time.Time, c NodeCredential) (NodeCredential, error) {
	c, err := s.addNodeCredential(ctx, t, f, a, c, &renewal{old, oldEnd})
	if err != nil {
		return NodeCredential{}, fmt.Errorf("renew node credential %s: %w", old, err)
	}
	return c, nil
}

type renewal struct {
	of  fleet.CredentialID
	end time.Time // of that one; zero: as it is
}

func (s *Store) addNodeCredential(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, c NodeCredential, r *renewal) (NodeCredential, error) {
	e := event{action: "credential.create", object: "node credential " + c.ID.String(), fleet: f, detail: map[string]any{"nodes": c.Nodes}}
	if r != nil {
		e.action, e.detail = "credential.renew", map[string]any{"renews": r.of.String()}
		if !r.end.IsZero() {
			e.detail["old_expires_at"] = r.end.UTC().Format(time.RFC3339)
		}
	}
	err := s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(raiseUnlessMakerIsGood, uuidOrNil(a.Credential))
		b.Queue(raiseUnlessFleet, f.String())
		if r != nil {
			b.Queue(`SELECT credential_renews($1, $2, $3)`, f.String(), r.of.String(), timeOrNil(r.end))
		}
		b.Queue(`SELECT fleet_must_have_room($1)`, f.String())
		b.Queue(`SELECT drop_ended_credentials($1)`, f.String())
		if r != nil {
			b.Queue(insertRenewed, f.String(), c.ID.String(), c.Hash[:], timeOrNil(c.ExpiresAt), a.Name, uuidOrNil(a.Credential), r.of.String())
		} else {
			queueRoom(b)
			b.Queue(insertNodeCredential, f.String(), c.ID.String(), c.Hash[:], c.Nodes, c.Description, timeOrNil(c.ExpiresAt), a.Name, uuidOrNil(a.Credential))
		}
		b.Queue(moveEpoch, f.String())
		queueAudit(b, a, e)
		b.Queue(selectNodeCredential+` AND id = $2`, f.String(), c.ID.String()).Query(func(rows pgx.Rows) (err error) {
			c, err = pgx.CollectOneRow(rows, scanNodeCredential)
			return err
		})
	})
	if err == nil {
		s.ring(t, f)
	}
	return c, err
}

const revokeNodeCredential = `
WITH u AS (
  UPDATE node_credentials SET revoked_at = coalesce(revoked_at, clock_timestamp())
   WHERE tenant_id = app_tenant() AND fleet_id = $1 AND id = $2 RETURNING 1)
SELECT must_exist(EXISTS (SELECT FROM u))`

// RevokeNodeCredential ends the credential and, through the servers, its live streams.
// Revoking twice is no error and keeps the first time.
func (s *Store) RevokeNodeCredential(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, id fleet.CredentialID) error {
	err := s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(raiseUnlessFleet, f.String())
		b.Queue(revokeNodeCredential, f.String(), id.String())
		b.Queue(moveEpoch, f.String())
		queueAudit(b, a, event{action: "credential.revoke", object: "node credential " + id.String(), fleet: f})
	})
	if err != nil {
		return fmt.Errorf("revoke node credential %s: %w", id, err)
	}
	s.ring(t, f)
	return nil
}

// FindNodeCredential looks a credential up by its public id, whoever's it is: the
// caller has nothing but the token yet. It works as the node role.
func (s *Store) FindNodeCredential(ctx context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	type found struct {
		key  fleet.Key
		cred fleet.Credential
	}
	fs, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (v found, err error) {
		var hash []byte
		var expires, revoked *time.Time
		err = row.Scan((*[16]byte)(&v.key.Tenant), (*[16]byte)(&v.key.Fleet), &hash, &v.cred.Nodes, &expires, &revoked)
		v.cred.ID, v.cred.Hash, v.cred.ExpiresAt, v.cred.RevokedAt = id, hashOf(hash), timeOrZero(expires), timeOrZero(revoked)
		return v, err
	}, `SELECT tenant_id, fleet_id, hash, nodes, expires_at, revoked_at FROM find_node_credential($1)`, id.String())
	if err == nil && len(fs) != 1 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return fleet.Key{}, fleet.Credential{}, fmt.Errorf("find node credential %s: %w", id, err)
	}
	return fs[0].key, fs[0].cred, nil
}
