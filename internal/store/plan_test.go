package store_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// planned is a store whose statements tell their plans, those inside of functions, of
// triggers and of foreign keys too. It has one connection, so that what a session caches
// is cached for the next call.
type planned struct {
	*store.Store
	t   testing.TB
	mu  sync.Mutex // guards got and bad
	got []plan
	bad error
}

// plan is what one statement did.
type plan struct {
	SQL  string   `json:"Query Text"`
	Root planNode `json:"Plan"`
}

// planNode is a node of a plan; numbers of rows are of one loop, as the average of all.
type planNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Index     string     `json:"Index Name"`
	CTE       string     `json:"CTE Name"`
	Rows      float64    `json:"Actual Rows"`
	Loops     float64    `json:"Actual Loops"`
	Filtered  float64    `json:"Rows Removed by Filter"`
	Joined    float64    `json:"Rows Removed by Join Filter"`
	Rechecked float64    `json:"Rows Removed by Index Recheck"`
	Hit       int        `json:"Shared Hit Blocks"` // of the node and those below
	Read      int        `json:"Shared Read Blocks"`
	Plans     []planNode `json:"Plans"`
}

// rows is how many rows the node and those below gave or threw away, over all loops. What an index gives to the bitmap of
// one heap scan is counted there alone: the index knows not which rows are dead, and a plain index scan does not tell them.
func (n planNode) rows() (sum float64) {
	sum = n.own()
	for _, p := range n.Plans {
		if n.Type != "Bitmap Heap Scan" || p.Type != "Bitmap Index Scan" {
			sum += p.rows()
		}
	}
	return sum
}

func (n planNode) own() float64 { return (n.Rows + n.Filtered + n.Joined + n.Rechecked) * n.Loops }

// reads is what some work cost, whatever the machine: it is what a test can judge.
type reads struct {
	rows   int // that nodes of plans gave or threw away
	blocks int // of 8 KiB that were looked at, an index's too
	plans  []plan
}

// planned opens a store of the URL's role whose plans are told, with these settings of its
// session, such as "plan_cache_mode", "force_generic_plan".
func (w *world) planned(url string, settings ...string) *planned {
	w.Helper()
	if !w.explained {
		w.exec(`DO $$ DECLARE s text; BEGIN
			FOREACH s IN ARRAY ARRAY['session_preload_libraries = auto_explain', 'auto_explain.log_min_duration = 0', 'auto_explain.log_nested_statements = on',
			  'auto_explain.log_analyze = on', 'auto_explain.log_timing = off', 'auto_explain.log_buffers = on', 'auto_explain.log_format = json', 'auto_explain.log_level = notice'] LOOP
			  EXECUTE format('ALTER DATABASE %I SET ', current_database()) || s;
			END LOOP; END $$`)
		w.explained = true
	}
	for i := 0; i < len(settings); i += 2 {
		url += "&" + settings[i] + "=" + settings[i+1]
	}
	p := &planned{t: w.T}
	p.Store = w.db.Open(w.T, store.Config{URL: url, MaxConns: 1, MaxNodes: w.mostNodes, Logger: slog.New(planHandler{p})})
	return p
}

// reads is what the statements of work read.
func (p *planned) reads(work func()) reads {
	p.t.Helper()
	p.take()
	work()
	r := reads{plans: p.take()}
	if len(r.plans) == 0 {
		p.t.Fatal("no statement told its plan: the work was not done by this store, or the Postgres lacks its module auto_explain")
	}
	for _, l := range r.plans {
		r.rows += int(l.Root.rows())
		r.blocks += l.Root.Hit + l.Root.Read
	}
	return r
}

func (p *planned) take() (got []plan) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad != nil {
		p.t.Fatal(p.bad)
	}
	got, p.got = p.got, nil
	return got
}

// most tells the nodes that gave or threw away the most rows, for the eyes of who looks
// for why a test fails.
func (r reads) most(n int) string {
	type line struct {
		rows float64
		text string
	}
	var lines []line
	for _, p := range r.plans {
		var walk func(planNode)
		walk = func(x planNode) {
			what := strings.TrimSpace(strings.Join([]string{x.Type, x.Relation, x.Index, x.CTE}, " "))
			lines = append(lines, line{x.own(), fmt.Sprintf("%9.0f rows: %s: (%.0f + %.0f) x %.0f: %.80s", x.own(), what,
				x.Rows, x.Filtered+x.Joined+x.Rechecked, x.Loops, strings.Join(strings.Fields(p.SQL), " "))})
			for _, c := range x.Plans {
				walk(c)
			}
		}
		walk(p.Root)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.rows, a.rows) })
	var b strings.Builder
	for _, l := range lines[:min(n, len(lines))] {
		b.WriteString("\n" + l.text)
	}
	return b.String()
}

// planHandler takes the plans out of what the database says.
type planHandler struct{ p *planned }

func (planHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h planHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h planHandler) WithGroup(string) slog.Handler          { return h }

func (h planHandler) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		text := a.Value.String()
		if at := strings.Index(text, "plan:\n{"); a.Key == "message" && at >= 0 {
			h.add(text[at+len("plan:\n"):])
		}
		return true
	})
	return nil
}

func (h planHandler) add(text string) {
	var l plan
	err := json.Unmarshal([]byte(text), &l)
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	if h.p.got = append(h.p.got, l); err != nil {
		h.p.bad = fmt.Errorf("read a plan: %w", err)
	}
}

// The instrument itself: what is read is counted, in functions too, and what is read in
// vain.
func TestPlansAreRead(t *testing.T) {
	w := setup(t)
	for i := range 50 {
		w.apply(put(fleet.Cluster, fmt.Sprintf("c%02d", i), "1"))
	}
	app, node := w.planned(w.db.App), w.planned(w.db.Node)
	r := app.reads(func() {
		_, err := app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "c01", "2")}})
		w.ok(err)
	})
	if !slices.ContainsFunc(r.plans, func(p plan) bool { return strings.Contains(p.SQL, "INSERT INTO resource_history") }) {
		t.Errorf("of %d plans none is of a function's statement", len(r.plans))
	}
	if r.rows < 10 || r.rows > 200 || r.blocks < 20 {
		t.Errorf("a write of one resource reads %d rows, %d blocks:%s", r.rows, r.blocks, r.most(20))
	}
	all := node.reads(func() {
		_, err := node.CatchUp(t.Context(), []fleet.Known{{Key: w.key()}})
		w.ok(err)
	})
	if all.rows < 100 || all.rows > 400 {
		t.Errorf("a load of 50 reads %d rows:%s", all.rows, all.most(20))
	}
	w.exec(`ALTER TABLE nodes DROP CONSTRAINT nodes_pkey CASCADE`)
	w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT $1, $2, 'n' || g FROM generate_series(1, 1000) g`, w.tenant.String(), w.fleet.String())
	if vain := app.reads(func() { _, _ = app.Node(t.Context(), w.tenant, w.fleet, "n7") }); vain.rows < 1000 {
		t.Errorf("a read of one node without an index reads %d rows:%s", vain.rows, vain.most(20))
	}
}
