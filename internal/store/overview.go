package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectOverview: $1 the fleet, $2 the revision after which bodies are read as well. Those of Secrets are sealed.
const selectOverview = `
SELECT h.revision, h.token, r.type, r.name, r.variant, r.revision, r.version, r.selector, r.priority, r.derived, r.summary,
       CASE WHEN r.revision > $2 AND r.type <> 'secrets' THEN (SELECT b.body FROM bodies b WHERE b.tenant_id = r.tenant_id AND b.hash = r.body_hash) END
  FROM fleet_heads h
  LEFT JOIN resources r ON r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND NOT r.deleted
 WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1`

// selectStand is where fleet $1 stands.
const selectStand = `SELECT h.revision, h.token FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1`

// Stands returns where the fleet stands. Whatever was read of its resources where it stood there is what is there now.
// A fleet that is not there is fleet.ErrNotFound.
func (s *Store) Stands(ctx context.Context, t fleet.TenantID, id fleet.ID) (Seen, error) {
	at, err := manyIn(ctx, s, call{limit: readTimeout}, t, func(row pgx.CollectableRow) (at Seen, err error) {
		err = row.Scan((*int64)(&at.Revision), (*[16]byte)(&at.Token))
		return at, err
	}, selectStand, id.String())
	if err == nil && len(at) == 0 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Seen{}, fmt.Errorf("look where fleet %s stands: %w", id, err)
	}
	return at[0], nil
}

// Overview gives each resource of the fleet to f, in no order, and returns where the fleet stands that they are
// all of. What f does counts against the time that a whole fleet may take, mostTimeout. Of the Resources Type, Name, Variant, Revision, Version, Selector, Priority, Derived and
// Summary are set, and, unless it is a Secret, of those that changed after the given revision the Body: what f keeps of
// that is all that stays of it. A fleet that is not there is fleet.ErrNotFound.
func (s *Store) Overview(ctx context.Context, t fleet.TenantID, id fleet.ID, after fleet.Revision, f func(Resource)) (Seen, error) {
	at := Seen{Revision: -1}
	_, err := manyIn(ctx, s, call{limit: mostTimeout}, t, func(row pgx.CollectableRow) (struct{}, error) {
		r, err := scanOverview(row, &at)
		if err == nil && r.Name != "" {
			f(r)
		}
		return struct{}{}, err
	}, selectOverview, id.String(), int64(after))
	if err == nil && at.Revision < 0 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Seen{}, fmt.Errorf("look over fleet %s: %w", id, err)
	}
	return at, nil
}

// scanOverview returns the zero Resource for a fleet that is empty, and for a type of a newer server.
func scanOverview(row pgx.CollectableRow, at *Seen) (r Resource, err error) {
	var slug, name, variant, version, selector *string
	var revision *int64
	var priority *int32
	var derived []byte
	err = row.Scan((*int64)(&at.Revision), (*[16]byte)(&at.Token), &slug, &name, &variant, &revision, &version, &selector, &priority, &derived, &r.Summary, &r.Body)
	if err != nil || slug == nil {
		return Resource{}, err
	}
	t, known := fleet.TypeFromSlug(*slug)
	if !known {
		return Resource{}, nil
	}
	r.Type, r.Name, r.Variant, r.Revision, r.Version, r.Selector, r.Priority = t, *name, *variant, fleet.Revision(*revision), *version, *selector, *priority
	if d, err := decodeDerived(derived); err == nil { // else it is of a newer server, or broken: nothing is known of it
		r.Derived = d
	}
	return r, nil
}
