package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// selectReceipt is SEMANTICS 5.3 to 5.5 in one statement: $1 the fleet, $2 the revision,
// $3 the state that is listed (0: all that is worth a look), $4 the node after which to
// begin, $5 the limit. Each part answers one question, from the parts before it.
// It runs after setJoins; what is looked up by a key is a subquery that cannot become a join. Of a node's
// refusals it asks so that the key alone fits (migrations, refusals).
var selectReceipt = `
WITH ` + strings.Join([]string{
	receiptRevision, receiptServers, receiptRefusing, receiptKnown, receiptTold, receiptOthers, receiptListed, receiptSums,
}, ",") + `
SELECT rev.at, sums.acked, sums.nacked, sums.pending, sums.offline, sums.went, sums.withheld, sums.late,
       least(sums.acked, greatest(0, answers.unaffected)), greatest(answers.first_ack, rev.at), greatest(answers.last_ack, rev.at), answers.first_ack IS NOT NULL,
       (SELECT jsonb_agg(l.node ORDER BY l.state, l.node_id) FROM listed l)
  FROM rev, sums, answers`

// When was it made, and who was seen in the fleet's receipt window before?
const receiptRevision = `
rev AS MATERIALIZED (
  SELECT h.at, h.at - make_interval(secs => f.receipt_window) AS since, to_jsonb($2::bigint) AS this, jsonb_build_object('r', $2::bigint) AS vars,
         clock_timestamp() AS now -- once: a part that asks for it itself is not planned as one with the next
    FROM fleet_history h JOIN fleets f ON f.tenant_id = h.tenant_id AND f.id = h.fleet_id
   WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.revision = $2)`

// Which servers live, and which of them have settled it for all nodes of which they say nothing else (ahead)?
const receiptServers = `
servers AS MATERIALIZED (
  SELECT coalesce(x.server_id, v.server_id) AS server_id, coalesce(v.settled, 0) AS settled, x.lease_until, coalesce(x.lease_until > clock_timestamp(), false) AS alive
    FROM xds_servers x FULL JOIN (SELECT * FROM server_settled WHERE tenant_id = app_tenant() AND fleet_id = $1) v ON v.server_id = x.server_id),
hosts AS MATERIALIZED (
  SELECT array_agg(server_id) AS alive, array_agg(server_id) FILTER (WHERE settled >= $2) AS ahead FROM servers WHERE alive)`

// Who refused something of it (it), and who refuses something of it or of one before (something)?
var receiptRefusing = `
refusing AS (
  SELECT u.node_id, bool_or(u.it) AS it, bool_or(u.something) AS something FROM (
    SELECT e.node_id, true AS it, ` + stands("e") + ` AS something
      FROM refusals e WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.revision = $2
     UNION ALL
    SELECT e.node_id, false, ` + stands("e") + ` AND e.revision < $2
      FROM refusals e WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.revision <> $2 AND e.resolved_at IS NULL) u GROUP BY u.node_id)`

// Which nodes are known, and what does a node have that one server that lives serves (served)? Most are so, and their row in nodes says it.
// One that has settled the revision has it but for what is withheld of it; it is blocked then, as when what is withheld is of a
// revision that is not known. Refuses is null where there is nothing, state of who came later and has it not.
const receiptKnown = `
known AS MATERIALIZED (
  SELECT n.node_id, n.last_seen, r.something AS refuses, coalesce(r.it, false) AS nacked, x.late, x.served,
         x.settled IS NOT TRUE AS behind,
         x.settled IS TRUE OR coalesce(n.withheld @> '0', false) AS blocked,
         CASE WHEN r.it THEN 1
              WHEN x.settled AND x.withheld IS NOT TRUE THEN CASE WHEN x.late THEN 5 ELSE 4 END
              WHEN NOT x.late THEN 2 END AS state
    FROM nodes n LEFT JOIN refusing r USING (node_id)
    CROSS JOIN LATERAL (
      SELECT n.first_seen > (SELECT at FROM rev) AS late,
             coalesce(n.served_by = ANY ((SELECT alive FROM hosts)::uuid[]), false) AS served,
             coalesce(n.settled >= $2, n.served_by = ANY ((SELECT ahead FROM hosts)::uuid[])) AS settled,
             n.withheld @> (SELECT this FROM rev) AS withheld) x
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1)`

// What did each server say last of each of the other nodes? Until is when the stream ended, at the latest.
const receiptTold = `
told AS (
  SELECT n.node_id, n.last_seen, n.refuses, n.nacked, n.late, x.live, coalesce(s.settled, v.settled) AS settled, s.connected,
         CASE WHEN s.connected THEN least(coalesce(v.lease_until, s.since), rev.now) ELSE s.since END AS until,
         jsonb_path_exists(s.waits, '$.withheld[*][4] ? (@ == $r)', rev.vars) AS withheld, CASE WHEN x.live THEN s.waits END AS waits
    FROM rev CROSS JOIN known n
    LEFT JOIN LATERAL (SELECT * FROM node_status s WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = n.node_id OFFSET 0) s ON true
    LEFT JOIN servers v USING (server_id)
    CROSS JOIN LATERAL (SELECT coalesce(s.connected AND v.alive, false) AS live) x
   WHERE NOT n.served)`

// What do the other nodes have? Ended is when the last stream did, and whether that had the revision: who is offline has left without it
// where that was after the commit (went). Counted is who lives, or was seen in the window before the commit.
const receiptOthers = `
facts AS (
  SELECT node_id, last_seen, refuses, nacked, late, bool_or(live) AS live,
         min(settled) FILTER (WHERE live) AS live_settled,
         max(until) FILTER (WHERE connected AND NOT live) AS last_lease,
         max(ARRAY[(extract(epoch FROM until) * 1000000)::bigint, (coalesce(settled, 0) >= $2 AND withheld IS NOT TRUE)::integer]) FILTER (WHERE NOT live) AS ended,
         bool_or(withheld) FILTER (WHERE live) AS held,
         bool_or(waits ? 'withheld') AS withheld,
         bool_or(waits ? 'warming' OR waits @? '$.withheld[*][4] ? (@ > 0)') AS moves
    FROM told GROUP BY node_id, last_seen, refuses, nacked, late),
others AS MATERIALIZED (
  SELECT f.node_id, greatest(f.last_seen, f.last_lease) AS last_seen, f.refuses, f.live_settled < $2 AS behind,
         f.live_settled >= $2 OR f.withheld AND NOT f.moves AS blocked,
         coalesce(f.ended[1] >= (extract(epoch FROM rev.at) * 1000000)::bigint, false) AS went,
         CASE WHEN f.nacked THEN 1
              WHEN CASE WHEN f.live THEN f.live_settled >= $2 AND f.held IS NOT TRUE ELSE coalesce(f.ended[2] = 1, false) END THEN CASE WHEN f.late THEN 5 ELSE 4 END
              WHEN f.late THEN NULL
              WHEN f.live THEN 2
              ELSE 3 END AS state
    FROM rev CROSS JOIN facts f
   WHERE f.live OR greatest(f.last_seen, f.last_lease) >= rev.since)`

// Who is listed, and what is told of each: what it waits for (w), what it refused of the revision, those first that stand (refused), and what it
// refuses still (still).
var receiptListed = `
page AS (
  SELECT c.* FROM (
    SELECT node_id, state, refuses, NULL::timestamptz AS last_seen, behind, false AS went FROM known WHERE served
     UNION ALL
    SELECT node_id, state, refuses, last_seen, behind, went FROM others) c
   WHERE c.state IS NOT NULL AND CASE WHEN $3 = 0 THEN c.state < 4 OR coalesce(c.refuses, false) ELSE c.state = $3 AND c.node_id > $4 END
   ORDER BY c.state, c.node_id LIMIT $5),
listed AS (
  SELECT c.node_id, c.state,
         jsonb_build_object('id', c.node_id, 'state', c.state, 'at', CASE c.state WHEN 1 THEN greatest(refused.at, rev.at) WHEN 3 THEN c.last_seen END,
           'also', refused.list - 0, 'refusals', refused.n - 1, 'open', still.list, 'refusing', still.whole,
           'waits', w.waits, 'client', CASE c.state WHEN 2 THEN (SELECT n.user_agent FROM nodes n WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1 AND n.node_id = c.node_id) END,
           'behind', c.state = 2 AND c.behind, 'left', c.state = 3 AND c.went) || coalesce(refused.list->0, '{}') AS node
    FROM rev CROSS JOIN page c
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(s.waits) AS waits FROM node_status s JOIN servers v USING (server_id)
       WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = c.node_id AND s.connected AND v.alive AND s.waits IS NOT NULL) w ON c.state = 2
    LEFT JOIN LATERAL (
      SELECT count(*) AS n, min(x.at) FILTER (WHERE x.nr = 1) AS at,
             jsonb_agg(jsonb_build_object('type', x.type, 'name', x.name, 'action', x.action, 'beside', x.beside, 'resolved_by', x.resolved_by, 'ending', x.ending,
               'detail', (SELECT CASE WHEN x.nr = 1 THEN t.text ELSE left(t.text, 500) END
                            FROM nack_texts t WHERE t.tenant_id = app_tenant() AND t.fleet_id = $1 AND t.hash = x.text_hash)) ORDER BY x.nr) FILTER (WHERE x.nr <= 11) AS list
        FROM (SELECT e.type, e.name, e.action, e.beside, e.text_hash, e.at, coalesce(e.resolved_by, end_of.revision) AS resolved_by,
                     coalesce(e.ending::text, CASE WHEN e.resolved_at IS NOT NULL OR end_of.at IS NOT NULL THEN 'replaced' END) AS ending,
                     row_number() OVER (ORDER BY coalesce(e.resolved_at, end_of.at) DESC NULLS FIRST, e.good <> '', e.type, e.name) AS nr
                FROM refusals e
                ` + ended("e") + `
               WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = c.node_id AND e.revision IS NOT DISTINCT FROM $2) x) refused ON c.state = 1
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(jsonb_build_array(type, name) ORDER BY type, name) FILTER (WHERE first <= $2) AS list,
             jsonb_agg(jsonb_build_array(type, name) ORDER BY type, name) AS whole
        FROM (SELECT type, name, min(revision) AS first FROM refusals e
               WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = c.node_id AND ` + stands("e") + `
                 AND c.refuses IS NOT NULL
               GROUP BY type, name ORDER BY min(revision) > $2, type, name LIMIT 100) o) still ON true)`

// How many are in each state (receiptStates), and when did the first and the last of them answer? Of who came after the commit those count that
// have it by now, as late, and those that refuse it.
const receiptSums = `
sums AS (
  SELECT k.acked + o.acked AS acked, k.nacked + o.nacked AS nacked, k.pending + o.pending AS pending, o.offline, o.went,
         k.withheld + o.withheld AS withheld, k.late + o.late AS late
    FROM (SELECT count(*) FILTER (WHERE state = 4) AS acked, count(*) FILTER (WHERE state = 1) AS nacked, count(*) FILTER (WHERE state = 2) AS pending,
                 count(*) FILTER (WHERE state = 2 AND blocked) AS withheld, count(*) FILTER (WHERE state = 5) AS late FROM known WHERE served) k
   CROSS JOIN (
          SELECT count(*) FILTER (WHERE state = 4) AS acked, count(*) FILTER (WHERE state = 1) AS nacked, count(*) FILTER (WHERE state = 2) AS pending,
                 count(*) FILTER (WHERE state = 3) AS offline, count(*) FILTER (WHERE state = 3 AND went) AS went,
                 count(*) FILTER (WHERE state = 2 AND blocked) AS withheld, count(*) FILTER (WHERE state = 5) AS late FROM others) o),
answers AS (
  SELECT coalesce(sum(acked) - sum(affected), 0) AS unaffected, min(first_ack) AS first_ack, max(last_ack) AS last_ack
    FROM delivery WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2)`

// receiptStates are the numbers of selectReceipt, in the order in which nodes are listed.
var receiptStates = map[int]string{1: fleet.NodeNacked, 2: fleet.NodePending, 3: fleet.NodeOffline, 4: fleet.NodeAcked, 5: fleet.NodeLate}

// ReceiptFilter says which nodes a receipt lists.
type ReceiptFilter struct {
	State string // fleet.NodeAcked, ...; "": those not acked, and those that still refuse something
	After string // of a State: the node's id after which to begin
	Limit int    // 0 is 100; the most is 1000
}

// Receipt tells what became of a revision so far: one query, with the leases of the
// servers as they are now. A revision that is not kept, or not made yet, is
// fleet.ErrNotFound.
func (s *Store) Receipt(ctx context.Context, t fleet.TenantID, f fleet.ID, rev fleet.Revision) (fleet.Receipt, error) {
	r, _, err := s.ReceiptPage(ctx, t, f, rev, ReceiptFilter{})
	return r, err
}

// ReceiptPage is Receipt with the nodes of one state, by id, and whether there are more of
// them.
func (s *Store) ReceiptPage(ctx context.Context, t fleet.TenantID, f fleet.ID, rev fleet.Revision, q ReceiptFilter) (fleet.Receipt, bool, error) {
	return s.receiptPage(ctx, selectReceipt, t, f, rev, q)
}

func (s *Store) receiptPage(ctx context.Context, sql string, t fleet.TenantID, f fleet.ID, rev fleet.Revision, q ReceiptFilter) (fleet.Receipt, bool, error) {
	limit, state := pageLimit(q.Limit), 0
	for number, name := range receiptStates {
		if name == q.State {
			state = number
		}
	}
	var r fleet.Receipt
	err := s.transact(ctx, call{limit: readTimeout, plans: setJoins}, t, func(b *pgx.Batch) {
		b.Queue(sql, f.String(), int64(rev), state, clean(q.After, maxNodeID), limit+1).Query(func(rows pgx.Rows) (err error) {
			r, err = pgx.CollectOneRow(rows, scanReceipt)
			return err
		})
	})
	if err != nil {
		return r, false, fmt.Errorf("read the receipt of revision %d of fleet %s: %w", rev, f, err)
	}
	r.Revision, r.State = rev, fleet.State(r.Counts)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Waits = n.Waits.Of(rev, n.Behind)
	}
	var more bool
	r.Nodes, more = page(r.Nodes, limit)
	return r, more && state > 0, nil
}

func scanReceipt(row pgx.CollectableRow) (r fleet.Receipt, err error) {
	var first, last time.Time
	var answered bool
	var nodes []byte
	c := &r.Counts
	if err := row.Scan(&r.CommittedAt, &c.Acked, &c.Nacked, &c.Pending, &c.Offline, &c.Left, &c.Withheld, &c.Late, &c.Unaffected, &first, &last, &answered, &nodes); err != nil {
		return r, err
	}
	r.CommittedAt = r.CommittedAt.UTC()
	if answered {
		r.FirstAck, r.LastAck = first.UTC(), last.UTC()
	}
	r.Nodes, err = decodeReceiptNodes(nodes)
	return r, err
}

// receiptRefusalJSON is a refusals row with its text, as a receipt tells of it.
type receiptRefusalJSON struct {
	Detail, Type, Name, Action, Ending string
	Beside                             bool
	ResolvedBy                         fleet.Revision `json:"resolved_by"`
}

func (j receiptRefusalJSON) refusal() fleet.ReceiptRefusal {
	r := fleet.ReceiptRefusal{Detail: j.Detail, Action: actionOf(&j.Action), Beside: j.Beside, ResolvedBy: j.ResolvedBy}
	r.End, _ = fleet.ParseEnd(j.Ending)
	r.Resource.Name = j.Name
	r.Resource.Type, _ = fleet.TypeFromSlug(j.Type) // of no refusal: the zero Ref
	return r
}

func decodeReceiptNodes(b []byte) ([]fleet.ReceiptNode, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var js []struct {
		receiptRefusalJSON
		ID, Client     string
		State          int
		At             *time.Time
		Also           []receiptRefusalJSON
		Refusals       int // beside the first
		Open, Refusing [][2]string
		Waits          json.RawMessage
		Behind, Left   bool
	}
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode the nodes of a receipt: %w", err)
	}
	out := make([]fleet.ReceiptNode, len(js))
	for i, j := range js {
		n := fleet.ReceiptNode{ID: j.ID, State: receiptStates[j.State], At: timeOrZero(j.At), ReceiptRefusal: j.refusal(), Behind: j.Behind, Left: j.Left, NoEnvoy: j.Client == fleet.AgentNoEnvoy}
		for _, x := range j.Also {
			n.Also = append(n.Also, x.refusal())
		}
		n.MoreRefused = max(j.Refusals, len(n.Also)) - len(n.Also)
		n.StillRefusing, n.Refusing = refsOf(j.Open), refsOf(j.Refusing)
		var err error
		if n.Waits, err = decodeWaits(j.Waits); err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}
