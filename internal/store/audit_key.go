package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
)

// keyTenants bounds of how many tenants the heads are read: an API server asks when it starts.
const keyTenants = 20

// HeadsOfKey is who has signed the last heads of some tenants' audits.
type HeadsOfKey struct {
	Signed  int      // with the key
	Foreign []string // slugs of tenants of which it was another key
}

// HeadsOfKey compares a key with the last signed heads. API servers have no leases that would tell their keys, and what they have signed does. It is of 20 tenants at most: one key signs those of all.
func (s *Store) HeadsOfKey(ctx context.Context, by audit.Signer) (HeadsOfKey, error) {
	ts, _, err := s.Tenants(ctx, "", keyTenants)
	if err != nil {
		return HeadsOfKey{}, err
	}
	return headsOfKey(ts, by, func(t fleet.TenantID) (*audit.Head, error) { return s.LastSignedHead(ctx, t) })
}

// HeadsOfKey is the Store's, for a role of the API servers.
func (p *Probe) HeadsOfKey(ctx context.Context, by audit.Signer) (out HeadsOfKey, err error) {
	rows, err := p.conn.Query(ctx, selectTenant+`operator_tenants($1, $2, $3, $4, $5)`, "", "", behind(""), keyTenants, false)
	if err != nil {
		return out, fmt.Errorf("list tenants: %w", kind(err))
	}
	ts, err := pgx.CollectRows(rows, scanTenant)
	if err != nil {
		return out, fmt.Errorf("list tenants: %w", kind(err))
	}
	return headsOfKey(ts, by, func(t fleet.TenantID) (h *audit.Head, err error) {
		err = pgx.BeginTxFunc(ctx, p.conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, setTenant, t.String(), fmt.Sprint(readTimeout.Milliseconds())); err != nil {
				return err
			}
			rows, err := tx.Query(ctx, selectLastHead)
			if err != nil {
				return err
			}
			heads, err := pgx.CollectRows(rows, scanHead(t))
			if len(heads) > 0 {
				h = &heads[0]
			}
			return err
		})
		return h, wrapped("read the last signed head of the audit", kind(err))
	})
}

func headsOfKey(ts []Tenant, by audit.Signer, last func(fleet.TenantID) (*audit.Head, error)) (out HeadsOfKey, err error) {
	for _, t := range ts {
		h, err := last(t.ID)
		switch {
		case err != nil:
			return out, err
		case h == nil: // none is signed yet
		case by.Signed(*h):
			out.Signed++
		default:
			out.Foreign = append(out.Foreign, t.Slug)
		}
	}
	return out, nil
}
