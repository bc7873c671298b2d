package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectLastStreams is one statement: $1 the fleet, $2 the nodes, $3 for each the server whose
// own row is left out, $4 how many rows there may be. A stream whose server died ended with the
// lease, whatever the row says; one that lives has not ended, so its row comes last of all. There
// is a row for each refusal that stands, or has ended with the revision that the node settled or later, and one for a node
// where there is none. What was withheld from it when it settled it had not, so it counts as settled before that.
// Each node is looked up by its key, whatever the planner thinks of how many there are. What
// stands in comes once, with the first node that has it: a crowd may have refused the same.
var selectLastStreams = `
SELECT x.*, CASE WHEN x.first THEN (SELECT b.body FROM bodies b WHERE b.tenant_id = app_tenant() AND b.hash = x.good_hash) END
  FROM (
SELECT n.ord - 1 AS ord, p.known, coalesce(p.settled, 0), coalesce(p.passed, 0), p.waits, coalesce(p.clean, false), p.live, p.ended, coalesce(p.view, ''), coalesce(p.offer, 0),
       coalesce(e.resolved_by, 0), coalesce(e.offer, 0), e.type, e.name, e.version, e.revision, t.text, e.action, e.beside, e.rival, e.rival_version, e.at, e.good, e.good_revision, e.good_ttl_ms, e.good_derived,
       e.good_hash, e.good_hash IS NOT NULL AND row_number() OVER (PARTITION BY e.good_hash ORDER BY n.ord) = 1 AS first
  FROM unnest($2::text[], $3::uuid[]) WITH ORDINALITY AS n (node_id, without, ord)
 CROSS JOIN LATERAL (
  WITH every AS (
    SELECT s.server_id, s.clean AND NOT s.connected AS clean, s.view,
           least(coalesce(s.settled, v.settled, 0), (SELECT min(w::bigint) - 1 FROM jsonb_path_query(s.waits, '$.withheld[*][4] ? (@ > 0)') w)) AS settled,
           coalesce(s.settled, v.settled, 0) AS passed, s.waits,
           s.connected AND coalesce(x.lease_until > clock_timestamp(), false) AS live, s.protocol, s.since,
           CASE WHEN s.connected THEN coalesce(x.lease_until, s.since) ELSE s.since END AS ended
      FROM node_status s
      LEFT JOIN server_settled v ON v.tenant_id = s.tenant_id AND v.fleet_id = s.fleet_id AND v.server_id = s.server_id
      LEFT JOIN xds_servers x ON x.server_id = s.server_id
     WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = n.node_id),
  s AS (SELECT * FROM every WHERE server_id <> n.without),
  last AS (SELECT * FROM s ORDER BY live, ended DESC, clean, settled LIMIT 1),
  counts AS (
    SELECT s.* FROM s WHERE live OR ended > (SELECT min(since) FROM s WHERE live)
     UNION ALL
    SELECT * FROM last WHERE NOT EXISTS (SELECT FROM s WHERE live)),
  held AS (SELECT passed, waits FROM counts WHERE (SELECT count(*) FROM counts) = 1)
  SELECT EXISTS (SELECT FROM nodes k WHERE k.tenant_id = app_tenant() AND k.fleet_id = $1 AND k.node_id = n.node_id) AS known,
         (SELECT min(settled) FROM counts) AS settled, (SELECT passed FROM held) AS passed, (SELECT jsonb_build_array(waits) FROM held WHERE waits IS NOT NULL) AS waits,
         (SELECT clean AND NOT EXISTS (SELECT FROM s WHERE live) FROM last) AS clean,
         (SELECT array_agg(protocol ORDER BY protocol) FROM s WHERE live) AS live,
         coalesce((SELECT max(since) FROM s WHERE live), (SELECT ended FROM last)) AS ended,
         CASE WHEN EXISTS (SELECT FROM s WHERE live)
              THEN (SELECT CASE WHEN count(DISTINCT view) = 1 THEN min(view) ELSE '?' END FROM s WHERE live) -- of several: another one
              ELSE (SELECT view FROM last) END AS view,
         (SELECT max(o.offer) FROM refusals o WHERE o.tenant_id = app_tenant() AND o.fleet_id = $1 AND o.node_id = n.node_id) AS offer,
         (SELECT min(settled) FROM every) AS least) p
  LEFT JOIN LATERAL (
    SELECT x.tenant_id, x.fleet_id, x.type, x.name, x.version, x.revision, x.text_hash, x.action, x.beside, x.rival, x.rival_version, x.at, x.good, x.good_hash, x.good_revision,
           x.good_ttl_ms, x.good_derived, x.offer, coalesce(x.resolved_by, end_of.revision) AS resolved_by
      FROM refusals x ` + ended("x") + `
     WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.node_id = n.node_id
       AND (x.resolved_by IS NULL AND end_of.revision IS NULL OR coalesce(x.resolved_by, end_of.revision) >= p.least)
     ORDER BY coalesce(x.resolved_by, end_of.revision) DESC NULLS FIRST, x.type, x.name, x.revision DESC, x.version LIMIT 1000) e ON p.known
  LEFT JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash
 ORDER BY n.ord, e.resolved_by IS NOT NULL, e.type, e.name, e.revision DESC, e.version
 LIMIT $4) x`

// maxLastStreamRows is how many refusals an answer has at most, with all that is said of them:
// more than one node can have.
const maxLastStreamRows = 4_000

// LastStreams reads what a server has to know of nodes that come to it, in their order: of all,
// or of the first ones if they have refused very much. A node that the fleet has not seen is no
// error. It works as the node role.
func (s *Store) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	ids, without := make([]string, len(nodes)), make([][16]byte, len(nodes))
	for i, n := range nodes {
		ids[i], without[i] = clean(n.Node, maxNodeID), n.Without
	}
	r := lastStreamReader{nodes: nodes, all: make([]fleet.LastStream, len(nodes)), bodies: make(map[string][]byte), hashes: make(map[*fleet.Row]string)}
	_, err := manyIn(ctx, s, call{limit: readTimeout, lane: laneFollow}, key.Tenant, r.scan, selectLastStreams, key.Fleet.String(), ids, without, maxLastStreamRows)
	if err != nil {
		return nil, fmt.Errorf("read the last streams of %d nodes: %w", len(nodes), err)
	}
	return r.read(), nil
}

// lastStreamReader sorts the rows of selectLastStreams into nodes.
type lastStreamReader struct {
	nodes  []fleet.AskedNode
	all    []fleet.LastStream
	rows   int
	last   int64                 // the node of the last row
	bodies map[string][]byte     // by hash
	hashes map[*fleet.Row]string // of what stands in: its bytes may come with another row
}

// read returns those that are whole: where the answer was cut, the last one is not.
func (r *lastStreamReader) read() []fleet.LastStream {
	for _, x := range r.all {
		for _, fs := range [][]fleet.Refusal{x.Refusals, x.Ended} {
			for i := range fs {
				fs[i].Row = r.whole(fs[i].Row)
			}
		}
	}
	if r.rows == maxLastStreamRows {
		return r.all[:r.last]
	}
	return r.all
}

// whole gives what stands in its bytes; nil if they are lost.
func (r *lastStreamReader) whole(row *fleet.Row) *fleet.Row {
	body := r.bodies[r.hashes[row]]
	if row == nil || body == nil {
		return nil
	}
	row.Body = body
	return row
}

func (r *lastStreamReader) scan(row pgx.CollectableRow) (struct{}, error) {
	var slug, name, version, detail, action, good, rival, rivalVersion *string
	var revision, goodRevision, ttl *int64
	var ended, at *time.Time
	var derived, hash, body, waits []byte
	var passed fleet.Revision
	var by fleet.Revision
	var offer fleet.Offer
	var first bool
	var beside *bool
	var x fleet.LastStream
	err := row.Scan(&r.last, &x.Known, (*int64)(&x.Settled), (*int64)(&passed), &waits, &x.Clean, &x.LiveAs, &ended, &x.View, (*int64)(&x.Offer),
		(*int64)(&by), (*int64)(&offer), &slug, &name, &version, &revision, &detail, &action, &beside, &rival, &rivalVersion, &at, &good, &goodRevision, &ttl, &derived, &hash, &first, &body)
	if err != nil {
		return struct{}{}, err
	}
	r.rows++
	past := &r.all[r.last]
	if !x.Known {
		return struct{}{}, nil
	}
	x.Held = decodeHeld(waits, passed)
	x.Live, x.At, x.Refusals, x.Ended = len(x.LiveAs) > 0, timeOrZero(ended), past.Refusals, past.Ended
	*past = x
	if first {
		r.bodies[string(hash)] = body
	}
	if slug == nil {
		return struct{}{}, nil
	}
	t, ok := fleet.TypeFromSlug(*slug)
	if !ok {
		return struct{}{}, nil // of a newer server
	}
	f := fleet.Refusal{
		Node: r.nodes[r.last].Node,
		Type: t, Name: *name, Version: *version, Revision: fleet.Revision(*revision), Detail: *detail, Action: actionOf(action), Beside: *beside, At: at.UTC(), Good: *good, Offer: offer, By: by,
	}
	f.Rival, f.Lacked = rivalOf(*rival, *rivalVersion)
	if hash != nil && goodRevision != nil {
		// Of columns that cannot be read nothing stands in: better than half of it.
		if d, err := decodeDerived(derived); err == nil {
			f.Row = &fleet.Row{Type: t, Name: *name, Version: *good, Revision: fleet.Revision(*goodRevision), TTL: milliseconds(ttl), Derived: d}
			r.hashes[f.Row] = string(hash)
		}
	}
	if by > 0 {
		past.Ended = append(past.Ended, f)
	} else {
		past.Refusals = append(past.Refusals, f)
	}
	return struct{}{}, nil
}
