package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectNodePast is one statement: $1 the fleet, $2 the node, $3 the server whose own row
// is left out. A stream whose server died ended with the lease, whatever the row says;
// one that lives has not ended, so its row comes last of all. There is a row for each
// refusal that stands, or has ended since the node settled, and one for the node where there
// is none. What was withheld from it it has not, so it counts as settled before that.
const selectNodePast = `
WITH every AS (
  SELECT s.server_id, s.clean AND NOT s.connected AS clean, s.view,
         least(coalesce(s.settled, v.settled, 0), (SELECT min(w::bigint) - 1 FROM jsonb_path_query(s.waits, '$.withheld[*][4] ? (@ > 0)') w)) AS settled,
         s.connected AND coalesce(x.lease_until > clock_timestamp(), false) AS live, s.protocol, s.since,
         CASE WHEN s.connected THEN coalesce(x.lease_until, s.since) ELSE s.since END AS ended
    FROM node_status s
    LEFT JOIN server_settled v ON v.tenant_id = s.tenant_id AND v.fleet_id = s.fleet_id AND v.server_id = s.server_id
    LEFT JOIN xds_servers x ON x.server_id = s.server_id
   WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = $2),
s AS (SELECT * FROM every WHERE server_id <> $3),
last AS (SELECT * FROM s ORDER BY live, ended DESC, clean, settled LIMIT 1),
past AS (
  SELECT CASE WHEN EXISTS (SELECT FROM s WHERE live)
              THEN (SELECT min(settled) FROM s WHERE live OR ended > (SELECT min(since) FROM s WHERE live))
              ELSE (SELECT settled FROM last) END AS settled,
         (SELECT clean AND NOT EXISTS (SELECT FROM s WHERE live) FROM last) AS clean,
         (SELECT array_agg(protocol ORDER BY protocol) FROM s WHERE live) AS live,
         coalesce((SELECT max(since) FROM s WHERE live), (SELECT ended FROM last)) AS ended,
         CASE WHEN EXISTS (SELECT FROM s WHERE live)
              THEN (SELECT CASE WHEN count(DISTINCT view) = 1 THEN min(view) ELSE '?' END FROM s WHERE live) -- of several: another one
              ELSE (SELECT view FROM last) END AS view
    FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.node_id = $2)
SELECT coalesce(past.settled, 0), coalesce(past.clean, false), past.live, past.ended, coalesce(past.view, ''),
       coalesce(e.resolved_by, 0), e.type, e.name, e.version, e.revision, t.text, e.action, e.at, e.good, e.good_revision, e.good_ttl_ms, e.good_derived,
       (SELECT b.body FROM bodies b WHERE b.tenant_id = e.tenant_id AND b.hash = e.good_hash)
  FROM past
  LEFT JOIN LATERAL (
    SELECT * FROM node_exceptions
     WHERE tenant_id = app_tenant() AND fleet_id = $1 AND node_id = $2
       AND (resolved_at IS NULL OR resolved_by > (SELECT min(settled) FROM every))
     ORDER BY resolved_at IS NOT NULL, resolved_by DESC, type, name, revision DESC LIMIT 1000) e ON true
  LEFT JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash
 ORDER BY e.resolved_at IS NOT NULL, e.type, e.name, e.revision DESC`

// NodePast reads what a server has to know of a node that comes to it. The rows of the
// server "without" do not count, which knows better what it had itself; the zero id
// leaves none out. A node that the fleet has not seen is no error. It works as the node
// role.
func (s *Store) NodePast(ctx context.Context, key fleet.Key, node string, without fleet.ServerID) (fleet.NodePast, error) {
	var past fleet.NodePast
	_, err := manyIn(ctx, s, call{limit: readTimeout, lane: laneFollow}, key.Tenant,
		func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, scanPast(row, &past) }, selectNodePast, key.Fleet.String(), clean(node, maxNodeID), without.String())
	if err != nil {
		return fleet.NodePast{}, fmt.Errorf("read the past of node %q: %w", node, err)
	}
	for _, rs := range [][]fleet.PastRefusal{past.Refusals, past.Ended} {
		for i := range rs {
			rs[i].Node = node
		}
	}
	return past, nil
}

func scanPast(row pgx.CollectableRow, past *fleet.NodePast) error {
	var slug, name, version, detail, action, good *string
	var revision, goodRevision, ttl *int64
	var ended, at *time.Time
	var derived, body []byte
	var by fleet.Revision
	err := row.Scan((*int64)(&past.Settled), &past.Clean, &past.LiveAs, &ended, &past.View,
		(*int64)(&by), &slug, &name, &version, &revision, &detail, &action, &at, &good, &goodRevision, &ttl, &derived, &body)
	past.Known, past.Live, past.At = true, len(past.LiveAs) > 0, timeOrZero(ended)
	if err != nil || slug == nil {
		return err
	}
	t, ok := fleet.TypeFromSlug(*slug)
	if !ok {
		return nil // of a newer server
	}
	r := fleet.PastRefusal{By: by, Refusal: fleet.Refusal{
		Type: t, Name: *name, Version: *version, Revision: fleet.Revision(*revision), Detail: *detail, Action: *action, At: at.UTC(), Good: *good,
	}}
	if body != nil && goodRevision != nil {
		// Of columns that cannot be read nothing stands in: better than half of it.
		if d, err := decodeDerived(derived); err == nil {
			r.Row = &fleet.Row{Type: t, Name: *name, Version: *good, Revision: fleet.Revision(*goodRevision), TTL: milliseconds(ttl), Body: body, Derived: d}
		}
	}
	if by > 0 {
		past.Ended = append(past.Ended, r)
	} else {
		past.Refusals = append(past.Refusals, r)
	}
	return nil
}
