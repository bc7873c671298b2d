package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// follows is whom each node follows, by the server's id.
func (w *world) follows() map[string]string {
	w.Helper()
	rows, err := w.super.Query(w.Context(), `SELECT node_id, coalesce(CASE WHEN settled IS NULL AND withheld IS NULL THEN served_by END::text, '') FROM nodes`)
	w.ok(err)
	out := map[string]string{}
	var node, server string
	_, err = pgx.ForEachRow(rows, []any{&node, &server}, func() error { out[node] = server; return nil })
	w.ok(err)
	return out
}

// A node follows the one server that has it connected, with nothing of its own there.
func TestWhomANodeFollows(t *testing.T) {
	w := setup(t)
	a, b := w.server("a"), w.server("b")
	w.apply(put(fleet.Cluster, "c", "1"))
	withWaits := on("waits")
	withWaits.Waits = edgeWaits
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{on("one"), on("two"), on("moves"), on("dies"), {Node: "own", Connected: true, Settled: settled(0)}, {Node: "gone"}, withWaits},
		Refusals: []fleet.Refusal{{Node: "refuses", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}})
	b.report(fleet.Status{Nodes: []fleet.NodeStatus{on("two"), on("moves")}})
	want := map[string]string{"one": a.id.String(), "two": "", "moves": "", "dies": a.id.String(), "own": "", "gone": "", "waits": "", "refuses": ""}
	if d := cmp.Diff(want, w.follows()); d != "" {
		t.Error(d)
	}
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "moves"}, {Node: "own", Connected: true}},
		Refusals: []fleet.Refusal{{Node: "one", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}})
	want["moves"], want["own"] = b.id.String(), a.id.String()
	a.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "dies", Connected: true, Settled: settled(1)}}})
	want["dies"] = ""
	if d := cmp.Diff(want, w.follows()); d != "" {
		t.Error(d)
	}
}
