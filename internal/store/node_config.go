package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// NodeConfig is a page of the fleet's resources as one node should hold them, and the
// node's status, all of one moment.
type NodeConfig struct {
	Node      NodeView       // without Refusals
	Revision  fleet.Revision // the fleet's
	Resources []NodeResource // in the order of (type's slug, name)
	More      bool
}

// NodeResource is one resource of the fleet and what the node has against it.
type NodeResource struct {
	Type    fleet.Type
	Name    string
	Variant string      // that the node has
	Present NodeVersion // the fleet's
	// Refusal is of the present version, and stands; nil if there is none.
	Refusal *fleet.Refusal
	// Good is the version that stands in for a refused one; its Version is "" if none
	// does. Of one that the history does not hold any more Revision and TTL are zero.
	Good NodeVersion
	// GoodRefused is the node's refusal of Good as well, its Action and Beside alone; nil if it
	// did not refuse it.
	GoodRefused *fleet.Refusal
	// Keeps is what Good names and the fleet has deleted: it stays with the node.
	Keeps []fleet.Ref
	// Unreferenced: the node, or every client, asks for resources of its type by name, and nothing in the fleet names it.
	Unreferenced bool
	// OnDemand: of all clusters, which the node asks for, it is none: it is sent to who asks for it by its name, which is not told.
	OnDemand bool
	// Unasked: it is one of these, and something in the fleet names it, but nothing that the node has.
	Unasked bool
}

// NodeVersion is a version of a resource.
type NodeVersion struct {
	Version  string
	Revision fleet.Revision // the one that brought it
	TTL      time.Duration
}

// What a resource is to a node, for ConfigFilter.
const (
	ConfigSynced  = "synced"  // the node has settled at the revision that brought it, or beyond
	ConfigPending = "pending" // it has not, or the resource is withheld from it
	ConfigRefused = "refused" // it refused it
	ConfigAbsent  = "absent"  // it refused it, and it was taken away from the node
	// ConfigUnreferenced is settled, of a type that clients ask for by name, and nothing in the fleet names it.
	ConfigUnreferenced = "unreferenced"
	// ConfigNotSubscribed is settled, and the node does not ask for it.
	ConfigNotSubscribed = "not_subscribed"
	// ConfigOnDemand is settled, and delivered by name alone: whether the node has asked for it is not told.
	ConfigOnDemand = "on_demand"
)

// ConfigFilter says which of a node's resources a page is about.
type ConfigFilter struct {
	Type  *fleet.Type // nil: every type
	Name  string      // "": every name
	State string      // ConfigSynced, ...; "": every state
	After Cursor      // without variant
	Limit int         // 0 is 100; the most is 1000
	// Choices are the names of which the node may have another variant than the default one,
	// each once.
	Choices []Choice
}

// Choice says which variant of a name a node has.
type Choice struct {
	fleet.Ref
	Variant string         // "" for the default variant, if there is one
	Moved   fleet.Revision // the last revision that may have brought it to the node by another's leave
}

// broughtBy is the revision that brought the given version of a variant of the resource r:
// the first of its last run, which a tombstone ends like another version. History that was
// cut makes it later, never earlier.
func broughtBy(version, variant string) string {
	key := `h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.type = r.type AND h.name = r.name AND h.variant = ` + variant
	last := `(SELECT max(h.revision) FROM resource_history h WHERE ` + key + ` AND h.version = ` + version + `)`
	other := `(SELECT max(h.revision) FROM resource_history h WHERE ` + key + ` AND h.revision < ` + last + ` AND h.version <> ` + version + `)`
	return `(SELECT min(h.revision) FROM resource_history h WHERE ` + key + ` AND h.revision <= ` + last + ` AND h.revision > coalesce(` + other + `, 0))`
}

// takenAway tells of a refusal x that the node was left without the resource.
const takenAway = `x.good = '' AND x.action IN ('removed', 'frozen')`

// refusalOf is what stands of the node's refusals of a version of r, in a place where r is
// known.
func refusalOf(version string) string {
	return `SELECT e.version, e.revision, e.good, e.action, e.beside, e.at, e.text_hash FROM refusals e
       WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = $2 AND e.type = r.type AND e.name = r.name AND e.version = ` + version + `
         AND ` + stands("e") + ` ORDER BY e.revision DESC LIMIT 1`
}

// selectNodeConfig is one statement, so it sees one snapshot. $1 the fleet, $2 the node,
// $3 the types, $4 and $5 the place after which to begin, $6 the limit, $7 the state, $8 the
// choices, {"type/name": [variant, moved]}: neither they nor the refusals are joined, each resource looks its own up. The
// state is worked out here for the filter alone: what stands in for what is decided by
// package snapshot. There is a row for the node even where there is no resource.
var selectNodeConfig = `
WITH RECURSIVE node (node_id, cluster, user_agent, version, protocol, streams, remote_addr, server, credential_id, credential_ends, first_seen, last_seen, since, settled, connections, duplicates, frozen, waits, subscribes, refusing) AS (
  SELECT ` + nodeColumns + `,
         EXISTS (SELECT FROM refusals e WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = $2 AND ` + stands("e") + `)
    FROM nodes n LEFT JOIN LATERAL (` + nodeFacts + `) f ON true
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.node_id = $2),
held (type, name) AS (` + selectHeldByName + `),
by_name (names) AS MATERIALIZED (SELECT jsonb_object_agg(held.type || '/' || held.name, 0) FROM held),
r AS MATERIALIZED (
  SELECT r.type, r.name, r.variant, o.moved, w.version, greatest(r.revision, r.served_revision) AS revision, r.served_revision > 0 AS built, ` + onDemand + ` AS on_demand, r.ttl_ms, x.good, x.action, x.beside, x.at, x.text_hash, x.revision AS refused_revision
    FROM node CROSS JOIN resources r
    CROSS JOIN LATERAL (SELECT coalesce(r.served_version, r.version) AS version OFFSET 0) w
    LEFT JOIN LATERAL (` + refusalOf("w.version") + `) x ON true
    LEFT JOIN LATERAL (SELECT c->>0 AS variant, (c->>1)::bigint AS moved FROM (SELECT $8::jsonb->(r.type || '/' || r.name) AS c) c) o ON true
   WHERE r.tenant_id = app_tenant() AND r.fleet_id = $1 AND (NOT r.deleted OR r.served_version IS NOT NULL) AND r.variant = coalesce(o.variant, '')
     AND r.type = ANY ($3) AND (r.type, r.name) > ($4, $5) AND ($9 = '' OR r.name = $9)
     AND CASE $7
         WHEN '' THEN true
         WHEN 'unmatched' THEN false
         WHEN '` + ConfigAbsent + `' THEN ` + takenAway + `
         WHEN '` + ConfigRefused + `' THEN x.version IS NOT NULL AND NOT (` + takenAway + `)
         ELSE x.version IS NULL AND ($7 = '` + ConfigPending + `'
           OR $7 = CASE WHEN ` + unnamed + ` THEN '` + ConfigUnreferenced + `' WHEN ` + excluded + ` OR ` + unasked + ` THEN '` + ConfigNotSubscribed + `' WHEN ` + onDemand + ` THEN '` + ConfigOnDemand + `' ELSE '` + ConfigSynced + `' END) AND ($7 <> '` + ConfigPending + `') = (coalesce(o.moved, 0) <= node.settled AND (greatest(r.revision, r.served_revision) <= node.settled OR r.served_revision = 0 AND ` + broughtBy("r.version", "r.variant") + ` <= node.settled)
           AND NOT EXISTS (SELECT FROM jsonb_path_query(node.waits, '$[*].withheld') l CROSS JOIN jsonb_array_elements(l) h
                            WHERE h->>0 = r.type AND h->>1 = r.name)) END
   ORDER BY r.type, r.name LIMIT $6)
SELECT node.*, h.revision,
       r.type, r.name, r.variant, r.version, greatest(r.moved, CASE WHEN r.built THEN r.revision ELSE coalesce(` + broughtBy("r.version", "r.variant") + `, r.revision) END), r.ttl_ms,
       coalesce(` + unnamed + `, false), coalesce(` + unasked + `, false), coalesce(r.on_demand, false), r.refused_revision, (SELECT t.text FROM nack_texts t WHERE t.tenant_id = app_tenant() AND t.fleet_id = $1 AND t.hash = r.text_hash), r.action, r.beside, r.at, r.good,
       g.brought, g.ttl_ms, y.action, y.beside,
       (SELECT jsonb_agg(ref ORDER BY ref)
          FROM jsonb_array_elements(g.derived->'refs') ref CROSS JOIN LATERAL (
            SELECT d.deleted AND d.served_version IS NULL AS deleted FROM resources d WHERE d.tenant_id = app_tenant() AND d.fleet_id = $1 AND d.type = ref->>0
               AND d.name = ref->>1 ORDER BY 1 LIMIT 1) d
         WHERE d.deleted)
  FROM node JOIN fleet_heads h ON h.tenant_id = app_tenant() AND h.fleet_id = $1
  LEFT JOIN r ON true
  LEFT JOIN LATERAL (
    SELECT o.ttl_ms, o.derived, ` + broughtBy("r.good", "o.variant") + ` AS brought FROM resource_history o
     WHERE r.good <> '' AND o.tenant_id = app_tenant() AND o.fleet_id = $1 AND o.type = r.type AND o.name = r.name
       AND NOT o.deleted AND o.version = r.good
     ORDER BY o.revision DESC LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM (` + refusalOf("r.good") + `) y WHERE r.good <> '') y ON true
 ORDER BY r.type, r.name`

// NodeConfig reads a page of what a node should hold. A node that never connected is
// fleet.ErrNotFound. The cost of a page follows the fleet where a state is asked for, and
// never touches a body.
func (s *Store) NodeConfig(ctx context.Context, t fleet.TenantID, f fleet.ID, id string, q ConfigFilter) (NodeConfig, error) {
	limit := pageLimit(q.Limit)
	types := slugs(fleet.Types())
	if q.Type != nil {
		types = slugs([]fleet.Type{*q.Type})
	}
	after := ""
	if q.After != (Cursor{}) {
		after = q.After.Type.Slug()
	}
	choices := make(map[string][2]any, len(q.Choices))
	for _, c := range q.Choices {
		choices[c.Type.Slug()+"/"+c.Name] = [2]any{c.Variant, int64(c.Moved)}
	}
	choice, err := json.Marshal(choices)
	if err != nil {
		return NodeConfig{}, fmt.Errorf("encode the variants of node %q: %w", id, err)
	}
	var out NodeConfig
	rows, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, out.scan, selectNodeConfig,
		f.String(), clean(id, maxNodeID), types, after, q.After.Name, limit+1, q.State, choice, clean(q.Name, MaxName))
	if err == nil && len(rows) == 0 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return NodeConfig{}, fmt.Errorf("read the configuration of node %q: %w", id, err)
	}
	for _, r := range rows {
		if r != nil {
			out.Resources = append(out.Resources, *r)
		}
	}
	out.Resources, out.More = page(out.Resources, limit)
	return out, nil
}

// scan reads a row of selectNodeConfig; nil if it is the node's alone.
func (c *NodeConfig) scan(row pgx.CollectableRow) (*NodeResource, error) {
	var slug, name, variant, version, detail, action, good, goodAction *string
	var brought, ttl, refused, goodBrought, goodTTL *int64
	var at *time.Time
	var refusing, lost, unasked, byName bool
	var beside, goodBeside *bool
	var keeps []byte
	err := scanStatus(row, &c.Node, &refusing, (*int64)(&c.Revision), &slug, &name, &variant, &version, &brought, &ttl,
		&lost, &unasked, &byName, &refused, &detail, &action, &beside, &at, &good, &goodBrought, &goodTTL, &goodAction, &goodBeside, &keeps)
	if err != nil {
		return nil, err
	}
	c.Node.State = nodeState(c.Node.Connections, refusing)
	if slug == nil {
		return nil, nil //nolint:nilnil // the node holds nothing
	}
	r := &NodeResource{Name: *name, Variant: *variant, Unreferenced: lost, Unasked: unasked, OnDemand: byName, Present: NodeVersion{*version, fleet.Revision(*brought), milliseconds(ttl)}}
	r.Type, _ = fleet.TypeFromSlug(*slug) // the query asks for known types alone
	if refused == nil {
		return r, nil
	}
	r.Refusal = &fleet.Refusal{
		Node: c.Node.ID, Type: r.Type, Name: r.Name, Version: *version, Revision: fleet.Revision(*refused),
		Detail: *detail, Action: actionOf(action), Beside: *beside, At: at.UTC(), Good: *good,
	}
	r.Good = NodeVersion{Version: *good, TTL: milliseconds(goodTTL)}
	if goodBrought != nil {
		r.Good.Revision = fleet.Revision(*goodBrought)
	}
	if goodAction != nil {
		r.GoodRefused = &fleet.Refusal{Action: actionOf(goodAction), Beside: *goodBeside}
	}
	r.Keeps, err = decodeRefs(keeps)
	return r, err
}

func milliseconds(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}

func decodeRefs(b []byte) ([]fleet.Ref, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var js [][2]string
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode references: %w", err)
	}
	return refsOf(js), nil
}
