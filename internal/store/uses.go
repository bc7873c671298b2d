package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Used is what is known of a variant of a resource that others use.
type Used struct {
	fleet.Ref
	Variant  string
	Revision fleet.Revision // that changed it last
	Deleted  bool
	Labels   map[string]string
	Refs     []fleet.Ref // what it names itself
}

// selectUsed looks up each name by the beginning of the key, as selectStored does.
const selectUsed = `
SELECT k.type, k.name, r.variant, r.revision, r.deleted, r.labels, r.derived
  FROM unnest($2::text[], $3::text[]) k (type, name)
  JOIN LATERAL (SELECT p.variant, p.revision, p.deleted, p.labels, p.derived FROM resources p
                 WHERE p.tenant_id = app_tenant() AND p.fleet_id = $1 AND p.type = k.type AND p.name = k.name OFFSET 0) r ON true`

// Used reads what is known of the resources that are named, deleted ones too. It costs what is asked for.
func (s *Store) Used(ctx context.Context, t fleet.TenantID, f fleet.ID, of []fleet.Ref) ([]Used, error) {
	if len(of) == 0 {
		return nil, nil
	}
	types, names := make([]string, len(of)), make([]string, len(of))
	for i, r := range of {
		types[i], names[i] = r.Type.Slug(), r.Name
	}
	us, err := manyIn(ctx, s, call{limit: readTimeout, plans: setNames}, t, func(row pgx.CollectableRow) (u Used, err error) {
		var slug string
		var labels, derived []byte
		err = row.Scan(&slug, &u.Name, &u.Variant, (*int64)(&u.Revision), &u.Deleted, &labels, &derived)
		u.Type, _ = fleet.TypeFromSlug(slug) // it was asked for
		if err == nil && len(labels) > 0 {
			err = json.Unmarshal(labels, &u.Labels)
		}
		if d, broken := decodeDerived(derived); broken == nil { // else it is of a newer server: nothing is known of it
			u.Refs = d.Refs
		}
		return u, err
	}, selectUsed, f.String(), types, names)
	if err != nil {
		return nil, fmt.Errorf("look up %d resources of fleet %s that are used: %w", len(of), f, err)
	}
	return us, nil
}

// readJSON is what fleet_must_be_as_read takes.
func readJSON(of []Read) any {
	out := make([]map[string]any, len(of))
	for i, r := range of {
		out[i] = map[string]any{"type": r.Type.Slug(), "name": r.Name, "revision": r.Revision}
	}
	return out
}
