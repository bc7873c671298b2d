package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// LabeledNode is a node as selectors see it.
type LabeledNode struct {
	fleet.Node // without ClientFeature
	// Known: all of its labels are; else Region, Zone, SubZone or MetadataJSON may be missing.
	Known bool
}

const selectLabels = `
SELECT n.node_id, n.cluster, n.user_agent, n.version, n.labels,
       coalesce((SELECT bool_and(s.protocol IN ('REST CDS', 'REST LDS')) FROM node_status s
                  WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id AND s.connected), false)
  FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1`

func scanLabels(row pgx.CollectableRow) (n LabeledNode, err error) {
	var labels []byte
	if err := row.Scan(&n.ID, &n.Cluster, &n.UserAgent, &n.Version, &labels, &n.Polls); err != nil {
		return n, err
	}
	cut, err := decodeLabels(labels, &n.Node)
	n.Known = !cut
	return n, err
}

// NodeLabels returns the labels of the fleet's nodes after the given id, in the order of
// ids, and whether there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) NodeLabels(ctx context.Context, t fleet.TenantID, f fleet.ID, after string, limit int) ([]LabeledNode, bool, error) {
	limit = pageLimit(limit)
	ns, err := many(ctx, s, t, scanLabels, selectLabels+` AND n.node_id > $2 ORDER BY n.node_id LIMIT $3`, f.String(), clean(after, maxNodeID), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read the labels of the nodes of fleet %s: %w", f, err)
	}
	ns, more := page(ns, limit)
	return ns, more, nil
}

// LabelsOf returns the labels of the fleet's nodes from the first id to the last one.
func (s *Store) LabelsOf(ctx context.Context, t fleet.TenantID, f fleet.ID, first, last string) (map[string]LabeledNode, error) {
	ns, err := many(ctx, s, t, scanLabels, selectLabels+` AND n.node_id >= $2 AND n.node_id <= $3`, f.String(), first, last)
	if err != nil {
		return nil, fmt.Errorf("read the labels of nodes of fleet %s: %w", f, err)
	}
	out := make(map[string]LabeledNode, len(ns))
	for _, n := range ns {
		out[n.ID] = n
	}
	return out, nil
}

// OneNodeLabels returns the labels of one node; one that never connected is
// fleet.ErrNotFound.
func (s *Store) OneNodeLabels(ctx context.Context, t fleet.TenantID, f fleet.ID, id string) (LabeledNode, error) {
	n, err := one(ctx, s, t, scanLabels, selectLabels+` AND n.node_id = $2`, f.String(), clean(id, maxNodeID))
	if err != nil {
		return n, fmt.Errorf("read the labels of node %q: %w", id, err)
	}
	return n, nil
}

// NodesOf reads the nodes of these ids, in the order of ids.
func (s *Store) NodesOf(ctx context.Context, t fleet.TenantID, f fleet.ID, ids []string) ([]NodeView, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ns, err := many(ctx, s, t, scanNode, selectNodes+` AND n.node_id = ANY ($3) ORDER BY n.node_id`, f.String(), false, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d nodes of fleet %s: %w", len(ids), f, err)
	}
	return ns, nil
}

// Variants reads what decides about the fleet's variants, and of which revision that is:
// of every named variant, and of those that were deleted, Type, Name, Variant, Revision,
// Deleted, Selector, Priority and Reselected. of, if it is not nil, are the names that it
// is about.
func (s *Store) Variants(ctx context.Context, t fleet.TenantID, f fleet.ID, of []fleet.Ref) ([]fleet.Row, fleet.Revision, error) {
	types, names := make([]string, len(of)), make([]string, len(of))
	for i, ref := range of {
		types[i], names[i] = ref.Type.Slug(), ref.Name
	}
	var at fleet.Revision
	rows, err := many(ctx, s, t, func(row pgx.CollectableRow) (fleet.Row, error) { return scanVariant(row, &at) }, `
SELECT h.revision, r.type, r.name, r.variant, r.revision, r.deleted, r.selector, r.priority, r.reselected
  FROM fleet_heads h
  LEFT JOIN resources r ON r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND r.variant <> ''
   AND ($2 OR (r.type, r.name) IN (SELECT * FROM unnest($3::text[], $4::text[])))
 WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1
 ORDER BY r.type, r.name, r.variant`, f.String(), of == nil, types, names)
	if err != nil {
		return nil, 0, fmt.Errorf("read the variants of fleet %s: %w", f, err)
	}
	if len(rows) == 1 && rows[0].Name == "" {
		rows = nil // the head's alone
	}
	return rows, at, nil
}

func scanVariant(row pgx.CollectableRow, at *fleet.Revision) (r fleet.Row, err error) {
	var slug, name, variant, selector *string
	var revision, reselected *int64
	var priority *int32
	var deleted *bool
	err = row.Scan((*int64)(at), &slug, &name, &variant, &revision, &deleted, &selector, &priority, &reselected)
	if err != nil || slug == nil {
		return r, err
	}
	r = fleet.Row{
		Name: *name, Variant: *variant, Revision: fleet.Revision(*revision), Deleted: *deleted, Selector: *selector, Priority: *priority,
		Reselected: fleet.Revision(*reselected),
	}
	r.Type, _ = fleet.TypeFromSlug(*slug)
	return r, nil
}
