package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// slowReceipt is SEMANTICS 5.3 to 5.5 said plainly: it looks at every row of every node.
var slowReceipt = strings.NewReplacer("OPEN", store.Stands("e"), "ENDED", store.Ended("e")).Replace(`
WITH rev AS MATERIALIZED (SELECT at, (SELECT make_interval(secs => receipt_window) FROM fleets WHERE tenant_id = app_tenant() AND id = $1) AS win,
    jsonb_build_object('r', $2::bigint) AS vars FROM fleet_history WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2),
servers AS MATERIALIZED (
  SELECT coalesce(x.server_id, v.server_id) AS server_id, coalesce(v.settled, 0) AS settled, x.lease_until, coalesce(x.lease_until > clock_timestamp(), false) AS alive
    FROM xds_servers x FULL JOIN (SELECT * FROM server_settled WHERE tenant_id = app_tenant() AND fleet_id = $1) v ON v.server_id = x.server_id),
refusing AS (
  SELECT e.node_id, bool_or(e.revision = $2) AS it, bool_or(OPEN AND e.revision <= $2) AS something
    FROM refusals e WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND (e.revision = $2 OR e.resolved_at IS NULL) GROUP BY e.node_id),
facts AS (
  SELECT n.node_id, n.last_seen, n.first_seen > rev.at AS late, coalesce(bool_or(s.connected AND v.alive), false) AS live,
         min(coalesce(s.settled, v.settled)) FILTER (WHERE s.connected AND v.alive) AS live_settled,
         max(least(coalesce(v.lease_until, s.since), clock_timestamp())) FILTER (WHERE s.connected AND v.alive IS NOT TRUE) AS last_lease,
         bool_and(jsonb_path_exists(s.waits, '$.withheld[*][4] ? (@ == $r)', rev.vars) IS NOT TRUE) FILTER (WHERE s.connected AND v.alive) AS has,
         max(CASE WHEN s.connected THEN least(coalesce(v.lease_until, s.since), clock_timestamp()) ELSE s.since END) FILTER (WHERE NOT s.connected OR v.alive IS NOT TRUE) AS ended,
         (max(ARRAY[(extract(epoch FROM CASE WHEN s.connected THEN least(coalesce(v.lease_until, s.since), clock_timestamp()) ELSE s.since END) * 1000000)::bigint,
              CASE WHEN jsonb_path_exists(s.waits, '$.withheld[*][4] ? (@ == $r)', rev.vars) THEN 0 ELSE coalesce(s.settled, v.settled, 0) END])
            FILTER (WHERE NOT s.connected OR v.alive IS NOT TRUE))[2] AS settled,
         jsonb_agg(s.waits) FILTER (WHERE s.waits IS NOT NULL AND s.connected AND v.alive) AS waits
    FROM rev CROSS JOIN nodes n
    LEFT JOIN (node_status s LEFT JOIN servers v USING (server_id))
      ON s.tenant_id = app_tenant() AND s.fleet_id = $1 AND s.node_id = n.node_id
   WHERE n.tenant_id = app_tenant() AND n.fleet_id = $1
   GROUP BY n.node_id, n.last_seen, n.first_seen, rev.at),
counted AS MATERIALIZED (
  SELECT f.node_id, greatest(f.last_seen, f.last_lease) AS last_seen, coalesce(r.something, false) AS refuses, f.waits, f.live_settled < $2 AS behind,
         coalesce(f.ended >= rev.at, false) AS went,
         f.live_settled >= $2 OR f.waits @? '$[*].withheld' AND NOT f.waits @? '$[*].warming' AND NOT f.waits @? '$[*].withheld[*][4] ? (@ > 0)' AS blocked,
         CASE WHEN r.it THEN 1
              WHEN coalesce(f.live_settled, f.settled, 0) >= $2 AND f.has IS NOT FALSE THEN CASE WHEN f.late THEN 5 ELSE 4 END
              WHEN f.late THEN 6
              WHEN f.live THEN 2
              ELSE 3 END AS state -- in the order in which they are listed: nacked, pending, offline, acked
    FROM rev CROSS JOIN facts f LEFT JOIN refusing r USING (node_id)
   WHERE f.live OR greatest(f.last_seen, f.last_lease) >= rev.at - rev.win),
page AS (
  SELECT * FROM counted c
   WHERE c.state < 6 AND CASE WHEN $3 = 0 THEN c.state < 4 OR c.refuses ELSE c.state = $3 AND c.node_id > $4 END
   ORDER BY c.state, c.node_id LIMIT $5),
listed AS (
  SELECT c.node_id, c.state, CASE c.state WHEN 1 THEN greatest(r.at, rev.at) WHEN 3 THEN c.last_seen END AS at,
         r.text, r.type, r.name, r.action, r.beside, r.resolved_by, r.ending, m.list AS also, m.n AS others, o.list, o.whole, CASE c.state WHEN 2 THEN c.waits END AS waits, c.behind, c.state = 3 AND c.went AS went
    FROM rev CROSS JOIN page c
    LEFT JOIN LATERAL (
      SELECT e.at, e.type, e.name, e.action, e.beside, coalesce(e.resolved_by, end_of.revision) AS resolved_by, t.text,
             coalesce(e.ending::text, CASE WHEN e.resolved_at IS NOT NULL OR end_of.at IS NOT NULL THEN 'replaced' END) AS ending
        FROM refusals e JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash ENDED
       WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = c.node_id AND e.revision = $2
       ORDER BY coalesce(e.resolved_at, end_of.at) DESC NULLS FIRST, e.good <> '', e.type, e.name LIMIT 1) r ON c.state = 1
    LEFT JOIN LATERAL (
      SELECT (array_agg(jsonb_build_object('type', x.type, 'name', x.name, 'action', x.action, 'beside', x.beside, 'resolved_by', x.resolved_by, 'ending', x.ending, 'detail', left(x.text, 500))
               ORDER BY x.ended_at DESC NULLS FIRST, x.good <> '', x.type, x.name))[2:11] AS list, count(*) - 1 AS n
        FROM (SELECT e.type, e.name, e.action, e.beside, e.good, coalesce(e.resolved_at, end_of.at) AS ended_at, coalesce(e.resolved_by, end_of.revision) AS resolved_by, t.text,
                     coalesce(e.ending::text, CASE WHEN e.resolved_at IS NOT NULL OR end_of.at IS NOT NULL THEN 'replaced' END) AS ending
                FROM refusals e JOIN nack_texts t ON t.tenant_id = e.tenant_id AND t.fleet_id = e.fleet_id AND t.hash = e.text_hash ENDED
               WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = c.node_id AND e.revision = $2) x) m ON c.state = 1
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(jsonb_build_array(type, name) ORDER BY type, name) FILTER (WHERE first <= $2) AS list,
             jsonb_agg(jsonb_build_array(type, name) ORDER BY type, name) AS whole
        FROM (SELECT type, name, min(revision) AS first FROM refusals e
               WHERE e.tenant_id = app_tenant() AND e.fleet_id = $1 AND e.node_id = c.node_id AND OPEN
               GROUP BY type, name ORDER BY min(revision) > $2, type, name LIMIT 100) o) o ON true),
told AS (
  SELECT coalesce(sum(acked) - sum(affected), 0) AS unaffected, min(first_ack) AS first_ack, max(last_ack) AS last_ack
    FROM delivery WHERE tenant_id = app_tenant() AND fleet_id = $1 AND revision = $2),
sums AS (
  SELECT count(*) FILTER (WHERE state = 4) AS acked, count(*) FILTER (WHERE state = 1) AS nacked,
         count(*) FILTER (WHERE state = 2) AS pending, count(*) FILTER (WHERE state = 3) AS offline, count(*) FILTER (WHERE state = 3 AND went) AS went,
         count(*) FILTER (WHERE state = 2 AND blocked) AS withheld, count(*) FILTER (WHERE state = 5) AS late FROM counted)
SELECT rev.at, sums.acked, sums.nacked, sums.pending, sums.offline, sums.went, sums.withheld, sums.late,
       least(sums.acked, greatest(0, told.unaffected)),
       greatest(told.first_ack, rev.at), greatest(told.last_ack, rev.at),
       told.first_ack IS NOT NULL,
       (SELECT jsonb_agg(jsonb_build_object('id', l.node_id, 'state', l.state, 'at', l.at, 'detail', l.text, 'type', l.type, 'name', l.name,
                         'action', l.action, 'beside', l.beside, 'resolved_by', l.resolved_by, 'ending', l.ending, 'also', l.also, 'refusals', l.others, 'open', l.list,
                         'refusing', l.whole, 'waits', l.waits, 'behind', l.state = 2 AND l.behind, 'left', l.went) ORDER BY l.state, l.node_id) FROM listed l)
  FROM rev, sums, told`)

// random is a fleet whose servers, nodes and revisions do anything at all.
type random struct {
	*world
	*rand.Rand
	servers []server
	nodes   []string
	head    fleet.Revision
	said    map[string]int // what pages of nodes said, by state
	left    int            // that receipts counted as gone without the revision
}

func (r *random) revision() fleet.Revision { return fleet.Revision(r.IntN(int(r.head) + 1)) }

func (r *random) chance(percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *random, of []T) T { return of[r.IntN(len(of))] }

// step is one thing that happens.
func (r *random) step() {
	r.Helper()
	s := &r.servers[r.IntN(len(r.servers))]
	switch r.IntN(12) {
	case 0:
		r.apply(put(fleet.Cluster, "c", fmt.Sprint(r.head+1)))
		r.head++
		r.exec(`UPDATE fleet_history SET at = clock_timestamp() - make_interval(mins => $1) WHERE revision = $2`, r.IntN(3000)-5, int64(r.head))
	case 1:
		r.exec(`UPDATE xds_servers SET lease_until = clock_timestamp() - make_interval(mins => $1) WHERE server_id = $2`, 1+r.IntN(3000), s.id.String())
	case 2:
		s.term = r.lease(s.id, "s", time.Hour)
		r.exec(`UPDATE node_status SET since = since WHERE server_id = $1`, s.id.String()) // it reports again what it had, as one that lost its lease does
	case 3:
		if r.chance(10) {
			r.exec(`UPDATE fleets SET receipt_window = $1`, 60+r.IntN(200_000))
		}
		column := pick(r, []string{"first_seen", "last_seen"})
		r.exec(`UPDATE nodes SET `+column+` = clock_timestamp() - make_interval(mins => $1) WHERE node_id = $2`, r.IntN(4500), pick(r, r.nodes))
	case 4:
		r.known(s)
		n, v := pick(r, r.nodes), fmt.Sprint(r.IntN(3))
		if r.chance(60) {
			s.report(fleet.Status{Settled: r.revision(), Refusals: []fleet.Refusal{{Node: n, Type: fleet.Cluster, Name: "c", Version: v, Revision: r.revision(), Detail: "no"}}})
		} else {
			s.report(fleet.Status{Settled: r.revision(), Resolved: []fleet.Refusal{{Node: n, Type: fleet.Cluster, Name: "c", Version: v, By: r.revision()}}})
		}
	default:
		r.known(s)
		s.report(r.status(*s))
	}
}

// known has a server that is forgotten take its lease first.
func (r *random) known(s *server) {
	r.Helper()
	if s.rows()[1] == 0 {
		s.term = r.lease(s.id, "s", time.Hour)
	}
}

// status is what a server could say, and more. Most nodes are mostly at one server.
func (r *random) status(s server) fleet.Status {
	x := fleet.Status{Settled: r.revision()}
	for range 1 + r.IntN(5) {
		i, home := r.IntN(len(r.nodes)), 10
		if r.servers[i%len(r.servers)] == s {
			home = 90
		}
		n := fleet.NodeStatus{Node: r.nodes[i], Connected: r.chance(home), Since: time.Now().Add(-time.Duration(r.IntN(4500)) * time.Minute)}
		if r.chance(30) {
			n.Settled = settled(r.revision())
		}
		if r.chance(15) {
			n.Waits = r.waits()
		}
		x.Nodes = append(x.Nodes, n)
	}
	return x
}

func (r *random) waits() (w fleet.Waits) {
	if r.chance(50) {
		w = warms
	}
	for range r.IntN(4) {
		h := edgeWaits.Withheld[0]
		h.Revision = r.revision()
		w = w.With(fleet.Waits{Withheld: []fleet.Withheld{h}})
	}
	return w
}

// A receipt counts those that one server serves without a look at their status: it must tell
// what the plain statement tells, of any mixture. The soak plays 20 of them.
func TestSoakReceiptIsThatOfThePlainStatement(t *testing.T) {
	for seed := range soakSize(1, 20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := setup(t)
			r := &random{world: w, Rand: rand.New(rand.NewPCG(uint64(seed), 13)), said: map[string]int{}}
			for i := range 4 {
				r.servers = append(r.servers, w.server(fmt.Sprint("s", i)))
			}
			for i := range 25 {
				r.nodes = append(r.nodes, fmt.Sprintf("n%02d", i))
			}
			served, own, swept := 0, 0, 0
			for range 40 {
				for range 15 {
					r.step()
				}
				for range 6 {
					r.compare()
				}
				for range 3 {
					r.pages()
				}
				swept += r.sweep()
				served += w.count(`SELECT count(*) FROM nodes WHERE served_by IS NOT NULL`)
				own += w.count(`SELECT count(*) FROM nodes WHERE served_by IS NOT NULL AND (settled IS NOT NULL OR withheld IS NOT NULL)`)
			}
			if served < 100 || own < 50 {
				t.Errorf("hardly anybody was served by one server: %d, %d of them with something of their own", served, own)
			}
			for _, state := range []string{fleet.NodeAcked, fleet.NodeNacked, fleet.NodePending, fleet.NodeOffline, fleet.NodeLate, ""} {
				if r.said[state] < 5 {
					t.Errorf("hardly any node was %q: %v", state, r.said)
				}
			}
			if r.left < 5 {
				t.Errorf("hardly any node had left: %d", r.left)
			}
			if swept < 50 {
				t.Errorf("hardly anything was swept: %d rows", swept)
			}
		})
	}
}

func (r *random) compare() {
	r.Helper()
	q := store.ReceiptFilter{State: pick(r, []string{"", "", fleet.NodeAcked, fleet.NodeNacked, fleet.NodePending, fleet.NodeOffline, fleet.NodeLate}), Limit: 1 + r.IntN(30)}
	if r.chance(30) {
		q.After = pick(r, r.nodes)
	}
	if r.head == 0 {
		return
	}
	rev := 1 + fleet.Revision(r.IntN(int(r.head)))
	got, more, err := r.app.ReceiptPage(r.Context(), r.tenant, r.fleet, rev, q)
	r.ok(err)
	want, wantMore, err := r.app.ReceiptBy(r.Context(), slowReceipt, r.tenant, r.fleet, rev, q)
	r.ok(err)
	if d := cmp.Diff(want, got); d != "" || more != wantMore {
		r.Fatalf("revision %d of %d, %+v (-plain +got):\n%s", rev, r.head, q, d)
	}
}

// pages compares a receipt with what the pages of all nodes say.
func (r *random) pages() {
	r.Helper()
	if r.head == 0 {
		return
	}
	rev := max(1, r.head-fleet.Revision(r.IntN(3)))
	if r.chance(50) {
		rev = 1 + fleet.Revision(r.IntN(int(r.head)))
	}
	got := r.receipt(rev)
	window := time.Duration(r.count(`SELECT receipt_window FROM fleets WHERE id = $1`, r.fleet.String())) * time.Second
	want := fleet.Counts{Withheld: got.Counts.Withheld, Unaffected: got.Counts.Unaffected, Left: got.Counts.Left}
	r.left += got.Counts.Left
	var words []string
	for _, id := range r.nodes {
		n, err := r.app.Node(r.Context(), r.tenant, r.fleet, id)
		if errors.Is(err, fleet.ErrNotFound) {
			continue
		}
		r.ok(err)
		state := n.To(rev, got.CommittedAt, window)
		words = append(words, id+" "+state)
		r.said[state]++
		switch state {
		case fleet.NodeAcked:
			want.Acked++
		case fleet.NodeNacked:
			want.Nacked++
		case fleet.NodePending:
			want.Pending++
		case fleet.NodeOffline:
			want.Offline++
		case fleet.NodeLate:
			want.Late++
		}
	}
	if d := cmp.Diff(want, got.Counts); d != "" {
		r.Fatalf("revision %d of %d (-pages +receipt):\n%s\n%v\n%+v", rev, r.head, d, words, got.Nodes)
	}
}

// sweep changes no receipt; it returns how many rows went.
func (r *random) sweep() int {
	r.Helper()
	all := func() (rs []fleet.Receipt) {
		for rev := fleet.Revision(1); rev <= r.head; rev++ {
			rs = append(rs, r.receipt(rev))
		}
		return rs
	}
	before, rows := all(), r.count(`SELECT count(*) FROM node_status`)
	_, err := r.app.SweepServers(r.Context())
	r.ok(err)
	if d := cmp.Diff(before, all()); d != "" {
		r.Fatalf("a sweep changes receipts:\n%s", d)
	}
	if n := r.count(`SELECT count(*) FROM node_status s JOIN xds_servers x USING (server_id) WHERE x.lease_until < now() - interval '1 day'`); n > 0 {
		r.Fatalf("%d rows of servers that are dead for a day", n)
	}
	return rows - r.count(`SELECT count(*) FROM node_status`)
}
