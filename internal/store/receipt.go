package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectReceipt is SEMANTICS 5.3 to 5.5 in one statement: $1 the fleet, $2 the revision.
// Counted is who was there before the commit, and lives or was seen in the day before it.
const selectReceipt = `
WITH ` + nodeFacts + `,
rev AS (SELECT at FROM fleet_history WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2),
open AS (
  SELECT node_id, jsonb_agg(jsonb_build_array(type, name) ORDER BY type, name) AS list
    FROM (SELECT node_id, type, name, row_number() OVER (PARTITION BY node_id ORDER BY type, name) AS nth
            FROM node_exceptions WHERE tenant_id = app_tenant() AND fleet_id = $1 AND resolved_at IS NULL AND revision <= $2
           GROUP BY node_id, type, name) o
   WHERE nth <= 100 GROUP BY node_id),
refused AS (
  SELECT DISTINCT ON (e.node_id) e.*, t.text
    FROM node_exceptions e JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash
   WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.revision = $2
   ORDER BY e.node_id, e.resolved_at DESC NULLS FIRST, e.type, e.name),
counted AS (
  SELECT n.node_id, rev.at AS committed, greatest(n.last_seen, f.last_lease) AS last_seen,
         CASE WHEN r.node_id IS NOT NULL THEN 1
              WHEN coalesce(f.live_settled, f.settled, 0) >= $2 THEN 4
              WHEN coalesce(f.live, false) THEN 2
              ELSE 3 END AS state -- in the order in which they are listed: nacked, pending, offline, acked
    FROM rev CROSS JOIN nodes n
    LEFT JOIN facts f USING (node_id) LEFT JOIN refused r USING (node_id)
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.first_seen <= rev.at
     AND (coalesce(f.live, false) OR greatest(n.last_seen, f.last_lease) >= rev.at - interval '24 hours')),
listed AS (
  SELECT c.node_id, c.state, CASE c.state WHEN 1 THEN greatest(r.at, c.committed) WHEN 3 THEN c.last_seen END AS at,
         r.text, r.type, r.name, r.action, r.resolved_by, o.list
    FROM counted c LEFT JOIN refused r USING (node_id) LEFT JOIN open o USING (node_id)
   WHERE c.state < 4 OR o.list IS NOT NULL
   ORDER BY c.state, c.node_id LIMIT 100),
told AS (
  SELECT coalesce(sum(acked) - sum(affected), 0) AS unaffected, min(first_ack) AS first_ack, max(last_ack) AS last_ack
    FROM delivery WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2),
sums AS (
  SELECT count(*) FILTER (WHERE state = 4) AS acked, count(*) FILTER (WHERE state = 1) AS nacked,
         count(*) FILTER (WHERE state = 2) AS pending, count(*) FILTER (WHERE state = 3) AS offline FROM counted)
SELECT rev.at, sums.acked, sums.nacked, sums.pending, sums.offline,
       least(sums.acked, greatest(0, told.unaffected)),
       greatest(told.first_ack, rev.at), greatest(told.last_ack, rev.at),
       told.first_ack IS NOT NULL,
       (SELECT jsonb_agg(jsonb_build_object('id', l.node_id, 'state', l.state, 'at', l.at, 'detail', l.text, 'type', l.type, 'name', l.name,
                         'action', l.action, 'resolved_by', l.resolved_by, 'open', l.list) ORDER BY l.state, l.node_id) FROM listed l)
  FROM rev, sums, told`

// receiptStates are the numbers of selectReceipt.
var receiptStates = map[int]string{1: fleet.NodeNacked, 2: fleet.NodePending, 3: fleet.NodeOffline, 4: fleet.NodeAcked}

// Receipt tells what became of a revision so far: one query, with the leases of the
// servers as they are now. A revision that is not kept, or not made yet, is
// fleet.ErrNotFound.
func (s *Store) Receipt(ctx context.Context, t fleet.TenantID, f fleet.ID, rev fleet.Revision) (fleet.Receipt, error) {
	r, err := one(ctx, s, t, scanReceipt, selectReceipt, f.String(), int64(rev))
	if err != nil {
		return r, fmt.Errorf("read the receipt of revision %d of fleet %s: %w", rev, f, err)
	}
	r.Revision, r.State = rev, fleet.State(r.Counts)
	return r, nil
}

func scanReceipt(row pgx.CollectableRow) (r fleet.Receipt, err error) {
	var first, last time.Time
	var answered bool
	var nodes []byte
	c := &r.Counts
	if err := row.Scan(&r.CommittedAt, &c.Acked, &c.Nacked, &c.Pending, &c.Offline, &c.Unaffected, &first, &last, &answered, &nodes); err != nil {
		return r, err
	}
	r.CommittedAt = r.CommittedAt.UTC()
	if answered {
		r.FirstAck, r.LastAck = first.UTC(), last.UTC()
	}
	r.Nodes, err = decodeReceiptNodes(nodes)
	return r, err
}

func decodeReceiptNodes(b []byte) ([]fleet.ReceiptNode, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var js []struct {
		ID                         string
		State                      int
		At                         *time.Time
		Detail, Type, Name, Action string
		ResolvedBy                 fleet.Revision `json:"resolved_by"`
		Open                       [][2]string
	}
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode the nodes of a receipt: %w", err)
	}
	out := make([]fleet.ReceiptNode, len(js))
	for i, j := range js {
		n := fleet.ReceiptNode{ID: j.ID, State: receiptStates[j.State], At: timeOrZero(j.At), Detail: j.Detail, Action: j.Action, ResolvedBy: j.ResolvedBy}
		n.Resource.Name = j.Name
		n.Resource.Type, _ = fleet.TypeFromSlug(j.Type) // of no refusal: the zero Ref
		n.StillRefusing = refsOf(j.Open)
		out[i] = n
	}
	return out, nil
}
