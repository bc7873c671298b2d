package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

const week = 7 * 24 * time.Hour

// noteLoad is what a server notes of the world's fleet: clusters that are called have a ! behind their names, nodes an @ before theirs.
func (w *world) noteLoad(words ...string) {
	w.Helper()
	var seen fleet.LoadSeen
	for _, word := range words {
		if node, ok := strings.CutPrefix(word, "@"); ok {
			seen.Nodes = append(seen.Nodes, fleet.NodeSeen{Key: w.key(), Node: node})
			continue
		}
		name, called := strings.CutSuffix(word, "!")
		seen.Clusters = append(seen.Clusters, fleet.ClusterSeen{Key: w.key(), Cluster: name, Called: called})
	}
	left, err := w.node.NoteLoad(w.Context(), seen)
	w.ok(err)
	if len(left.Clusters)+len(left.Nodes) > 0 {
		w.Fatalf("left are %+v", left)
	}
}

// idle are the clusters that nobody has called for a week.
func (w *world) idle() (names []string) {
	w.Helper()
	cs, err := w.app.IdleClusters(w.Context(), w.tenant, w.fleet, week)
	w.ok(err)
	for _, c := range cs {
		names = append(names, c.Cluster)
	}
	return names
}

// watched is a fleet with the clusters a and b, which one node has had for eight days, and reported.
func watched(t *testing.T) *world {
	t.Helper()
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}})
	w.noteLoad("a", "b", "@n")
	w.exec(`UPDATE nodes SET first_seen = now() - interval '8 days', last_seen = now() - interval '8 days'`)
	w.exec(`UPDATE load_clusters SET reported_since = now() - interval '8 days'`)
	w.exec(`UPDATE load_nodes SET reported_since = now() - interval '8 days'`)
	return w
}

// A cluster is idle where it is known for certain that no proxy has called it for a week: each of these alone makes it unknown.
func TestWhatIsNotKnownOfCallsIsNotSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		want   []string
	}{
		"nothing":      {func(*world) {}, []string{"a", "b"}},
		"it is called": {func(w *world) { w.noteLoad("a!") }, []string{"b"}},
		"it was called six days ago": {func(w *world) {
			w.exec(`UPDATE load_clusters SET called_at = now() - interval '6 days' WHERE cluster = 'a'`)
		}, []string{"b"}},
		"it was called more than a week ago": {func(w *world) { w.exec(`UPDATE load_clusters SET called_at = now() - interval '7 days 1 minute'`) }, []string{"a", "b"}},
		"it is reported for six days": {func(w *world) {
			w.exec(`UPDATE load_clusters SET reported_since = now() - interval '6 days' WHERE cluster = 'a'`)
		}, []string{"b"}},
		"nobody reports it any more": {func(w *world) {
			w.exec(`UPDATE load_clusters SET reported_at = now() - interval '61 minutes' WHERE cluster = 'a'`)
		}, []string{"b"}},
		"it was not reported for half an hour": {func(w *world) {
			w.exec(`UPDATE load_clusters SET reported_at = now() - interval '31 minutes' WHERE cluster = 'a'`)
			w.noteLoad("a")
		}, []string{"b"}},
		"it was not reported for twenty minutes": {func(w *world) {
			w.exec(`UPDATE load_clusters SET reported_at = now() - interval '20 minutes'`)
			w.noteLoad("a")
		}, []string{"a", "b"}},
		"a report was left out": {func(w *world) { w.noteLoad("") }, nil},
		"one was left out more than a week ago": {func(w *world) {
			w.noteLoad("")
			w.exec(`UPDATE load_clusters SET reported_at = now() - interval '7 days 1 minute' WHERE cluster = ''`)
		}, []string{"a", "b"}},
		"a node does not report":           {func(w *world) { w.server("t").report(fleet.Status{Nodes: []fleet.NodeStatus{on("other")}}) }, nil},
		"one did not, and left yesterday":  {func(w *world) { w.leftAgo("other", "1 day") }, nil},
		"one did not, and left a week ago": {func(w *world) { w.leftAgo("other", "7 days 1 minute") }, []string{"a", "b"}},
		"one that left yesterday did": {func(w *world) {
			w.leftAgo("other", "1 day")
			w.noteLoad("@other")
			w.exec(`UPDATE load_nodes SET reported_since = now() - interval '9 days', reported_at = now() - interval '1 day' WHERE node_id = 'other'`)
		}, []string{"a", "b"}},
		"one that left yesterday had ended to": {func(w *world) {
			w.leftAgo("other", "1 day")
			w.noteLoad("@other")
			w.exec(`UPDATE load_nodes SET reported_since = now() - interval '9 days', reported_at = now() - interval '2 days' WHERE node_id = 'other'`)
		}, nil},
		"a node that is there has ended to":    {func(w *world) { w.exec(`UPDATE load_nodes SET reported_at = now() - interval '61 minutes'`) }, nil},
		"a node that was there before reports": {func(w *world) { w.exec(`UPDATE load_nodes SET reported_since = now() - interval '5 days'`) }, nil},
		"one that came then reports from then on": {func(w *world) {
			w.exec(`UPDATE load_nodes SET reported_since = now() - interval '5 days'`)
			w.exec(`UPDATE nodes SET first_seen = now() - interval '5 days 10 minutes'`)
		}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := watched(t)
			c.change(w)
			if got := w.idle(); !slices.Equal(got, c.want) {
				t.Errorf("idle are %q, want %q", got, c.want)
			}
		})
	}
}

// leftAgo is a node that was there for ten days until some time ago.
func (w *world) leftAgo(node, ago string) {
	w.Helper()
	w.server("u").report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: node, Settled: settled(0)}}})
	w.exec(`UPDATE nodes SET first_seen = now() - interval '10 days', last_seen = now() - $2::interval WHERE node_id = $1`, node, ago)
}

// Rows are of the fleet's own clusters and nodes, one each, and are written once in some minutes.
func TestT49_ReportsLeaveOneRowForEachOfTheFleetsClusters(t *testing.T) {
	w := watched(t)
	w.apply(put(fleet.Cluster, "gone", "1"))
	w.apply(del(fleet.Cluster, "gone"))
	elsewhere := fleet.Key{Tenant: w.tenant, Fleet: fleet.NewID()}
	w.noteLoad("made-up", "gone!", "b!", "", "@stranger")
	_, err := w.node.NoteLoad(t.Context(), fleet.LoadSeen{Clusters: []fleet.ClusterSeen{{Key: elsewhere, Cluster: "a"}}, Nodes: []fleet.NodeSeen{{Key: elsewhere, Node: "n"}}})
	w.ok(err)
	state := func() string {
		return strings.Join(strings1(t, w.super, `SELECT cluster || ' ' || xmin FROM load_clusters UNION ALL SELECT node_id || ' ' || xmin FROM load_nodes ORDER BY 1`), "\n")
	}
	if n := w.count(`SELECT count(*) FROM load_clusters WHERE cluster IN ('', 'a', 'b')`); n != 3 || w.count(`SELECT count(*) FROM load_clusters`) != n || w.count(`SELECT count(*) FROM load_nodes`) != 1 {
		t.Errorf("the rows are %s", state())
	}
	before := state()
	for range 3 {
		w.noteLoad("a", "b!", "", "@n")
	}
	if after := state(); after != before {
		t.Errorf("written again at once:\n%s\nbefore:\n%s", after, before)
	}
	w.exec(`UPDATE load_clusters SET reported_at = reported_at - interval '5 minutes', called_at = called_at - interval '5 minutes'`)
	w.exec(`UPDATE load_nodes SET reported_at = reported_at - interval '5 minutes'`)
	w.noteLoad("a", "b!", "", "@n")
	if n := w.count(`SELECT count(*) FROM load_clusters WHERE reported_at > now() - interval '1 minute' AND coalesce(called_at > now() - interval '1 minute', true)`); n != 3 ||
		w.count(`SELECT count(*) FROM load_nodes WHERE reported_at > now() - interval '1 minute'`) != 1 {
		t.Errorf("five minutes later: %s", state())
	}
}

// Many at once go in parts.
func TestManyClustersAreNotedInParts(t *testing.T) {
	w := setup(t)
	var words []string
	for i := range 4500 {
		words = append(words, fmt.Sprint("c", i))
	}
	w.clusters(0, 4500)
	w.noteLoad(words...)
	if n := w.count(`SELECT count(*) FROM load_clusters`); n != 4499 { // they are c1 to c4500
		t.Errorf("%d clusters are noted", n)
	}
}

// What nobody reports goes after two hours, that something was left out after eight days, and a node's row with the node.
func TestWhatIsKeptOfLoadReportsGoes(t *testing.T) {
	w := watched(t)
	w.noteLoad("")
	w.exec(`UPDATE load_clusters SET reported_at = now() - interval '119 minutes' WHERE cluster = 'a'`)
	w.exec(`UPDATE load_clusters SET reported_at = now() - interval '121 minutes' WHERE cluster IN ('', 'b')`)
	if n, err := w.app.SweepLoad(t.Context()); err != nil || n != 1 || w.count(`SELECT count(*) FROM load_clusters WHERE cluster <> 'b'`) != 2 {
		t.Errorf("%d went, %v", n, err)
	}
	w.exec(`UPDATE load_clusters SET reported_at = now() - interval '193 hours'`)
	if n, err := w.app.SweepLoad(t.Context()); err != nil || n != 2 || w.count(`SELECT count(*) FROM load_clusters`) != 0 {
		t.Errorf("%d went, %v", n, err)
	}
	w.exec(`DELETE FROM nodes`)
	if n := w.count(`SELECT count(*) FROM load_nodes`); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
}

// idleAndNodes makes clusters that nobody calls, and nodes that report.
func (w *world) idleAndNodes(few, many int) {
	w.Helper()
	w.clusters(few, many)
	w.nodes(few, many)
	w.exec(`INSERT INTO load_clusters SELECT $1, $2, 'c' || g, now() - interval '8 days', now() FROM generate_series($3 + 1, $4::int) g`, w.tenant.String(), w.fleet.String(), few, many)
	w.exec(`INSERT INTO load_nodes SELECT tenant_id, fleet_id, node_id, now() - interval '8 days', now() FROM nodes WHERE fleet_id = $1 ON CONFLICT DO NOTHING`, w.fleet.String())
}

// To find idle clusters costs what the fleet has of clusters and nodes, each once. To note some costs what is noted, and a sweep that finds nothing costs nothing.
func TestPlansOfIdleClusters(t *testing.T) {
	t.Parallel()
	judgeAll(t, (*world).idleAndNodes, 1000, map[string]planCase{
		"a look": {
			most: 2 * perAnswer * 1000,
			work: func(w *world, p *planned) {
				idle, err := p.IdleClusters(w.Context(), w.tenant, w.fleet, week)
				w.ok(err)
				if len(idle) < fewRows {
					w.Errorf("%d clusters", len(idle))
				}
			},
		},
		"a note": {
			node: true, most: 2 * perAnswer * 2 * fewRows,
			work: func(w *world, p *planned) {
				var seen fleet.LoadSeen
				for i := range fewRows {
					seen.Clusters = append(seen.Clusters, fleet.ClusterSeen{Key: w.key(), Cluster: fmt.Sprint("c", i+1), Called: false})
					seen.Nodes = append(seen.Nodes, fleet.NodeSeen{Key: w.key(), Node: fmt.Sprintf("n%06d", i+1)})
				}
				_, err := p.NoteLoad(w.Context(), seen)
				w.ok(err)
			},
		},
		"a sweep": {
			most: perAnswer,
			work: func(w *world, p *planned) {
				n, err := p.SweepLoad(w.Context())
				w.ok(err)
				if n > 0 {
					w.Errorf("%d are swept", n)
				}
			},
		},
	})
}
