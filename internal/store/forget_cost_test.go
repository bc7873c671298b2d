package store_test

import (
	"errors"
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// lasting makes nodes that were reported long ago and are connected still, and for every twentieth a server
// that ended long ago and told last of the node.
func (w *world) lasting(few, many int) {
	w.Helper()
	w.nodes(few, many)
	w.exec(`UPDATE nodes SET last_seen = now() - interval '90 days'`)
	w.exec(`INSERT INTO server_settled SELECT $1, $2, md5($2::uuid::text || g)::uuid, 1 FROM generate_series($3 + 1, $4::int) g WHERE g % 20 = 0`, w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`INSERT INTO node_status (tenant_id, fleet_id, node_id, server_id, connected, settled, since) SELECT $1, $2, 'n' || to_char(g, 'FM000000'), md5($2::uuid::text || g)::uuid, false, 1, now()
	          FROM generate_series($3 + 1, $4::int) g WHERE g % 20 = 0`, w.tenant.String(), w.fleet.String(), few, many)
}

// What compaction forgets of nodes and servers is looked for once for each.
func TestPlansOfForgettingNodes(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: 2 * perAnswer * 1000, fill: (*world).lasting,
		work: func(w *world, p *planned) {
			w.ok(p.Compact(w.Context(), w.tenant, w.fleet, store.Floors{}))
			if n := w.count(`SELECT count(*) FROM nodes WHERE fleet_id = $1`, w.fleet.String()); n != w.count(`SELECT count(*) FROM node_status WHERE server_id = $1`, w.fleet.String()) {
				w.Errorf("%d nodes are left", n)
			}
		},
	}.judge(t)
}

// A tenant that has hundreds of nodes too many forgets each by a look or some, in a database that nobody analyzes and with a plan
// that was made at ten.
func TestPlansOfTheCapOfNodes(t *testing.T) {
	t.Parallel()
	w := another(t)
	w.mostNodes = 1
	p := w.planned(w.db.Node, "plan_cache_mode", "force_generic_plan")
	s := w.server("s")
	const nodes, perNode = 300, 60
	cap := func(n int) reads {
		t.Helper()
		w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id, last_seen) SELECT $1, $2, 'old' || g, now() - interval '1 hour' FROM generate_series(1, $3::int) g`, w.tenant.String(), w.fleet.String(), n)
		return p.reads(func() {
			// A report is written though what it forgets took longer than it may, and the next one tries again.
			until(t, "the old ones are forgotten", func() bool {
				err := p.Report(t.Context(), fleet.Status{Key: w.key(), Server: s.id, Term: s.term, Nodes: []fleet.NodeStatus{on("n"), on(fmt.Sprint("m", n))}})
				if !errors.Is(err, fleet.ErrUnavailable) {
					w.ok(err)
				}
				return w.count(`SELECT count(*) FROM nodes WHERE node_id LIKE 'old%'`) == 0
			})
		})
	}
	cap(10)
	got := cap(nodes)
	t.Logf("to forget %d nodes %d rows are read", nodes, got.rows)
	if got.rows > perNode*nodes {
		t.Errorf("to forget %d nodes %d rows are read:%s", nodes, got.rows, got.most(12))
	}
}
