package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// A write that takes a version out of force, which nodes refuse, ends their refusals: at its
// commit, for whoever reads them, by one row in mends. Mend writes that down in the refusals
// themselves.
const (
	mendAtOnce = 1000 // refusals that one transaction ends
	mendFleets = 100  // fleets that take turns
)

// ended joins the mend that ended a refusal of node_exceptions, whose alias is e, to it as
// end_of: what an open row says is not so where there is one.
func ended(e string) string {
	return `LEFT JOIN LATERAL (
      SELECT m.at, m.revision FROM mends m
       WHERE ` + e + `.resolved_at IS NULL AND ` + mendOf(e) + `
       ORDER BY m.revision LIMIT 1) end_of ON true`
}

// stands says of a refusal of node_exceptions, whose alias is e, that it has not ended. It is for what
// the key finds: the index of all that is open in the fleet does not fit resolved_by.
func stands(e string) string {
	return `(` + e + `.resolved_by IS NULL AND NOT EXISTS (SELECT FROM mends m WHERE ` + mendOf(e) + ` OFFSET 0))`
}

func mendOf(e string) string {
	return `m.tenant_id = ` + e + `.tenant_id AND m.fleet_id = ` + e + `.fleet_id AND m.type = ` + e + `.type AND m.name = ` + e + `.name
         AND m.version = ` + e + `.version AND m.revision > ` + e + `.revision`
}

// mendSignal says that there may be something to do. It never blocks.
type mendSignal chan struct{}

func (s mendSignal) set() {
	select {
	case s <- struct{}{}:
	default: // already set
	}
}

// Mending is signalled when a write of this Store has left something for Mend.
func (s *Store) Mending() <-chan struct{} { return s.mends }

// Mend writes into the refusals of every fleet what mends have made of them, and tells an
// event of each, until nothing is left. It holds no lock that a write waits for, and any
// number of processes may do it at once; fleets take turns. What fails does not hold up the
// others; the error is the first one, and what is left is done by the next run.
func (s *Store) Mend(ctx context.Context) error {
	var first error
	passed := map[fleet.Key]bool{}
	for more := true; more; {
		fs, err := crossTenant(ctx, s, scanKey, `SELECT tenant_id, fleet_id FROM fleets_to_mend($1)`, mendFleets)
		if err != nil {
			return fmt.Errorf("find fleets whose refusals have ended: %w", err)
		}
		more = false
		for _, k := range fs {
			if passed[k] {
				continue
			}
			more = true
			step, err := one(ctx, s, k.Tenant, pgx.RowTo[*bool], `SELECT fleet_mend($1, $2)`, k.Fleet.String(), mendAtOnce)
			if err == nil && step != nil {
				continue
			}
			passed[k] = true
			if first == nil && err != nil {
				first = fmt.Errorf("end refusals of fleet %s: %w", k.Fleet, err)
			}
			if ctx.Err() != nil {
				return first
			}
		}
	}
	return first
}

func scanKey(row pgx.CollectableRow) (k fleet.Key, err error) {
	return k, row.Scan((*[16]byte)(&k.Tenant), (*[16]byte)(&k.Fleet))
}
