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

// maxRowsBack is how many changed resources ChangesUpTo tells, and one of a revision that may be told in part.
const maxRowsBack = 1_000

// selectChangesUpTo: $1 the fleet, $2 the revision. A thousand resources may be a GiB, which any client that comes back would have a server read and keep.
const selectChangesUpTo = `
WITH head AS (
  SELECT h.revision, h.token, h.epoch, h.compacted FROM fleet_heads h WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1)
SELECT h.revision >= $2, h.revision, h.token, h.epoch, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM head h
UNION ALL
(SELECT false, NULL, NULL, NULL, x.type, x.name, x.variant, x.deleted, x.revision, x.version, x.ttl_ms, x.selector, x.priority,
        (SELECT b.body FROM bodies b WHERE b.tenant_id = x.tenant_id AND b.hash = x.body_hash), x.derived
   FROM (SELECT y.*, sum(y.bytes) OVER (ORDER BY y.revision DESC ROWS UNBOUNDED PRECEDING) AS so_far
           FROM (SELECT r.* FROM resource_history r
                  WHERE uuid_hash(r.fleet_id) = uuid_hash($1) AND r.revision > greatest($2 - 64, (SELECT compacted FROM head)) AND r.revision <= $2
                    AND r.tenant_id IS NOT DISTINCT FROM app_tenant() AND r.fleet_id IS NOT DISTINCT FROM $1
                  ORDER BY r.revision DESC LIMIT 1001) y) x
  WHERE x.so_far <= 16777216)`

// ChangesUpTo tells what each revision up to one changed, in any order: of the newest 64, of 1,000 resources, and of 16 MiB, at most. The oldest may not
// be told whole. A fleet that is not there, or has not come so far, is fleet.ErrNotFound. It works as the node role.
func (s *Store) ChangesUpTo(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	rows, _, err := s.changesUpTo(ctx, key, at, func() {})
	return rows, err
}

func (s *Store) changesUpTo(ctx context.Context, key fleet.Key, at fleet.Revision, alive func()) ([]fleet.Row, fleet.Position, error) {
	return s.earlierRows(ctx, selectChangesUpTo, 1+maxRowsBack, key, at, alive)
}

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
	return s.earlierRows(ctx, selectResourcesAt, maxRowsAt, key, at, alive)
}

// earlierRows reads rows of the history, and where the fleet is now.
func (s *Store) earlierRows(ctx context.Context, query string, most int, key fleet.Key, at fleet.Revision, alive func()) ([]fleet.Row, fleet.Position, error) {
	var h headAt
	rows, err := manyIn(ctx, s, call{limit: readTimeout, lane: laneFollow}, key.Tenant,
		func(row pgx.CollectableRow) (*fleet.Row, error) { alive(); return scanRowAt(row, &h) }, query, key.Fleet.String(), int64(at))
	switch {
	case err != nil:
		return nil, fleet.Position{}, fmt.Errorf("read fleet %s at revision %d: %w", key.Fleet, at, err)
	case !h.kept:
		return nil, h.now, fmt.Errorf("revision %d of fleet %s is not kept: %w", at, key.Fleet, fleet.ErrNotFound)
	case len(rows) > 1+most: // the first row is of the head
		return nil, h.now, fmt.Errorf("more than %d resources changed after revision %d of fleet %s: %w", most, at, key.Fleet, fleet.ErrLimit)
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
