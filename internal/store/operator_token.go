package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// OperatorToken is a token of the installation's operator. Each stands alone: none ends
// with another.
type OperatorToken struct {
	ID        fleet.CredentialID
	Hash      [32]byte // SHA-256 of the token; never read back
	Name      string
	CreatedAt time.Time
	CreatedBy string    // the name of the token that made it; "" for the command line
	ExpiresAt time.Time // it always ends
	RevokedAt time.Time // zero while it is good
	RevokedBy string
}

// CreateFirstOperatorToken adds an operator token where none is good: the first of an
// installation, or the first after all have ended. Else it is fleet.ErrConflict.
func (s *Store) CreateFirstOperatorToken(ctx context.Context, k OperatorToken) error {
	made, err := crossTenant(ctx, s, pgx.RowTo[bool], `SELECT operator_first_token($1, $2, $3, $4)`, k.ID.String(), k.Hash[:], k.Name, k.ExpiresAt)
	if err == nil && !made[0] {
		err = fmt.Errorf("%w: there is one already", fleet.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("create the first operator token: %w", err)
	}
	return nil
}

// CreateOperatorToken adds an operator token, made by another: that has to be good, else
// it is fleet.ErrUnauthenticated.
func (s *Store) CreateOperatorToken(ctx context.Context, a Actor, k OperatorToken) (OperatorToken, error) {
	b := &pgx.Batch{}
	b.Queue(`SELECT operator_create_token($1, $2, $3, $4, $5)`, k.ID.String(), k.Hash[:], k.Name, k.ExpiresAt, a.Credential.String())
	b.Queue(selectOperatorTokens+` WHERE id = $1`, k.ID.String()).Query(func(rows pgx.Rows) (err error) {
		k, err = pgx.CollectOneRow(rows, scanOperatorToken)
		return err
	})
	if err := kind(s.send(ctx, call{limit: writeTimeout}, b)); err != nil {
		return OperatorToken{}, fmt.Errorf("create operator token: %w", err)
	}
	return k, nil
}

const selectOperatorTokens = `SELECT id, name, created_at, created_by, expires_at, revoked_at, revoked_by FROM operator_list_tokens()`

func scanOperatorToken(row pgx.CollectableRow) (k OperatorToken, err error) {
	var revoked *time.Time
	err = row.Scan((*[16]byte)(&k.ID), &k.Name, &k.CreatedAt, &k.CreatedBy, &k.ExpiresAt, &revoked, &k.RevokedBy)
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = k.CreatedAt.UTC(), k.ExpiresAt.UTC(), timeOrZero(revoked)
	return k, err
}

// RevokeOperatorToken ends an operator token; the last one that is good is
// fleet.ErrConflict. Revoking twice is no error and keeps the first time.
func (s *Store) RevokeOperatorToken(ctx context.Context, a Actor, id fleet.CredentialID) error {
	done, err := crossTenant(ctx, s, pgx.RowTo[bool], `SELECT operator_revoke_token($1, $2)`, id.String(), a.Name)
	if err == nil && !done[0] {
		err = fmt.Errorf("%w: it is the last one that is good", fleet.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("revoke operator token %s: %w", id, err)
	}
	return nil
}
