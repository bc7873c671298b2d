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
	CreatedBy   string
	RevokedAt   time.Time // zero while it is good
}

const selectNodeCredential = `
SELECT id, hash, nodes, description, created_at, created_by, expires_at, revoked_at
  FROM node_credentials WHERE tenant_id = app_tenant() AND fleet_id = $1`

func scanNodeCredential(row pgx.CollectableRow) (c NodeCredential, err error) {
	var hash []byte
	var expires, revoked *time.Time
	err = row.Scan((*[16]byte)(&c.ID), &hash, &c.Nodes, &c.Description, &c.CreatedAt, &c.CreatedBy, &expires, &revoked)
	c.Hash, c.CreatedAt, c.ExpiresAt, c.RevokedAt = hashOf(hash), c.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
	return c, err
}

// CreateNodeCredential adds a credential and tells the servers. One that does not say for
// which nodes it is is fleet.ErrInvalid; a fleet that has all its credentials gets a
// *LimitError.
func (s *Store) CreateNodeCredential(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, c NodeCredential) (NodeCredential, error) {
	if c.Nodes == "" {
		return NodeCredential{}, fmt.Errorf("create node credential: nodes is empty: name a node id, a prefix and *, or *: %w", fleet.ErrInvalid)
	}
	err := s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		b.Queue(raiseUnlessFleet, f.String())
		b.Queue(`SELECT fleet_must_have_room($1)`, f.String())
		b.Queue(`SELECT drop_ended_credentials($1)`, f.String())
		b.Queue(`INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes, description, expires_at, created_by)
			VALUES (app_tenant(), $1, $2, $3, $4, $5, $6, $7)`,
			f.String(), c.ID.String(), c.Hash[:], c.Nodes, c.Description, timeOrNil(c.ExpiresAt), a.Name)
		b.Queue(moveEpoch, f.String())
		queueAudit(b, a, event{action: "credential.create", object: "node credential " + c.ID.String(), fleet: f, detail: map[string]any{"nodes": c.Nodes}})
		b.Queue(selectNodeCredential+` AND id = $2`, f.String(), c.ID.String()).Query(func(rows pgx.Rows) (err error) {
			c, err = pgx.CollectOneRow(rows, scanNodeCredential)
			return err
		})
	})
	if err != nil {
		return NodeCredential{}, fmt.Errorf("create node credential: %w", err)
	}
	s.ring(t, f)
	return c, nil
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
