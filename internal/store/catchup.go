package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// knownFleets is what a reader holds, as a table; $1 to $5 are knownArgs. A fleet is one
// that moved if its head differs in any of the three; they are compared with <>, never
// with >, so a head that a failover has set back counts too.
const (
	knownFleets = `
k AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[]) WITH ORDINALITY
    AS k (tenant_id, fleet_id, revision, token, epoch, ord))`
	headMoved = `
 (h.fleet_id IS NULL OR h.deleted_at IS NOT NULL OR (h.revision, h.token, h.epoch) IS DISTINCT FROM (k.revision, k.token, k.epoch))`
)

// servedColumns are of a row r of resources what is told of it: what is served, which of endpoints may be more than the document,
// or something without one.
const servedColumns = `false, false, false, false, greatest(r.revision, r.served_revision), h.fleet_id, 0, r.updated_at, r.updated_at, NULL, NULL, '',
         r.type, r.name, r.variant, r.deleted AND r.served_version IS NULL, coalesce(r.served_version, r.version), r.ttl_ms, r.selector, r.priority, r.reselected,
         coalesce(r.served_body, (SELECT b.body FROM bodies b WHERE r.served_version IS NULL AND b.tenant_id = r.tenant_id AND b.hash = r.body_hash)), r.derived`

// selectChanges is one statement, so it sees one snapshot. Of every fleet that moved
// there is one head row, with the credentials, without those that ended more than a day
// ago, and the nodes to be offered again what they refused if the epoch is another one, and
// a row for each resource that is to be told. A position that the fleet's history does not hold -
// compacted away, or of a timeline that a failover has lost - gets everything, the
// tombstones that are kept too. What
// changed is asked for so that only the index made for it fits (migrations, resources).
const selectChanges = `
WITH ` + knownFleets + `,
h AS MATERIALIZED (
  SELECT k.ord, k.tenant_id, k.fleet_id, k.revision AS known, h.fleet_id IS NULL OR h.deleted_at IS NOT NULL AS gone,
         NOT ((k.revision, k.token) = (h.revision, h.token)
              OR k.revision > 0 AND k.revision >= h.compacted AND k.revision < h.revision
                 AND EXISTS (SELECT FROM fleet_history x WHERE x.tenant_id = k.tenant_id AND x.fleet_id = k.fleet_id
                              AND x.revision = k.revision AND x.token = k.token)) AS reload,
         h.epoch IS DISTINCT FROM k.epoch AS epoch_moved, k.epoch AS known_epoch, h.node_ids, h.revision, h.token, h.epoch, h.changed_at, h.compacted
    FROM k LEFT JOIN fleet_heads h ON h.tenant_id = k.tenant_id AND h.fleet_id = k.fleet_id
   WHERE ` + headMoved + `)
SELECT h.ord - 1, x.* FROM h CROSS JOIN LATERAL (
  SELECT true, h.gone, coalesce(h.reload, false), coalesce(h.epoch_moved, false), coalesce(h.revision, 0),
         coalesce(h.token, h.fleet_id), coalesce(h.epoch, 0), coalesce(h.changed_at, clock_timestamp()), clock_timestamp(),
         CASE WHEN h.epoch_moved AND NOT h.gone THEN (
           SELECT jsonb_agg(jsonb_build_object('id', c.id, 'hash', encode(c.hash, 'hex'), 'nodes', c.nodes,
                                               'expires', c.expires_at, 'revoked', c.revoked_at) ORDER BY c.id)
             FROM node_credentials c WHERE c.tenant_id = h.tenant_id AND c.fleet_id = h.fleet_id
              AND coalesce(least(c.revoked_at, c.expires_at) > clock_timestamp() - interval '1 day', true)) END,
         CASE WHEN h.epoch_moved AND h.known_epoch > 0 THEN (
           SELECT jsonb_agg(n.node_id ORDER BY n.node_id) FROM node_retries n
            WHERE n.tenant_id = h.tenant_id AND n.fleet_id = h.fleet_id AND n.epoch > h.known_epoch) END,
         coalesce(h.node_ids, ''),
         '', '', '', false, '', 0::bigint, '', 0, coalesce(h.compacted, 0), NULL::bytea, NULL::jsonb
  UNION ALL
  SELECT ` + servedColumns + `
    FROM resources r
   WHERE NOT h.gone AND NOT h.reload AND uuid_hash(r.fleet_id) = uuid_hash(h.fleet_id) AND r.revision > h.known
     AND r.tenant_id IS NOT DISTINCT FROM h.tenant_id AND r.fleet_id IS NOT DISTINCT FROM h.fleet_id
  UNION ALL
  SELECT ` + servedColumns + `
    FROM resources r
   WHERE NOT h.gone AND NOT h.reload AND uuid_hash(r.fleet_id) = uuid_hash(h.fleet_id) AND r.served_revision > 0 AND r.served_revision > h.known AND r.revision <= h.known
     AND r.tenant_id IS NOT DISTINCT FROM h.tenant_id AND r.fleet_id IS NOT DISTINCT FROM h.fleet_id
  UNION ALL
  SELECT ` + servedColumns + `
    FROM resources r
   WHERE NOT h.gone AND h.reload AND r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id
) x`

const selectMoved = `
WITH ` + knownFleets + `
SELECT k.tenant_id, k.fleet_id FROM k LEFT JOIN fleet_heads h ON h.tenant_id = k.tenant_id AND h.fleet_id = k.fleet_id
 WHERE ` + headMoved

func knownArgs(known []fleet.Known) []any {
	n := len(known)
	tenants, fleets, tokens := make([][16]byte, n), make([][16]byte, n), make([][16]byte, n)
	revisions, epochs := make([]int64, n), make([]int64, n)
	for i, k := range known {
		tenants[i], fleets[i], tokens[i] = k.Key.Tenant, k.Key.Fleet, k.At.Token
		revisions[i], epochs[i] = int64(k.At.Revision), k.At.Epoch
	}
	return []any{tenants, fleets, revisions, tokens, epochs}
}

// CatchUp tells, of every known fleet that is not where its reader holds it, what the
// reader has to do, all at one moment. A fleet that has not moved is not in the answer.
// A row that cannot be read is told as broken and holds nothing else up.
// It works as the node role.
func (s *Store) CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error) {
	return s.catchUp(ctx, known, func() {})
}

// catchUp calls alive with each row.
func (s *Store) catchUp(ctx context.Context, known []fleet.Known, alive func()) ([]fleet.Change, error) {
	r := changeReader{known: known, alive: alive, index: make(map[int64]int, len(known))}
	l := laneFollow
	if slices.ContainsFunc(known, func(k fleet.Known) bool { return k.At == fleet.Position{} }) {
		l = laneReload
	}
	if err := s.feed(ctx, l, selectChanges, known, r.read); err != nil {
		return nil, fmt.Errorf("catch up %d fleets: %w", len(known), err)
	}
	return r.changes, nil
}

// Moved tells which of the known fleets are not where their reader holds them, the
// deleted and unknown among them. It costs one index lookup per fleet. It works as the
// node role.
func (s *Store) Moved(ctx context.Context, known []fleet.Known) ([]fleet.Key, error) {
	var moved []fleet.Key
	err := s.feed(ctx, laneRequest, selectMoved, known, func(rows pgx.Rows) (err error) {
		moved, err = pgx.AppendRows(moved, rows, func(row pgx.CollectableRow) (k fleet.Key, err error) {
			return k, row.Scan((*[16]byte)(&k.Tenant), (*[16]byte)(&k.Fleet))
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for moved fleets among %d: %w", len(known), err)
	}
	return moved, nil
}

// feed runs one of the two statements that look across tenants. Under another role than
// the node's, row-level security would show no fleet at all, and all would seem gone.
func (s *Store) feed(ctx context.Context, l lane, sql string, known []fleet.Known, read func(pgx.Rows) error) error {
	if !s.node {
		return fmt.Errorf("%w: only the role fairlead_node reads the feed", fleet.ErrForbidden)
	}
	if len(known) == 0 {
		return nil
	}
	c := call{limit: loadTimeout, lane: l, times: s.patience}
	b := &pgx.Batch{}
	b.Queue(setPlans, c.statementTimeout())
	b.Queue(sql, knownArgs(known)...).Query(read)
	return kind(c.timeout(s.send(ctx, c, b)))
}

// changeReader sorts the rows of selectChanges into changes, in whatever order they come.
type changeReader struct {
	known   []fleet.Known
	alive   func()
	index   map[int64]int // place in known -> place in changes
	changes []fleet.Change
}

// changeRow is one row of selectChanges.
type changeRow struct {
	ord                            int64
	head, gone, reload, epochMoved bool
	at                             fleet.Position
	changed, now                   time.Time
	credentials, retries           []byte
	nodeIDs                        string
	slug                           string
	row                            fleet.Row
	ttl                            int64
	// floor is of a row the revision that reselected it, of the head the one up to which
	// tombstones are compacted.
	floor   fleet.Revision
	derived []byte
}

func (r *changeReader) read(rows pgx.Rows) error {
	for rows.Next() {
		r.alive()
		var v changeRow
		err := rows.Scan(&v.ord, &v.head, &v.gone, &v.reload, &v.epochMoved, (*int64)(&v.at.Revision), (*[16]byte)(&v.at.Token), &v.at.Epoch,
			&v.changed, &v.now, &v.credentials, &v.retries, &v.nodeIDs, &v.slug, &v.row.Name, &v.row.Variant, &v.row.Deleted, &v.row.Version, &v.ttl,
			&v.row.Selector, &v.row.Priority, (*int64)(&v.floor), &v.row.Body, &v.derived)
		if err != nil {
			return err
		}
		if err := r.add(v); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (r *changeReader) add(v changeRow) error {
	i, ok := r.index[v.ord]
	if !ok {
		i = len(r.changes)
		r.index[v.ord], r.changes = i, append(r.changes, fleet.Change{Key: r.known[v.ord].Key})
	}
	c := &r.changes[i]
	switch {
	case v.head && v.gone:
		c.Gone = true
		return nil
	case v.head:
		c.NodeIDs = v.nodeIDs
		c.At, c.Reload, c.EpochMoved, c.Compacted, c.CommittedAt, c.Now = v.at, v.reload, v.epochMoved, v.floor, v.changed.UTC(), v.now.UTC()
		if len(v.retries) > 0 {
			if err := json.Unmarshal(v.retries, &c.Retries); err != nil {
				return fmt.Errorf("decode retries: %w", err)
			}
		}
		var err error
		c.Credentials, err = decodeCredentials(v.credentials)
		return err
	}
	t, ok := fleet.TypeFromSlug(v.slug)
	if !ok {
		return nil // a newer writer's type: this build does not serve it
	}
	v.row.Type, v.row.Revision, v.row.Reselected, v.row.TTL = t, v.at.Revision, v.floor, time.Duration(v.ttl)*time.Millisecond
	if d, err := decodeDerived(v.derived); err == nil {
		v.row.Derived = d
		c.Rows = append(c.Rows, v.row)
	} else { // one row must not hold up the fleet
		c.Broken = append(c.Broken, fleet.Broken{
			Ref: fleet.Ref{Type: t, Name: v.row.Name}, Variant: v.row.Variant, Revision: v.row.Revision, Reason: err.Error(),
		})
	}
	return nil
}

func decodeCredentials(b []byte) ([]fleet.Credential, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var js []struct {
		ID, Hash, Nodes  string
		Expires, Revoked *time.Time
	}
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode credentials: %w", err)
	}
	cs := make([]fleet.Credential, len(js))
	for i, j := range js {
		id, err := fleet.ParseCredentialID(j.ID)
		if err != nil {
			return nil, err
		}
		hash, err := hex.DecodeString(j.Hash)
		if err != nil {
			return nil, fmt.Errorf("decode credential %s: %w", id, err)
		}
		cs[i] = fleet.Credential{ID: id, Hash: hashOf(hash), Nodes: j.Nodes, ExpiresAt: timeOrZero(j.Expires), RevokedAt: timeOrZero(j.Revoked)}
	}
	return cs, nil
}
