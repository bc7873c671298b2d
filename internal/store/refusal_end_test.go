package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

// TestHowARefusalEnded is kept, and what a version was refused beside: for the node's page, its receipts and events, and for the next server.
func TestHowARefusalEnded(t *testing.T) {
	w := setup(t)
	c := put(fleet.Cluster, "c", "1")
	w.apply(c)
	s := w.server("s")
	refusal := fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: c.Version, Revision: 1, Detail: "no", At: time.Now(), Rival: fleet.Rival{Name: "d", Version: "v"}}
	for _, x := range []struct {
		end   fleet.End
		event string
	}{{fleet.EndOffered, "offered a c 1"}, {fleet.EndTaken, "recovered a c 0"}, {fleet.EndReplaced, "recovered a c 1"}} {
		refusal.At = time.Now()
		refusal.Offer++
		s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{refusal}})
		ps, err := w.node.LastStreams(w.Context(), w.key(), []fleet.AskedNode{{Node: "a"}})
		w.ok(err)
		if len(ps[0].Refusals) != 1 || ps[0].Refusals[0].Rival != refusal.Rival {
			t.Fatalf("the next server hears of %+v", ps[0].Refusals)
		}
		n, err := w.app.Node(w.Context(), w.tenant, w.fleet, "a")
		w.ok(err)
		if r := n.Refusals[0]; r.End != fleet.EndNone || r.Rival.Name != "d" {
			t.Errorf("while it stands the node's page has %+v", r)
		}
		s.report(fleet.Status{Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: c.Version, Offer: refusal.Offer, By: 1, End: x.end}}})
		n, err = w.app.Node(w.Context(), w.tenant, w.fleet, "a")
		w.ok(err)
		if got := n.Refusals[0].End; got != x.end {
			t.Errorf("the node's page says %s, want %s", got, x.end)
		}
		if got := w.receipt(1).Nodes[0].End; got != x.end {
			t.Errorf("the receipt says %s, want %s", got, x.end)
		}
		if d := cmp.Diff(x.event, w.events("a")[0]); d != "" {
			t.Error(d)
		}
	}
}

// TestWhatARefusalLackedIsKept for the next server, and for the node's page: a cluster that the refused version names.
func TestWhatARefusalLackedIsKept(t *testing.T) {
	w := setup(t)
	l := put(fleet.Listener, "l", "1")
	w.apply(l)
	refusal := fleet.Refusal{Node: "a", Type: fleet.Listener, Name: "l", Version: l.Version, Revision: 1, Detail: "no", At: time.Now(), Lacked: "c"}
	w.server("s").report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{refusal}})
	ps, err := w.node.LastStreams(w.Context(), w.key(), []fleet.AskedNode{{Node: "a"}})
	w.ok(err)
	n, err := w.app.Node(w.Context(), w.tenant, w.fleet, "a")
	w.ok(err)
	for _, all := range [][]fleet.Refusal{ps[0].Refusals, n.Refusals} {
		if len(all) != 1 || all[0].Lacked != "c" || all[0].Rival != (fleet.Rival{}) {
			t.Errorf("kept is %+v", all)
		}
	}
}
