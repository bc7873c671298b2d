package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// HeldVersion is a version of a resource that a node holds, and what it says.
type HeldVersion struct {
	fleet.Ref
	Version string

	Body    []byte // nil of a Secret, and of what is not kept any more
	Summary []byte // JSON; of a Secret, what may be shown of it
}

// selectHeld looks up each where it most likely is: in force in the fleet, in its history, or, of one that stands in for what the
// node $2 refused and that the history has forgotten, beside the refusal. Behind LIMIT it cannot become a join.
const selectHeld = `
SELECT k.ord, CASE WHEN k.type <> 'secrets' THEN coalesce(v.body, (SELECT b.body FROM bodies b WHERE b.tenant_id = app_tenant() AND b.hash = v.body_hash)) END, v.summary
  FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY k (type, name, version, ord)
 CROSS JOIN LATERAL (
   (SELECT r.body_hash, r.summary, NULL::bytea AS body FROM resources r
     WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND r.type = k.type AND r.name = k.name AND r.version = k.version AND NOT r.deleted LIMIT 1)
   UNION ALL
   (SELECT h.body_hash, h.summary, NULL FROM resource_history h
     WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.type = k.type AND h.name = k.name AND h.version = k.version AND NOT h.deleted LIMIT 1)
   UNION ALL
   (SELECT e.good_hash, NULL, NULL FROM refusals e
     WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = $2 AND e.type = k.type AND e.name = k.name AND e.good = k.version
       AND e.good_hash IS NOT NULL LIMIT 1)
   UNION ALL
   (SELECT NULL, NULL, r.served_body FROM resources r
     WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND r.type = k.type AND r.name = k.name AND r.served_version = k.version LIMIT 1)
   LIMIT 1) v`

// HeldBodies sets Body and Summary of versions that a node holds. It costs what is asked for, of each at most the
// history of its name.
func (s *Store) HeldBodies(ctx context.Context, t fleet.TenantID, f fleet.ID, node string, of []HeldVersion) error {
	if len(of) == 0 {
		return nil
	}
	types, names, versions := make([]string, len(of)), make([]string, len(of)), make([]string, len(of))
	for i, v := range of {
		types[i], names[i], versions[i] = v.Type.Slug(), v.Name, v.Version
	}
	_, err := manyIn(ctx, s, call{limit: longTimeout}, t, func(row pgx.CollectableRow) (struct{}, error) {
		var ord int64
		var body, summary []byte
		err := row.Scan(&ord, &body, &summary)
		if err == nil {
			of[ord-1].Body, of[ord-1].Summary = body, summary
		}
		return struct{}{}, err
	}, selectHeld, f.String(), clean(node, maxNodeID), types, names, versions)
	if err != nil {
		return fmt.Errorf("read %d bodies that node %q holds: %w", len(of), node, err)
	}
	return nil
}
