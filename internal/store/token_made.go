package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Made is what a token has made that is good, directly or through tokens that it made.
type Made struct {
	Tokens          []APIToken // the newest ones
	TokenCount      int
	StayingCount    int              // of those, which do not end with it
	Credentials     []MadeCredential // the newest ones
	CredentialCount int
}

// MadeCredential is a node credential of a fleet.
type MadeCredential struct {
	Fleet string
	NodeCredential
}

// mostMade is how many of each Made names.
const mostMade = 100

const (
	isGood     = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`
	isMadeBy   = ` AND $1 = ANY (makers) AND ` + isGood
	countsMade = `
SELECT count(*) FILTER (WHERE NOT k.id = ANY (e.ids)), count(*)
  FROM api_tokens k CROSS JOIN (SELECT tokens_ending_with($1) AS ids OFFSET 0) e WHERE k.tenant_id = app_tenant()` + isMadeBy
	selectMadeCredentials = `
SELECT f.name, count(*) OVER (), c.* FROM fleets f JOIN (
  SELECT fleet_id, id, hash, nodes, description, created_at, made_by, false, created_by, expires_at, revoked_at, last_used_at, last_used_from
    FROM node_credentials WHERE tenant_id = app_tenant()` + isMadeBy + `) c ON c.fleet_id = f.id
 WHERE f.tenant_id = app_tenant() AND f.deleted_at IS NULL ORDER BY c.id DESC LIMIT $2`
)

// Made tells what a token has made. Of no such token it is fleet.ErrNotFound. It reads the tenant's tokens
// and node credentials.
func (s *Store) Made(ctx context.Context, t fleet.TenantID, id fleet.CredentialID) (m Made, err error) {
	err = s.inTenant(ctx, readTimeout, t, func(b *pgx.Batch) {
		m = Made{}
		b.Queue(`SELECT must_exist(EXISTS (SELECT FROM api_tokens WHERE tenant_id = app_tenant() AND id = $1))`, id.String())
		b.Queue(countsMade, id.String()).QueryRow(func(row pgx.Row) error { return row.Scan(&m.StayingCount, &m.TokenCount) })
		b.Queue(selectToken+isMadeBy+` ORDER BY id DESC LIMIT $2`, id.String(), mostMade).Query(func(rows pgx.Rows) (err error) {
			m.Tokens, err = pgx.CollectRows(rows, scanToken)
			return err
		})
		b.Queue(selectMadeCredentials, id.String(), mostMade).Query(func(rows pgx.Rows) (err error) {
			m.Credentials, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c MadeCredential, err error) {
				c.NodeCredential, err = scanNodeCredentialAfter(row, &c.Fleet, &m.CredentialCount, new([16]byte))
				return c, err
			})
			return err
		})
	})
	if err != nil {
		return Made{}, fmt.Errorf("list what token %s has made: %w", id, err)
	}
	return m, nil
}
