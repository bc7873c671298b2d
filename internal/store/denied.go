package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const (
	maxAddress = 64  // bytes
	maxNote    = 256 // bytes
	tellDenied = `SELECT tell_denied($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::timestamptz[], $9::timestamptz[], $10::text[])`
)

// TellDenied makes events of clients that were not let in, or not given what they asked for, of any fleets, in one statement; those of fleets that are gone it leaves
// out. What is told again, because an answer was lost, is counted again.
func (s *Store) TellDenied(ctx context.Context, ds []fleet.Denied) error {
	n := len(ds)
	tenants, fleets, reasons, credentials := make([][16]byte, n), make([][16]byte, n), make([]string, n), make([]*[16]byte, n)
	nodes, addresses, notes := make([]string, n), make([]string, n), make([]string, n)
	attempts, since, upto := make([]int64, n), make([]time.Time, n), make([]time.Time, n)
	for i, d := range ds {
		tenants[i], fleets[i], reasons[i] = d.Tenant, d.Fleet, string(d.Reason)
		nodes[i], addresses[i], attempts[i], since[i], upto[i] = clean(d.Node, maxNodeID), clean(d.Address, maxAddress), d.Attempts, d.First, d.Last
		notes[i] = clean(d.Note, maxNote)
		if d.Credential != (fleet.CredentialID{}) {
			id := [16]byte(d.Credential)
			credentials[i] = &id
		}
	}
	b := &pgx.Batch{}
	b.Queue(tellDenied, tenants, fleets, reasons, credentials, nodes, addresses, attempts, since, upto, notes)
	if err := s.send(ctx, call{limit: writeTimeout}, b); err != nil {
		return fmt.Errorf("tell of %d clients that were not let in: %w", n, kind(err))
	}
	return nil
}
