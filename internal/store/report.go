package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

const (
	// maxNodeID and maxDetail bound what a client says of itself.
	maxNodeID = 512
	maxDetail = 4096
	maxView   = 64
	// keptDeliveries is how many revisions of a fleet have delivery rows.
	keptDeliveries = 200
)

const (
	// Of a part ($4) the server's settled revision does not rise: rows that have to stand beside
	// a higher one follow. Whatever a report says ($5) moves the time, by which fleet_marks sees that there is something.
	upsertSettled = `
INSERT INTO server_settled AS v (tenant_id, fleet_id, server_id, settled) VALUES (app_tenant(), $1, $2, CASE WHEN $4::boolean THEN 0 ELSE $3::bigint END)
ON CONFLICT (tenant_id, fleet_id, server_id) DO UPDATE SET settled = CASE WHEN $4 THEN least(v.settled, $3) ELSE $3 END, at = clock_timestamp()
 WHERE v.settled > $3 OR v.settled < $3 AND NOT $4 OR $5::boolean`

	// A node is first seen when it connects, not when that is told. Who serves it is what its
	// status will most likely make it by the trigger (node_status_served), so that it is written
	// once: the zero id for nobody, null where nothing is said of the node.
	upsertNodes = `
INSERT INTO nodes AS n (tenant_id, fleet_id, node_id, cluster, user_agent, version, first_seen, labels, served_by, settled, withheld)
SELECT app_tenant(), $1, u.node, u.cluster, u.agent, u.version, least(u.since, clock_timestamp()), u.labels::jsonb, u.served_by, u.settled, withheld_of(u.waits)
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::uuid[], $9::bigint[], $10::jsonb[])
    AS u (node, cluster, agent, version, since, labels, served_by, settled, waits)
ON CONFLICT (tenant_id, fleet_id, node_id) DO UPDATE SET last_seen = clock_timestamp(),
  cluster    = CASE WHEN excluded.cluster    <> '' THEN excluded.cluster    ELSE n.cluster    END,
  user_agent = CASE WHEN excluded.user_agent <> '' THEN excluded.user_agent ELSE n.user_agent END,
  version    = CASE WHEN excluded.version    <> '' THEN excluded.version    ELSE n.version    END,
  labels     = coalesce(excluded.labels, n.labels),
  served_by  = nullif(coalesce(excluded.served_by, n.served_by), '00000000-0000-0000-0000-000000000000'),
  settled    = CASE WHEN excluded.served_by IS NULL THEN n.settled  ELSE excluded.settled  END,
  withheld   = CASE WHEN excluded.served_by IS NULL THEN n.withheld ELSE excluded.withheld END`

	// $3 is what the server has settled: where a node that goes away and followed it stays.
	upsertNodeStatus = `
INSERT INTO node_status (tenant_id, fleet_id, server_id, node_id, connected, settled, since, protocol, streams, remote_addr, credential_id, clean, duplicates, view, waits, subscribes)
SELECT app_tenant(), $1, $2, u.node, u.connected, CASE WHEN u.connected THEN u.settled ELSE coalesce(u.settled, $3) END,
       coalesce(u.since, clock_timestamp()), u.protocol, u.streams, u.remote, u.credential, u.clean, u.duplicates, u.view, u.waits, u.subscribes
  FROM unnest($4::text[], $5::boolean[], $6::bigint[], $7::timestamptz[], $8::text[], $9::integer[], $10::text[], $11::uuid[], $12::boolean[], $13::integer[], $14::text[], $15::jsonb[], $16::jsonb[])
    AS u (node, connected, settled, since, protocol, streams, remote, credential, clean, duplicates, view, waits, subscribes)
ON CONFLICT (tenant_id, fleet_id, node_id, server_id) DO UPDATE SET connected = excluded.connected, settled = excluded.settled,
  since = excluded.since, protocol = excluded.protocol, streams = excluded.streams, remote_addr = excluded.remote_addr,
  credential_id = excluded.credential_id, clean = excluded.clean, duplicates = excluded.duplicates, view = excluded.view, waits = excluded.waits, subscribes = excluded.subscribes`

	insertTexts = `
INSERT INTO nack_texts (tenant_id, fleet_id, hash, text)
SELECT app_tenant(), $1, * FROM unnest($2::bytea[], $3::text[]) ON CONFLICT DO NOTHING`

	// The bytes of the version that stands in are kept from now on, whatever is compacted:
	// also when the same is told again and the history has forgotten it.
	// A server that loaded the fleet knows the last revision of the row; the refusal belongs to
	// the first that the version was in force for without a break, for the same nodes (SEMANTICS 5.2).
	// What is told again is a refusal of its own only if the version was out of force since the last
	// one, and has the words of that. What was refused in an offer that is over by what was told before
	// counts for nothing, whoever told that: times are for people. Words that are told again in part, after a restart
	// of Postgres, do not take the place of the whole that is there.
	upsertRefusals = `
INSERT INTO refusals AS o (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash, action, beside, good, at,
                                  rival, rival_version, offer, good_hash, good_revision, good_ttl_ms, good_derived)
SELECT DISTINCT ON (u.node, u.type, u.name, u.version, coalesce(run.first, u.revision))
       app_tenant(), $1, u.node, u.type, u.name, u.version, coalesce(run.first, u.revision), coalesce(was.text_hash, u.text_hash), u.action::refusal_action, u.beside, u.good, u.at, u.rival, u.rival_version, u.offer, g.*
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::text[], $9::boolean[], $10::text[], $11::timestamptz[], $12::boolean[], $13::text[], $14::text[], $15::bigint[])
    AS u (node, type, name, version, revision, text_hash, action, beside, good, at, again, rival, rival_version, offer)
  LEFT JOIN LATERAL (
    SELECT h.body_hash, h.revision, h.ttl_ms, h.derived FROM resource_history h
     WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.type = u.type AND h.name = u.name
       AND u.good <> '' AND h.version = u.good AND NOT h.deleted ORDER BY h.revision DESC LIMIT 1) g ON true
  LEFT JOIN LATERAL (
    SELECT (SELECT min(h.revision) FROM resource_history h
             WHERE h.tenant_id = app_tenant() AND h.fleet_id = $1 AND h.type = u.type AND h.name = u.name AND h.variant = l.variant
               AND h.revision <= u.revision AND h.revision > coalesce((
                 SELECT max(b.revision) FROM resource_history b
                  WHERE b.tenant_id = app_tenant() AND b.fleet_id = $1 AND b.type = u.type AND b.name = u.name AND b.variant = l.variant
                    AND b.revision < u.revision AND (b.version, b.selector, b.priority) IS DISTINCT FROM (u.version, l.selector, l.priority)), 0)) AS first
      FROM resource_history l
     WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.type = u.type AND l.name = u.name AND l.revision = u.revision AND l.version = u.version
     LIMIT 1) run ON true
  LEFT JOIN LATERAL (
    SELECT o.revision, o.text_hash FROM refusals o
     WHERE o.tenant_id = app_tenant() AND o.fleet_id = $1 AND o.node_id = u.node AND o.type = u.type AND o.name = u.name AND o.version = u.version
     ORDER BY o.revision DESC LIMIT 1) was ON u.again
 WHERE was.revision IS NULL OR was.revision < run.first
 ORDER BY u.node, u.type, u.name, u.version, coalesce(run.first, u.revision), u.offer DESC, u.revision DESC
ON CONFLICT (tenant_id, fleet_id, node_id, type, name, version, revision) DO UPDATE SET
  text_hash = CASE WHEN excluded.offer = o.offer
                    AND starts_with((SELECT x.text FROM nack_texts x WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.hash = o.text_hash),
                                    (SELECT x.text FROM nack_texts x WHERE x.tenant_id = app_tenant() AND x.fleet_id = $1 AND x.hash = excluded.text_hash))
                   THEN o.text_hash ELSE excluded.text_hash END,
  action = excluded.action, beside = excluded.beside, good = excluded.good, at = excluded.at, rival = excluded.rival, rival_version = excluded.rival_version, offer = excluded.offer, resolved_at = NULL, resolved_by = NULL, ending = NULL,
  (good_hash, good_revision, good_ttl_ms, good_derived) = (
    SELECT excluded.good_hash, excluded.good_revision, excluded.good_ttl_ms, excluded.good_derived
     WHERE excluded.good_hash IS NOT NULL OR excluded.good <> o.good
     UNION ALL
    SELECT o.good_hash, o.good_revision, o.good_ttl_ms, o.good_derived
     WHERE NOT (excluded.good_hash IS NOT NULL OR excluded.good <> o.good))
 WHERE excluded.offer > o.offer OR excluded.offer = o.offer AND o.resolved_by IS NULL`

	// A refusal of a later revision is not what was resolved, even in the same report; nor is
	// one that was made, on whichever server, in a later offer. The last that has ended already takes the
	// offer, for what is told late. Each is looked up by its key, and locked; that there is such a row is
	// what makes the insert an update, which finds it by its key again, whatever the planner thinks of
	// how many there are.
	resolveRefusals = `
INSERT INTO refusals AS e (tenant_id, fleet_id, node_id, type, name, version, revision, text_hash, offer, resolved_at, resolved_by, ending)
SELECT app_tenant(), $1, u.node, u.type, u.name, u.version, x.revision, x.text_hash, u.offer, clock_timestamp(), u.by, u.ending::refusal_end
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[]) AS u (node, type, name, version, by, offer, ending)
 CROSS JOIN LATERAL (
    SELECT o.revision, o.text_hash FROM refusals o
     WHERE o.tenant_id = app_tenant() AND o.fleet_id = $1 AND o.node_id = u.node AND o.type = u.type AND o.name = u.name
       AND o.version = u.version AND o.revision <= u.by AND o.offer <= u.offer
       AND (o.resolved_by IS NULL OR o.revision = (SELECT max(l.revision) FROM refusals l
             WHERE l.tenant_id = app_tenant() AND l.fleet_id = $1 AND l.node_id = u.node AND l.type = u.type AND l.name = u.name AND l.version = u.version AND l.revision <= u.by))
       FOR NO KEY UPDATE) x
ON CONFLICT (tenant_id, fleet_id, node_id, type, name, version, revision) DO UPDATE SET offer = excluded.offer,
  resolved_at = coalesce(e.resolved_at, excluded.resolved_at), resolved_by = coalesce(e.resolved_by, excluded.resolved_by),
  ending = CASE WHEN e.resolved_by IS NULL THEN excluded.ending ELSE e.ending END`

	upsertDelivery = `
INSERT INTO delivery (tenant_id, fleet_id, server_id, revision, affected, acked, first_ack, last_ack)
SELECT app_tenant(), $1, $2, * FROM unnest($3::bigint[], $4::integer[], $5::integer[], $6::timestamptz[], $7::timestamptz[])
ON CONFLICT (tenant_id, fleet_id, revision, server_id) DO UPDATE SET affected = excluded.affected, acked = excluded.acked,
  first_ack = excluded.first_ack, last_ack = excluded.last_ack`

	// Who has lasted here, and lasts on another server that lives: told once an hour. One
	// that moves from server to server does not last on both.
	insertShared = `
INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, note)
SELECT app_tenant(), $1, node_event_id(ARRAY['servers', d.node_id, d.clients::text, date_trunc('hour', clock_timestamp(), 'UTC')::text]), clock_timestamp(),
       'duplicates', d.node_id, d.clients || ' clients have this node id, on ' || d.servers || ' servers'
  FROM unnest($3::text[]) u (node) CROSS JOIN LATERAL (
         SELECT s.node_id, count(*) AS servers, sum(greatest(1, s.duplicates)) AS clients
           FROM node_status s JOIN xds_servers x USING (server_id)
          WHERE s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = u.node AND s.connected AND x.lease_until > clock_timestamp()
            AND (s.server_id = $2 OR s.since <= clock_timestamp() - interval '30 s')
          GROUP BY s.node_id HAVING count(*) > 1 AND bool_or(s.server_id = $2)) d
ON CONFLICT DO NOTHING`

	pruneDelivery = `
DELETE FROM delivery d WHERE d.tenant_id = app_tenant() AND d.fleet_id = $1
   AND d.revision <= (SELECT max(m.revision) - $2 FROM delivery m WHERE m.tenant_id = app_tenant() AND m.fleet_id = $1)`
)

// Report writes what a server says of one fleet, in one transaction and one round trip.
// A node that is not connected and has no Settled of its own stays where the server has
// settled. What clients said of themselves is cut to size rather than refused, and a row
// that the database refuses all the same is left out (see salvage): the rest is written. A
// fleet that is gone is fleet.ErrNotFound, a lease that has ended and was taken anew
// ErrLeaseLost, a place (At) that the fleet's history does not have ErrHistoryCut. It works as the node role.
func (s *Store) Report(ctx context.Context, r fleet.Status) error {
	r = tidy(r)
	err := s.record(ctx, r)
	if isRowRefused(err) {
		err = s.salvage(ctx, r, err)
	}
	if err != nil {
		return fmt.Errorf("report status of fleet %s: %w", r.Key.Fleet, err)
	}
	s.capNodes(ctx, r.Key.Tenant, len(r.Nodes))
	s.capReports(ctx, r.Key, r.Refusals)
	return nil
}

func (s *Store) record(ctx context.Context, r fleet.Status) error {
	return s.transact(ctx, call{limit: writeTimeout, lane: laneReport}, r.Key.Tenant, func(b *pgx.Batch) {
		f, server := r.Key.Fleet.String(), r.Server.String()
		b.Queue(`SELECT server_must_hold($1, $2)`, server, int64(r.Term))
		if r.At.Token != (fleet.Token{}) { // else it is of an empty fleet, or says nothing of revisions
			b.Queue(`SELECT fleet_must_have($1, $2, $3)`, f, int64(r.At.Revision), r.At.Token.String())
		}
		b.Queue(upsertSettled, f, server, int64(r.Settled), r.Partial, len(r.Nodes)+len(r.Refusals)+len(r.Resolved)+len(r.Delivered) > 0)
		queueNodes(b, f, r)
		queueStatus(b, f, server, r)
		queueRefusals(b, f, r.Refusals)
		queueResolved(b, f, r.Resolved)
		queueDelivered(b, f, server, r.Delivered)
		if len(r.Lasting) > 0 {
			b.Queue(insertShared, f, server, r.Lasting)
		}
	})
}

// tidy cuts what clients said to size and keeps of each row's key the last, because one
// statement cannot write a row twice. The rows are sorted: two servers that report the
// same nodes lock them in one order.
func tidy(r fleet.Status) fleet.Status {
	nodes := make(map[string]fleet.NodeStatus, len(r.Nodes))
	for _, n := range r.Nodes {
		n.Node = clean(n.Node, maxNodeID)
		nodes[n.Node] = n
	}
	type refusal struct {
		node    string
		typ     fleet.Type
		name    string
		version string
		rev     fleet.Revision
	}
	refusals := make(map[refusal]fleet.Refusal, len(r.Refusals))
	for _, x := range r.Refusals {
		x.Node, x.Name, x.Detail = clean(x.Node, maxNodeID), clean(x.Name, MaxName), clean(x.Detail, maxDetail)
		x.Rival.Name, x.Lacked = clean(x.Rival.Name, MaxName), clean(x.Lacked, MaxName)
		refusals[refusal{x.Node, x.Type, x.Name, x.Version, x.Revision}] = x
	}
	deliveries := make(map[fleet.Revision]fleet.Delivered, len(r.Delivered))
	for _, d := range r.Delivered {
		deliveries[d.Revision] = d
	}
	r.Nodes = slices.SortedFunc(maps.Values(nodes), func(a, b fleet.NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	r.Refusals = slices.SortedFunc(maps.Values(refusals), func(a, b fleet.Refusal) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Revision, b.Revision))
	})
	lasting := make([]string, len(r.Lasting))
	for i, id := range r.Lasting {
		lasting[i] = clean(id, maxNodeID)
	}
	r.Lasting = lasting
	r.Delivered = slices.SortedFunc(maps.Values(deliveries), func(a, b fleet.Delivered) int { return cmp.Compare(a.Revision, b.Revision) })
	return r
}

// queueNodes sees to it that every node that the report names has a row.
func queueNodes(b *pgx.Batch, f string, r fleet.Status) {
	if len(r.Nodes)+len(r.Refusals) == 0 {
		return
	}
	named := map[string]fleet.NodeStatus{}
	for _, x := range r.Refusals {
		named[x.Node] = fleet.NodeStatus{}
	}
	for _, n := range r.Nodes {
		named[n.Node] = n
	}
	ids := slices.Sorted(maps.Keys(named))
	clusters, agents, versions := make([]string, len(ids)), make([]string, len(ids)), make([]string, len(ids))
	since, labels, servedBy := make([]*time.Time, len(ids)), make([]*string, len(ids)), make([]*[16]byte, len(ids))
	settled, waits := make([]*int64, len(ids)), make([]*string, len(ids))
	for i, id := range ids {
		n := named[id]
		if servedBy[i] = guessServedBy(n, r.Server); n.Connected {
			settled[i], waits[i] = (*int64)(n.Settled), encodeWaits(n.Waits, fleet.Held{})
		}
		labels[i] = encodeLabels(n.Labels)
		clusters[i], agents[i], versions[i] = clean(n.Cluster, maxNodeID), clean(n.UserAgent, 128), clean(n.Version, 128)
		if n.Connected {
			since[i] = timeOrNil(n.Since)
		}
	}
	b.Queue(upsertNodes, f, ids, clusters, agents, versions, since, labels, servedBy, settled, waits)
}

// guessServedBy is right where no other server has the node connected.
func guessServedBy(n fleet.NodeStatus, server fleet.ServerID) *[16]byte {
	switch {
	case n.Node == "":
		return nil // a refusal alone
	case n.Connected:
		return (*[16]byte)(&server)
	}
	return &[16]byte{}
}

func queueStatus(b *pgx.Batch, f, server string, r fleet.Status) {
	n := len(r.Nodes)
	if n == 0 {
		return
	}
	ids, connected, settled, since := make([]string, n), make([]bool, n), make([]*int64, n), make([]*time.Time, n)
	protocols, streams, remotes, creds := make([]string, n), make([]int32, n), make([]string, n), make([]*[16]byte, n)
	cleans, duplicates, views, waits, subscribes := make([]bool, n), make([]int32, n), make([]string, n), make([]*string, n), make([]*string, n)
	for i, x := range r.Nodes {
		ids[i], connected[i], settled[i], since[i] = x.Node, x.Connected, (*int64)(x.Settled), timeOrNil(x.Since)
		protocols[i], streams[i] = clean(x.Protocol, 64), int32(x.Streams) //nolint:gosec // bounded by the server's limit of streams
		remotes[i], creds[i] = clean(x.RemoteAddr, 128), uuidOrNil(x.CredentialID)
		cleans[i], views[i] = x.Clean && !x.Connected, clean(x.View, maxView)
		waits[i] = encodeWaits(x.Waits, x.Had)
		subscribes[i] = encodeSubscribes(x.Subscribes)
		duplicates[i] = int32(x.Duplicates) //nolint:gosec // as many as streams at most
	}
	b.Queue(upsertNodeStatus, f, server, int64(r.Settled), ids, connected, settled, since, protocols, streams, remotes, creds, cleans, duplicates, views, waits, subscribes)
}

func queueRefusals(b *pgx.Batch, f string, xs []fleet.Refusal) {
	n := len(xs)
	if n == 0 {
		return
	}
	nodes, types, names, versions := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	revisions, hashes, actions, besides := make([]int64, n), make([][]byte, n), make([]string, n), make([]bool, n)
	goods, ats, texts, repeats := make([]string, n), make([]time.Time, n), make([]string, n), make([]bool, n)
	rivals, rivalVersions, offers := make([]string, n), make([]string, n), make([]int64, n)
	for i, x := range xs {
		h := sha256.Sum256([]byte(x.Detail))
		nodes[i], types[i], names[i], versions[i] = x.Node, x.Type.Slug(), x.Name, x.Version
		revisions[i], hashes[i], actions[i], goods[i], texts[i] = int64(x.Revision), h[:], x.Action.String(), x.Good, x.Detail
		besides[i], repeats[i], offers[i] = x.Beside, x.Again > 0, int64(x.Offer)
		rivals[i], rivalVersions[i] = rivalColumns(x)
		if ats[i] = x.At; x.At.IsZero() {
			ats[i] = time.Now()
		}
	}
	b.Queue(insertTexts, f, hashes, texts)
	b.Queue(upsertRefusals, f, nodes, types, names, versions, revisions, hashes, actions, besides, goods, ats, repeats, rivals, rivalVersions, offers)
}

func queueResolved(b *pgx.Batch, f string, xs []fleet.Refusal) {
	n := len(xs)
	if n == 0 {
		return
	}
	nodes, types, names, versions, by := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]int64, n)
	offers, ends := make([]int64, n), make([]*string, n)
	for i, x := range xs {
		if end := x.End.String(); end != "" {
			ends[i] = &end
		}
		nodes[i], types[i], names[i], versions[i], by[i], offers[i] = clean(x.Node, maxNodeID), x.Type.Slug(), clean(x.Name, MaxName), x.Version, int64(x.By), int64(x.Offer)
	}
	b.Queue(resolveRefusals, f, nodes, types, names, versions, by, offers, ends)
}

func queueDelivered(b *pgx.Batch, f, server string, ds []fleet.Delivered) {
	n := len(ds)
	if n == 0 {
		return
	}
	revisions, affected, acked := make([]int64, n), make([]int32, n), make([]int32, n)
	first, last := make([]*time.Time, n), make([]*time.Time, n)
	for i, d := range ds {
		revisions[i], affected[i], acked[i] = int64(d.Revision), int32(d.Affected), int32(d.Acked) //nolint:gosec // counts of nodes
		first[i], last[i] = timeOrNil(d.FirstAck), timeOrNil(d.LastAck)
	}
	b.Queue(upsertDelivery, f, server, revisions, affected, acked, first, last)
	b.Queue(pruneDelivery, f, keptDeliveries)
}
