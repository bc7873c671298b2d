package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// maxRowsAt is how many changed resources ResourcesAt tells.
const maxRowsAt = 20_000

// selectResourcesAt: $1 the fleet, $2 the revision. What changed since then is found by the
// index that the catch-up uses, in words that fit it alone (migrations, resources).
const selectResourcesAt = `
WITH head AS (
  SELECT h.revision, h.token, h.epoch,
         h.compacted <= $2 AND h.revision >= $2
     AND EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = h.tenant_id AND x.fleet_id = h.fleet_id AND x.revision = $2) AS kept
    FROM fleet_heads h
   WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1),
changed AS (
  SELECT r.tenant_id, r.fleet_id, r.type, r.name, r.variant FROM resources r
   WHERE uuid_hash(r.fleet_id) = uuid_hash($1) AND r.revision > $2
     AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM $1)
SELECT h.kept, h.revision, h.token, h.epoch, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM head h
UNION ALL
(SELECT false, NULL, NULL, NULL, c.type, c.name, c.variant, coalesce(x.deleted, true), coalesce(x.revision, $2), coalesce(x.version, ''), coalesce(x.ttl_ms, 0),
        coalesce(x.selector, ''), coalesce(x.priority, 0), (SELECT b.body FROM bodies b WHERE b.tenant_id = c.tenant_id AND b.hash = x.body_hash), x.derived
   FROM (SELECT FROM head WHERE kept) h CROSS JOIN changed c
   LEFT JOIN LATERAL (
     SELECT * FROM resource_history x
      WHERE (x.tenant_id, x.fleet_id, x.type, x.name, x.variant) = (c.tenant_id, c.fleet_id, c.type, c.name, c.variant) AND x.revision <= $2
      ORDER BY x.revision DESC LIMIT 1) x ON true
  LIMIT 20001)`

// ResourcesAt tells how what changed after a revision was at it: what there was not then is
// deleted. A revision that is not kept, of a fleet that is not there, or of before its
// tombstones were forgotten is fleet.ErrNotFound; one that is more than 20,000 changed
// resources ago is fleet.ErrLimit. It works as the node role.
func (s *Store) ResourcesAt(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	rows, _, err := s.resourcesAt(ctx, key, at, func() {})
	return rows, err
}

// resourcesAt also tells where the fleet was then.
func (s *Store) resourcesAt(ctx context.Context, key fleet.Key, at fleet.Revision, alive func()) ([]fleet.Row, fleet.Position, error) {
	var h headAt
	rows, err := manyIn(ctx, s, call{limit: readTimeout, lane: laneFollow}, key.Tenant,
		func(row pgx.CollectableRow) (*fleet.Row, error) { alive(); return scanRowAt(row, &h) }, selectResourcesAt, key.Fleet.String(), int64(at))
	switch {
	case err != nil:
		return nil, fleet.Position{}, fmt.Errorf("read fleet %s at revision %d: %w", key.Fleet, at, err)
	case !h.kept:
		return nil, h.now, fmt.Errorf("revision %d of fleet %s is not kept: %w", at, key.Fleet, fleet.ErrNotFound)
	case len(rows) > 1+maxRowsAt: // the first row is of the head
		return nil, h.now, fmt.Errorf("more than %d resources changed after revision %d of fleet %s: %w", maxRowsAt, at, key.Fleet, fleet.ErrLimit)
	}
	out := make([]fleet.Row, 0, len(rows))
	for _, r := range rows {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, h.now, nil
}

// headAt is where the fleet is, and whether the earlier revision is kept.
type headAt struct {
	kept bool
	now  fleet.Position
}

// scanRowAt is nil for the head's row, and for what cannot be read.
func scanRowAt(row pgx.CollectableRow, h *headAt) (*fleet.Row, error) {
	var kept bool
	var now, epoch *int64
	var token *[16]byte
	var slug, name, variant, version, selector *string
	var deleted *bool
	var revision, ttl *int64
	var priority *int32
	var body, derived []byte
	if err := row.Scan(&kept, &now, &token, &epoch, &slug, &name, &variant, &deleted, &revision, &version, &ttl, &selector, &priority, &body, &derived); err != nil {
		return nil, err
	}
	if slug == nil {
		*h = headAt{kept, fleet.Position{Revision: fleet.Revision(*now), Token: *token, Epoch: *epoch}}
		return nil, nil
	}
	t, found := fleet.TypeFromSlug(*slug)
	d, err := decodeDerived(derived)
	if !found || err != nil {
		return nil, nil //nolint:nilerr // of a newer server, or broken: nothing is known of it
	}
	return &fleet.Row{
		Type: t, Name: *name, Variant: *variant, Deleted: *deleted, Revision: fleet.Revision(*revision), Version: *version,
		TTL: time.Duration(*ttl) * time.Millisecond, Selector: *selector, Priority: *priority, Body: body, Derived: d,
	}, nil
}
