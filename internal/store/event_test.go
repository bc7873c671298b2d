package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// events are the kinds and what they are about, newest first.
func (w *world) events(node string) (out []string) {
	w.Helper()
	es, _, err := w.app.Events(w.Context(), w.tenant, w.fleet, store.EventFilter{Node: node}, store.EventCursor{}, 1000)
	w.ok(err)
	for _, e := range es {
		s := fmt.Sprintf("%s %s %s %d %s%s", e.Kind, e.Node, e.Resource.Name, e.Revision, e.Detail, e.Note)
		if e.Action != fleet.ActionNone {
			s += e.Action.String()
		}
		if e.Beside {
			s += " beside another"
		}
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

func TestEvents(t *testing.T) {
	w := setup(t)
	bad := put(fleet.Cluster, "c", "bad")
	w.apply(put(fleet.Cluster, "c", "good"))
	w.apply(bad)
	s := w.server("s")
	refusal := fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: bad.Version, Revision: 2, Detail: "no", At: time.Now()}
	for range 3 { // told again, as after an answer that was lost
		s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{refusal}})
	}
	want := []string{"refused a c 2 no"}
	if d := cmp.Diff(want, w.events("")); d != "" {
		t.Fatal(d)
	}
	refusal.Action, refusal.Good = fleet.ActionKept, "g"
	for range 3 {
		s.report(fleet.Status{Refusals: []fleet.Refusal{refusal}})
	}
	want = append([]string{"kept_back a c 2 kept"}, want...)
	if d := cmp.Diff(want, w.events("a")); d != "" {
		t.Fatal(d)
	}
	w.apply(put(fleet.Cluster, "c", "fixed")) // ends it in the commit
	w.endRefusals()
	for range 2 {
		s.report(fleet.Status{Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: bad.Version, By: 3}}})
	}
	want = append([]string{"recovered a c 3"}, want...)
	if d := cmp.Diff(want, w.events("")); d != "" {
		t.Fatal(d)
	}
	refusal.At, refusal.Offer = time.Now(), 1
	s.report(fleet.Status{Refusals: []fleet.Refusal{refusal}}) // refused again
	want = append([]string{"kept_back a c 2 kept", "refused a c 2 no"}, want...)
	if d := cmp.Diff(want, w.events("")); d != "" {
		t.Fatal(d)
	}
	for range 2 { // a whole refusal in one report, which is given again
		s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("whole")}, Settled: 2,
			Refusals: []fleet.Refusal{{Node: "whole", Type: fleet.Cluster, Name: "c", Version: "x", Revision: 2, Detail: "no", Action: fleet.ActionRemoved, At: refusal.At}},
			Resolved: []fleet.Refusal{{Node: "whole", Type: fleet.Cluster, Name: "c", Version: "x", By: 3}}})
	}
	if d := cmp.Diff([]string{"recovered whole c 3", "kept_back whole c 2 removed", "refused whole c 2 no"}, w.events("whole")); d != "" {
		t.Fatal(d)
	}
	refusal.Beside = true
	for range 2 {
		s.report(fleet.Status{Refusals: []fleet.Refusal{refusal}})
	}
	want = append([]string{"kept_back a c 2 kept beside another"}, want...)
	if d := cmp.Diff(want, w.events("a")); d != "" {
		t.Fatal(d)
	}
	_, err := w.app.RetryNode(t.Context(), w.tenant, w.fleet, actor, "a")
	w.ok(err)
	dup := on("b")
	for range 2 {
		dup.Duplicates = 2
		s.report(fleet.Status{Nodes: []fleet.NodeStatus{dup}})
	}
	want = append([]string{"duplicates b  0 2 clients have this node id", "offered a c 2"}, want...)
	if d := cmp.Diff(want[1:], w.events("a")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[:1], w.events("b")); d != "" {
		t.Error(d)
	}
	if got := w.events("b"); len(got) != 1 {
		t.Errorf("of one node: %v", got)
	}
	dup.Duplicates = 0
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{dup}})
	if got := w.events("b"); len(got) != 1 {
		t.Errorf("when it is over: %v", got)
	}
}

func TestEventsArePagedAndForgotten(t *testing.T) {
	w := setup(t)
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, revision)
		SELECT $1, $2, date_trunc('minute', now()) - i / 3 * interval '1 minute', 'refused', 'n' || i % 2, i FROM generate_series(1, 10) i`, w.tenant.String(), w.fleet.String())
	for _, c := range []struct {
		node        string
		limit, want int
	}{{"", 3, 10}, {"", 100, 10}, {"n1", 2, 5}, {"other", 2, 0}} {
		seen, after := map[[16]byte]bool{}, store.EventCursor{}
		for more := true; more; {
			var es []store.Event
			var err error
			es, more, err = w.app.Events(t.Context(), w.tenant, w.fleet, store.EventFilter{Node: c.node}, after, c.limit)
			w.ok(err)
			for _, e := range es {
				if seen[e.ID] || !after.At.IsZero() && e.At.After(after.At) {
					t.Errorf("%+v: out of order or twice", e)
				}
				seen[e.ID], after = true, store.EventCursor{At: e.At, ID: e.ID}
			}
		}
		if len(seen) != c.want {
			t.Errorf("%+v: %d events", c, len(seen))
		}
	}
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id) SELECT $1, $2, now() - interval '1 hour', 'refused', 'old' FROM generate_series(1, 10000)`,
		w.tenant.String(), w.fleet.String())
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id) SELECT $1, $2, now() - interval '31 days', 'refused', 'ancient'`, w.tenant.String(), w.fleet.String())
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	if all, young := w.count(`SELECT count(*) FROM node_events`), w.count(`SELECT count(*) FROM node_events WHERE revision > 0`); all != 10_000 || young != 10 {
		t.Errorf("%d are kept, %d of the newest", all, young)
	}
	w.exec(`UPDATE node_events SET at = now() - interval '31 days' WHERE node_id = 'old'`)
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	if all := w.count(`SELECT count(*) FROM node_events`); all != 10 {
		t.Errorf("%d are kept of the last 30 days", all)
	}
}

// Events of another tenant's fleet are nowhere.
func TestEventsStayInTheirTenant(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}})
	es, _, err := w.app.Events(t.Context(), w.db.Tenant(t), w.fleet, store.EventFilter{}, store.EventCursor{}, 0)
	w.ok(err)
	if len(es) != 0 || len(w.events("")) != 1 {
		t.Errorf("a stranger sees %+v", es)
	}
}
