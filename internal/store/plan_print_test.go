package store_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// tree is the plan with what matters of it: nodes that did something, and what they read.
func (n planNode) tree(b *strings.Builder, depth int) {
	at := depth
	if n.own() >= 100 || n.Loops >= 100 {
		what := strings.Join(strings.Fields(strings.Join([]string{n.Type, n.Relation, n.Index, n.CTE}, " ")), " ")
		fmt.Fprintf(b, "%s%s  rows=%.0f loops=%.0f", strings.Repeat("  ", depth), what, n.Rows, n.Loops)
		if out := n.Filtered + n.Joined + n.Rechecked; out > 0 {
			fmt.Fprintf(b, " removed=%.0f", out)
		}
		fmt.Fprintf(b, " buffers=%d\n", n.Hit+n.Read)
		at++
	}
	for _, c := range n.Plans {
		c.tree(b, at)
	}
}

// What docs/database.md shows: the plans of the statements that everything waits for, at 10,000 nodes
// and a million rows of history, never analyzed. Without FAIRLEAD_SOAK it is a hundredth of that.
//
//	FAIRLEAD_SOAK=1s go test -run TestSoakPlans -v ./internal/store
func TestSoakPlans(t *testing.T) {
	size := 100
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		size = 10_000
	}
	w := another(t)
	w.exec(`SET session_replication_role = replica`) // foreign keys are not looked after: it fills faster
	w.clusters(0, size)
	w.exec(`INSERT INTO fleet_history SELECT tenant_id, fleet_id, g, gen_random_uuid(), now(), 'apply', '', '', NULL, 1 FROM fleet_history CROSS JOIN generate_series(2, 100) g`)
	w.exec(`INSERT INTO resource_history (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, description, version, doc_hash, body_hash, derive_version)
		SELECT tenant_id, fleet_id, type, name, variant, g, deleted, '', 0, 0, '', version, doc_hash, body_hash, 0 FROM resource_history CROSS JOIN generate_series(2, 100) g`)
	w.exec(`UPDATE fleet_heads SET revision = 100, token = (SELECT token FROM fleet_history WHERE revision = 100)`)
	w.exec(`UPDATE resources SET revision = 100 WHERE right(name, 1) = '7' AND length(name) <= 3`)
	w.exec(`SET session_replication_role = origin`)
	w.nodes(0, size)
	known := fleet.Known{Key: w.key()}
	w.ok(w.super.QueryRow(t.Context(), `SELECT revision, token, (SELECT epoch FROM fleet_heads) FROM fleet_history WHERE revision = 99`).Scan(
		(*int64)(&known.At.Revision), (*[16]byte)(&known.At.Token), &known.At.Epoch))
	app, node := w.planned(w.db.App), w.planned(w.db.Node)
	for _, s := range []struct {
		name   string
		p      *planned
		answer int // rows that it is made from
		work   func(p *planned) error
	}{
		{"Catch-up, 10 resources changed", node, 11, func(p *planned) error {
			cs, err := p.CatchUp(t.Context(), []fleet.Known{known})
			if err == nil && len(cs[0].Rows) != 10 {
				t.Errorf("%d rows", len(cs[0].Rows))
			}
			return err
		}},
		{"Load of the whole fleet", node, size, func(p *planned) error {
			_, err := p.CatchUp(t.Context(), []fleet.Known{{Key: w.key()}})
			return err
		}},
		{"Receipt", app, size, func(p *planned) error {
			_, err := p.Receipt(t.Context(), w.tenant, w.fleet, 1)
			return err
		}},
		{"Page of 100 nodes", app, 101, func(p *planned) error {
			_, _, err := p.Nodes(t.Context(), w.tenant, w.fleet, "", 100)
			return err
		}},
		{"Write of 100 resources", app, 100, func(p *planned) error {
			_, err := p.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: batch(0, 100)})
			return err
		}},
	} {
		begun := time.Now()
		r := s.p.reads(func() { w.ok(s.work(s.p)) })
		took := time.Since(begun)
		var b strings.Builder
		for _, p := range r.plans {
			p.Root.tree(&b, 0)
		}
		t.Logf("%s: %d rows passed the nodes of the plan, %d blocks, %v with the telling\n%s", s.name, r.rows, r.blocks, took.Round(time.Millisecond), b.String())
		if r.rows > 60*s.answer {
			t.Errorf("%s: %d rows are read for an answer of %d:%s", s.name, r.rows, s.answer, r.most(12))
		}
	}
}
