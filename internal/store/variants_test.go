package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func variant(c store.ResourceChange, name, selector string, priority int32) store.ResourceChange {
	c.Variant, c.Selector, c.Priority = name, selector, priority
	return fill(c)
}

// TestReselected: the catch-up tells when a variant may have left nodes to others.
func TestReselected(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"), variant(put(fleet.Cluster, "c", "EU"), "eu", "locality.region=eu", 0))
	reselected := func(want fleet.Revision) {
		t.Helper()
		for _, row := range w.load().Rows {
			if row.Variant == "eu" && row.Reselected != want || row.Variant == "" && row.Reselected != 0 {
				t.Errorf("%s %q: reselected at %d, want %d", row.Name, row.Variant, row.Reselected, want)
			}
		}
	}
	reselected(0)
	w.apply(variant(put(fleet.Cluster, "c", "EU2"), "eu", "locality.region=eu", 0)) // 2
	reselected(0)
	w.apply(variant(put(fleet.Cluster, "c", "EU2"), "eu", "locality.region=us", 0)) // 3
	reselected(3)
	w.apply(variant(put(fleet.Cluster, "c", "EU2"), "eu", "locality.region=us", 5)) // 4
	reselected(4)
	w.apply(variant(put(fleet.Cluster, "c", "EU3"), "eu", "locality.region=us", 5)) // 5
	reselected(4)
	w.apply(store.ResourceChange{Type: fleet.Cluster, Name: "c", Variant: "eu", Delete: true}) // 6
	reselected(6)
}

// TestRefusalOfAVariant: what a node refuses of its variant stands while another one
// changes, and belongs to the revision that brought it or made the node match.
func TestRefusalOfAVariant(t *testing.T) {
	w := setup(t)
	s := w.server("x")
	eu := variant(put(fleet.Listener, "l", "bad"), "eu", "locality.region=eu", 0)
	w.apply(put(fleet.Listener, "l", "1"), eu) // 1
	refuse := func(rev fleet.Revision) {
		t.Helper()
		s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{
			{Node: "a", Type: fleet.Listener, Name: "l", Version: eu.Version, Revision: rev, Detail: "no", Action: fleet.ActionRemoved},
		}})
	}
	open := func() int { return w.count(`SELECT count(*) FROM refusals WHERE resolved_at IS NULL`) }
	refuse(1)
	w.apply(put(fleet.Listener, "l", "2")) // 2
	if open() != 1 {
		t.Error("a change of the default variant ended the refusal of another")
	}
	eu.Labels = map[string]string{"a": "b"}
	w.apply(fill(eu)) // 3: a label's
	refuse(3)
	if n := w.count(`SELECT count(*) FROM refusals WHERE revision = 1`); n != 1 || open() != 1 {
		t.Errorf("%d refusals of revision 1, %d open: want that a label's change is none of its own", n, open())
	}
	eu.Selector = "locality.region in (eu,us)"
	w.apply(fill(eu)) // 4
	refuse(4)
	if n := w.count(`SELECT count(*) FROM refusals WHERE revision = 4`); n != 1 {
		t.Error("the refusal is not that of the revision that made the node match")
	}
	w.apply(variant(put(fleet.Listener, "l", "fixed"), "eu", "locality.region=eu", 0)) // 5
	if w.endRefusals(); open() != 0 {
		t.Error("the refusal stands although no variant has that version")
	}
}

// TestPastTellsTheView is SEMANTICS 3.4.
func TestPastTellsTheView(t *testing.T) {
	w := setup(t)
	s := w.server("x")
	w.apply(put(fleet.Cluster, "c", "1"))
	n := on("a")
	n.View = "0123"
	s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{n}})
	if p := w.past("a", fleet.ServerID{}); p.View != "0123" {
		t.Errorf("the view is %q", p.View)
	}
	n.View, n.Connected, n.Settled = "", false, settled(1)
	s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{n}})
	if p := w.past("a", fleet.ServerID{}); p.View != "" || !p.Known {
		t.Errorf("the view is %q", p.View)
	}
}

func TestNodeLabels(t *testing.T) {
	w := setup(t)
	s := w.server("x")
	w.apply(put(fleet.Cluster, "c", "1"))
	a, b := on("a"), on("b")
	a.Cluster, a.UserAgent, a.Version = "edge", "envoy", "1.40.0"
	a.Labels = &fleet.NodeLabels{Region: "eu", Zone: "z", SubZone: "s", MetadataJSON: []byte(`{"role":"edge","nul":"\\u0000"}`), Contrib: fleet.ContribTold | 5}
	b.Labels = &fleet.NodeLabels{Region: "us", Cut: true}
	s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{a, b, on("c")}})
	d, mixed := on("d"), on("e")
	d.Protocol, mixed.Protocol = "REST LDS", "REST CDS"
	a.Labels = nil // told already
	s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{a, d, mixed}})
	mixed.Protocol = "delta ADS"
	w.server("y").report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{mixed}})
	got, more, err := w.app.NodeLabels(t.Context(), w.tenant, w.fleet, "", 0)
	w.ok(err)
	if len(got) != 5 || more {
		t.Fatalf("%+v", got)
	}
	metadata := string(got[0].MetadataJSON)
	got[0].MetadataJSON = nil
	want := []store.LabeledNode{
		{Node: fleet.Node{ID: "a", Cluster: "edge", UserAgent: "envoy", Version: "1.40.0", Region: "eu", Zone: "z", SubZone: "s", Contrib: fleet.ContribTold | 5}, Known: true},
		{Node: fleet.Node{ID: "b", Region: "us"}},
		{Node: fleet.Node{ID: "c"}},
		{Node: fleet.Node{ID: "d", Polls: true}},
		{Node: fleet.Node{ID: "e"}}, // it has a stream too
	}
	if d := cmp.Diff(want, got); d != "" || !strings.Contains(metadata, `"role"`) {
		t.Errorf("%s, metadata %s", d, metadata)
	}
	_, err = w.app.OneNodeLabels(t.Context(), w.tenant, w.fleet, "nobody")
	w.is(err, fleet.ErrNotFound)
	one, err := w.app.OneNodeLabels(t.Context(), w.tenant, w.fleet, "a")
	if w.ok(err); string(one.MetadataJSON) != metadata || !one.Known {
		t.Errorf("%+v", one)
	}
	nodes, err := w.app.NodesOf(t.Context(), w.tenant, w.fleet, []string{"c", "a", "nobody"})
	if w.ok(err); len(nodes) != 2 || nodes[0].ID != "a" || nodes[1].ID != "c" {
		t.Errorf("%+v", nodes)
	}
}

// TestNodeConfigOfAVariant: a page is of the variants that it was told to choose.
func TestNodeConfigOfAVariant(t *testing.T) {
	w := setup(t)
	s := w.server("x")
	eu := variant(put(fleet.Cluster, "c", "EU"), "eu", "locality.region=eu", 0)
	us := variant(put(fleet.Cluster, "only-us", "US"), "us", "locality.region=us", 0)
	w.apply(put(fleet.Cluster, "c", "1"), eu, us, put(fleet.Cluster, "d", "1"))
	us.Delete = true
	w.apply(us)
	s.report(fleet.Status{Key: w.key(), Nodes: []fleet.NodeStatus{{Node: "a", Connected: true, Settled: settled(1), Since: time.Now()}}})
	rows, at, err := w.app.Variants(t.Context(), w.tenant, w.fleet, nil)
	w.ok(err)
	if at != 2 || len(rows) != 2 || rows[0].Variant != "eu" || rows[0].Selector != "locality.region=eu" || !rows[1].Deleted || rows[1].Name != "only-us" {
		t.Errorf("the variants at %d are %+v", at, rows)
	}
	rows, _, err = w.app.Variants(t.Context(), w.tenant, w.fleet, []fleet.Ref{{Type: fleet.Cluster, Name: "d"}})
	if w.ok(err); len(rows) != 0 {
		t.Errorf("d has the variants %+v", rows)
	}
	config := func(q store.ConfigFilter) map[string]string {
		t.Helper()
		c, err := w.app.NodeConfig(t.Context(), w.tenant, w.fleet, "a", q)
		w.ok(err)
		out := map[string]string{}
		for _, r := range c.Resources {
			out[r.Name+"/"+r.Variant] = r.Present.Version
		}
		return out
	}
	choice := store.Choice{Ref: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Variant: "eu", Moved: 2}
	want := map[string]string{"c/eu": eu.Version, "d/": put(fleet.Cluster, "d", "1").Version}
	if d := cmp.Diff(want, config(store.ConfigFilter{Choices: []store.Choice{choice}})); d != "" {
		t.Error(d)
	}
	delete(want, "d/")
	if d := cmp.Diff(want, config(store.ConfigFilter{Choices: []store.Choice{choice}, State: store.ConfigPending})); d != "" {
		t.Error("what another variant's leave brought: " + d)
	}
	choice.Variant = ""
	if got := config(store.ConfigFilter{Choices: []store.Choice{choice}}); got["c/"] != put(fleet.Cluster, "c", "1").Version {
		t.Errorf("%v", got)
	}
}
