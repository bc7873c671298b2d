package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const noteCredentialUses = `SELECT note_credential_uses($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[])`

// NoteCredentialUses writes down when node credentials were used last, of any fleets, in one statement.
// Those that are gone it leaves out. It works as the node role.
func (s *Store) NoteCredentialUses(ctx context.Context, us []fleet.CredentialUse) error {
	n := len(us)
	tenants, fleets, ids, at, addresses := make([][16]byte, n), make([][16]byte, n), make([][16]byte, n), make([]time.Time, n), make([]string, n)
	for i, u := range us {
		tenants[i], fleets[i], ids[i], at[i], addresses[i] = u.Tenant, u.Fleet, u.Credential, u.At, clean(u.Address, maxAddress)
	}
	b := &pgx.Batch{}
	b.Queue(noteCredentialUses, tenants, fleets, ids, at, addresses)
	if err := s.send(ctx, call{limit: writeTimeout}, b); err != nil {
		return fmt.Errorf("note the use of %d node credentials: %w", n, kind(err))
	}
	return nil
}
