package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// What a node is at present.
const (
	NodeLive     = "live"
	NodeOffline  = "offline"
	NodeRefusing = "refusing" // live, and refuses something
)

// NodeView is a node as the API shows it.
type NodeView struct {
	ID                          string
	State                       string // NodeLive, ...
	Cluster, UserAgent, Version string
	Protocol                    string // "delta ADS", ...
	Streams                     int
	RemoteAddr                  string
	Server                      string // the name of the xDS server that it is or was last connected to
	Credential                  fleet.CredentialID
	CredentialEnds              time.Time // zero: never, or it is not known any more
	FirstSeen, LastSeen         time.Time
	Since                       time.Time // of the present connection, or of its end
	Settled                     fleet.Revision
	// Connections is how many servers it is connected to; more than one is a duplicate id.
	Connections int
	// Duplicates is how many clients seem to have the id, here and on other servers; 0: one.
	Duplicates int
	// Frozen are the types of which it refuses too much: what is over is kept back from its present stream alone.
	Frozen []fleet.Type
	// Waits is what it waits for, of a node that is connected and behind.
	Waits fleet.Waits
	// Subscribes is what it subscribes to, of one that is connected and of which that has been told.
	Subscribes fleet.Subscriptions
	// Refusals are those that stand; of a single node the last hundred, resolved or not.
	Refusals []fleet.Refusal // without Row
	Last     fleet.Waits     // of one that is not connected: what it waited for at last
}

// Polls reports whether it polls over REST, and has no stream beside that.
func (n NodeView) Polls() bool { return strings.HasPrefix(n.Protocol, "REST ") }

// To is what the node is to a revision that was committed at that time, as the receipt of it counts
// the node: fleet.NodeAcked, ...; "" where it does not. Refusals must have the ended ones too, as those of
// a single node do. window is the fleet's receipt window.
func (n NodeView) To(rev fleet.Revision, committed time.Time, window time.Duration) string {
	live, late := n.Connections > 0, n.FirstSeen.After(committed)
	held := func(w fleet.Withheld) bool { return w.Revision == rev }
	has := n.Settled >= rev && !slices.ContainsFunc(n.Waits.Withheld, held) && !slices.ContainsFunc(n.Last.Withheld, held)
	switch {
	case !live && n.LastSeen.Before(committed.Add(-window)):
		return ""
	case slices.ContainsFunc(n.Refusals, func(r fleet.Refusal) bool { return r.Revision == rev }):
		return fleet.NodeNacked
	case has && late:
		return fleet.NodeLate
	case has:
		return fleet.NodeAcked
	case late:
		return ""
	case live:
		return fleet.NodePending
	}
	return fleet.NodeOffline
}

// nodeFacts is at most one row for a row n of nodes: none if it has no row of status anywhere. A row
// is live if its server is; of several live ones the least settled counts, of dead ones
// the one that ended last, with its server's lease at the latest. What a node settled is its own number, or its server's while it follows.
const nodeFacts = `
  SELECT *, count(*) FILTER (WHERE live) OVER w AS connections, coalesce(sum(clients) FILTER (WHERE live) OVER w, 0) AS all_clients,
         min(settled) FILTER (WHERE live) OVER w AS live_settled,
         jsonb_agg(waiting) FILTER (WHERE live AND waiting IS NOT NULL) OVER w AS waits,
         CASE WHEN bool_and(subscribes IS NOT NULL) FILTER (WHERE live) OVER w THEN jsonb_agg(subscribes) FILTER (WHERE live) OVER w END AS subscribed,
         max(lease_end) OVER w AS last_lease
    FROM (` + nodeStatus + `) status WINDOW w AS ()
   ORDER BY live DESC, coalesce(lease_end, since) DESC LIMIT 1`

// nodeStatus is one row per server that has one of n.
const nodeStatus = `
  SELECT s.since, s.protocol, s.streams, greatest(1, s.duplicates) AS clients, s.remote_addr, s.credential_id, s.waits AS waiting, x.name AS server,
         coalesce(s.subscribes, CASE WHEN n.user_agent = 'envoy' AND s.since < clock_timestamp() - interval '12 s' THEN ` + usualSubscribes + ` END) AS subscribes,
         coalesce(s.settled, (SELECT v.settled FROM server_settled v WHERE v.tenant_id = s.tenant_id AND v.fleet_id = s.fleet_id AND v.server_id = s.server_id), 0) AS settled,
         s.connected AND coalesce(x.lease_until > clock_timestamp(), false) AS live,
         CASE WHEN s.connected THEN least(coalesce(x.lease_until, s.since), clock_timestamp()) END AS lease_end
    FROM node_status s
    LEFT JOIN LATERAL (SELECT l.name, l.lease_until FROM xds_servers l WHERE l.server_id = s.server_id OFFSET 0) x ON true
   WHERE s.tenant_id = n.tenant_id AND s.fleet_id = n.fleet_id AND s.node_id = n.node_id`

// nodeColumns is what scanStatus scans, of the tables n and f.
var nodeColumns = `
n.node_id, n.cluster, n.user_agent, n.version, coalesce(f.protocol, ''), coalesce(f.streams, 0), coalesce(f.remote_addr, ''),
       coalesce(f.server, ''), f.credential_id,
       (SELECT k.expires_at FROM node_credentials k WHERE k.tenant_id = n.tenant_id AND k.fleet_id = n.fleet_id AND k.id = f.credential_id), n.first_seen, greatest(n.last_seen, f.last_lease), coalesce(f.since, n.last_seen),
       coalesce(f.live_settled, f.settled, 0), coalesce(f.connections, 0), CASE WHEN f.all_clients > 1 THEN f.all_clients ELSE 0 END,
       ARRAY(SELECT DISTINCT x.type FROM refusals x
              WHERE x.tenant_id = n.tenant_id AND x.fleet_id = n.fleet_id AND x.node_id = n.node_id AND ` + stands("x") + `
                AND x.action = 'frozen' ORDER BY 1), coalesce(f.waits, CASE WHEN f.connections = 0 THEN jsonb_build_array(f.waiting) END), f.subscribed`

var selectNodes = `
SELECT ` + nodeColumns + `, e.list
  FROM nodes n LEFT JOIN LATERAL (` + nodeFacts + `) f ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('type', l.type, 'name', l.name, 'version', l.version, 'revision', l.revision, 'detail', l.text,
                     'action', l.action, 'beside', l.beside, 'good', l.good, 'at', l.at, 'resolved_at', l.resolved_at, 'resolved_by', l.resolved_by, 'ending', l.ending, 'rival', l.rival, 'rival_version', l.rival_version)) AS list
      FROM (SELECT x.type, x.name, x.version, x.revision, (SELECT t.text FROM nack_texts t WHERE t.tenant_id = x.tenant_id AND t.fleet_id = x.fleet_id AND t.hash = x.text_hash) AS text,
                   x.action, x.beside, x.good, x.at,
                   coalesce(x.resolved_at, end_of.at) AS resolved_at, coalesce(x.resolved_by, end_of.revision) AS resolved_by, x.rival, x.rival_version,
                   coalesce(x.ending::text, CASE WHEN x.resolved_at IS NOT NULL OR end_of.at IS NOT NULL THEN 'replaced' END) AS ending
              FROM refusals x
              ` + ended("x") + `
             WHERE x.tenant_id = n.tenant_id AND x.fleet_id = n.fleet_id AND x.node_id = n.node_id AND ($2 OR x.resolved_by IS NULL AND end_of.at IS NULL)
             ORDER BY coalesce(x.resolved_at, end_of.at) DESC NULLS FIRST, x.revision DESC, x.type, x.name LIMIT 100) l) e ON true
 WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1`

// refusalJSON is a refusals row with its text.
type refusalJSON struct {
	Type, Name, Version  string
	Revision             fleet.Revision
	Detail, Action, Good string
	Ending, Rival        string
	RivalVersion         string `json:"rival_version"`
	Beside               bool
	At                   time.Time
	ResolvedAt           *time.Time      `json:"resolved_at"`
	ResolvedBy           *fleet.Revision `json:"resolved_by"`
}

func scanNode(row pgx.CollectableRow) (n NodeView, err error) {
	var refusals []byte
	if err = scanStatus(row, &n, &refusals); err != nil {
		return n, err
	}
	if n.Refusals, err = decodeRefusals(n.ID, refusals); err != nil {
		return n, err
	}
	n.State = nodeState(n.Connections, slices.ContainsFunc(n.Refusals, fleet.Refusal.Stands))
	return n, nil
}

// scanStatus scans nodeColumns into n, and what stands behind them into more.
func scanStatus(row pgx.CollectableRow, n *NodeView, more ...any) error {
	var cred *[16]byte
	var expires *time.Time
	var frozen []string
	var waits, subscribed []byte
	err := row.Scan(append([]any{&n.ID, &n.Cluster, &n.UserAgent, &n.Version, &n.Protocol, &n.Streams, &n.RemoteAddr, &n.Server, &cred, &expires,
		&n.FirstSeen, &n.LastSeen, &n.Since, (*int64)(&n.Settled), &n.Connections, &n.Duplicates, &frozen, &waits, &subscribed}, more...)...)
	for _, slug := range frozen {
		if t, ok := fleet.TypeFromSlug(slug); ok {
			n.Frozen = append(n.Frozen, t)
		}
	}
	if err == nil {
		if n.Waits, err = decodeWaits(waits); n.Connections == 0 {
			n.Last, n.Waits = n.Waits, fleet.Waits{}
		}
	}
	if err == nil {
		n.Subscribes, err = decodeSubscribes(subscribed)
	}
	n.Credential, n.CredentialEnds = uuidOrZero[fleet.CredentialID](cred), timeOrZero(expires)
	n.FirstSeen, n.LastSeen, n.Since = n.FirstSeen.UTC(), n.LastSeen.UTC(), n.Since.UTC()
	return err
}

func nodeState(connections int, refusing bool) string {
	switch {
	case connections == 0:
		return NodeOffline
	case refusing:
		return NodeRefusing
	}
	return NodeLive
}

func decodeRefusals(node string, b []byte) ([]fleet.Refusal, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var js []refusalJSON
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode refusals: %w", err)
	}
	out := make([]fleet.Refusal, 0, len(js))
	for _, j := range js {
		t, ok := fleet.TypeFromSlug(j.Type)
		if !ok {
			continue // of a newer server
		}
		r := fleet.Refusal{Node: node, Type: t, Name: j.Name, Version: j.Version, Revision: j.Revision,
			Detail: j.Detail, Action: actionOf(&j.Action), Beside: j.Beside, At: j.At.UTC(), Good: j.Good, Ended: timeOrZero(j.ResolvedAt)}
		r.Rival, r.Lacked = rivalOf(j.Rival, j.RivalVersion)
		r.End, _ = fleet.ParseEnd(j.Ending) // of a newer server: not known
		if j.ResolvedBy != nil {
			r.By = *j.ResolvedBy
		}
		out = append(out, r)
	}
	return out, nil
}

// Nodes returns the fleet's nodes after the given id, in the order of ids, and whether
// there are more. A limit of 0 is 100; the most is 1000.
func (s *Store) Nodes(ctx context.Context, t fleet.TenantID, f fleet.ID, after string, limit int) ([]NodeView, bool, error) {
	limit = pageLimit(limit)
	ns, err := manyIn(ctx, s, call{limit: readTimeout, plans: setOrder}, t, scanNode, selectNodes+` AND n.node_id > $3 ORDER BY n.node_id LIMIT $4`, f.String(), false, clean(after, maxNodeID), limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("list nodes of fleet %s: %w", f, err)
	}
	ns, more := page(ns, limit)
	return ns, more, nil
}

// Node reads one node, with its last refusals.
func (s *Store) Node(ctx context.Context, t fleet.TenantID, f fleet.ID, id string) (NodeView, error) {
	n, err := one(ctx, s, t, scanNode, selectNodes+` AND n.node_id = $3`, f.String(), true, clean(id, maxNodeID))
	if err != nil {
		return n, fmt.Errorf("read node %q: %w", id, err)
	}
	return n, nil
}
