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

// server is an xDS server that reports on the world's fleet.
type server struct {
	*world
	id   fleet.ServerID
	term fleet.Term
}

func (w *world) server(name string) server {
	w.Helper()
	id := fleet.NewServerID()
	return server{w, id, w.lease(id, name, time.Minute)}
}

// lease takes or renews a server's lease.
func (w *world) lease(id fleet.ServerID, name string, ttl time.Duration) fleet.Term {
	w.Helper()
	term, err := w.node.Lease(w.Context(), id, name, ttl)
	w.ok(err)
	return term
}

func (s server) report(r fleet.Status) {
	s.Helper()
	r.Key, r.Server, r.Term = s.key(), s.id, s.term
	s.ok(s.node.Report(s.Context(), r))
}

// die ends the server's lease; the server has reported nothing of its nodes' ends.
func (s server) die() {
	s.exec(`UPDATE xds_servers SET lease_until = now() - interval '1 s' WHERE server_id = $1`, s.id.String())
}

func (w *world) receipt(rev fleet.Revision) fleet.Receipt {
	w.Helper()
	r, err := w.app.Receipt(w.Context(), w.tenant, w.fleet, rev)
	w.ok(err)
	return r
}

func settled(n fleet.Revision) *fleet.Revision { return &n }

func on(node string) fleet.NodeStatus { return fleet.NodeStatus{Node: node, Connected: true} }

func TestReceipt(t *testing.T) {
	refusal := func(node string, rev fleet.Revision) fleet.Refusal {
		return fleet.Refusal{Node: node, Type: fleet.Listener, Name: "l", Version: fmt.Sprint("v", rev), Revision: rev,
			Detail: "no such filter", Action: fleet.ActionKept}
	}
	behind := func(n fleet.NodeStatus, rev fleet.Revision) fleet.NodeStatus { n.Settled = &rev; return n }
	off := func(node string, rev *fleet.Revision) fleet.NodeStatus {
		return fleet.NodeStatus{Node: node, Settled: rev}
	}
	seen := func(w *world, node, column, ago string) {
		w.exec(`UPDATE nodes SET `+column+` = (SELECT at FROM fleet_history WHERE revision = 2) - $2::interval WHERE node_id = $1`, node, ago)
	}
	for name, c := range map[string]struct {
		before fleet.Status // reported before revision 2 is made
		after  fleet.Status // and after it
		then   func(w *world, s server)
		counts fleet.Counts
		state  string
		nodes  map[string]string // not acked
	}{
		"no node": {state: "stored"},
		"all follow": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}},
			after:  fleet.Status{Settled: 2, Delivered: []fleet.Delivered{{Revision: 2, Affected: 2, Acked: 2, FirstAck: time.Now(), LastAck: time.Now()}}},
			counts: fleet.Counts{Acked: 2}, state: "delivered",
		},
		"nobody has answered": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}},
			counts: fleet.Counts{Pending: 2}, state: "pending", nodes: map[string]string{"a": "pending", "b": "pending"},
		},
		"one is behind its server": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{behind(on("b"), 1)}},
			counts: fleet.Counts{Acked: 1, Pending: 1}, state: "pending", nodes: map[string]string{"b": "pending"},
		},
		"one refuses, though it has settled": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}},
			after:  fleet.Status{Settled: 2, Refusals: []fleet.Refusal{refusal("b", 2)}},
			counts: fleet.Counts{Acked: 1, Nacked: 1}, state: "rejected", nodes: map[string]string{"b": "nacked"},
		},
		"a refusal stays when it is resolved": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 2, Refusals: []fleet.Refusal{refusal("a", 2)}},
			then: func(_ *world, s server) {
				s.report(fleet.Status{Settled: 3, Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Listener, Name: "l", Version: "v2", By: 3}}})
			},
			counts: fleet.Counts{Nacked: 1}, state: "rejected", nodes: map[string]string{"a": "nacked"},
		},
		"an older refusal stands beside an ack": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{
				{Node: "a", Type: fleet.Listener, Name: "another", Version: "v", Revision: 1, Detail: "no"}}},
			after:  fleet.Status{Settled: 2},
			counts: fleet.Counts{Acked: 1}, state: "delivered", nodes: map[string]string{"a": "acked"},
		},
		"gone before it was sent": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), off("b", nil)}},
			after:  fleet.Status{Settled: 2},
			counts: fleet.Counts{Acked: 1, Offline: 1}, state: "delivered", nodes: map[string]string{"b": "offline"},
		},
		"gone without it": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b"), off("c", nil)}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{off("b", settled(1))}},
			counts: fleet.Counts{Acked: 1, Offline: 2, Left: 1}, state: "pending", nodes: map[string]string{"b": "offline", "c": "offline"},
		},
		"all are gone without it": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{off("a", nil)}},
			counts: fleet.Counts{Offline: 1, Left: 1}, state: "pending", nodes: map[string]string{"a": "offline"},
		},
		"gone without it, and another one refuses": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{off("b", settled(1))}, Refusals: []fleet.Refusal{refusal("a", 2)}},
			counts: fleet.Counts{Nacked: 1, Offline: 1, Left: 1}, state: "rejected", nodes: map[string]string{"a": "nacked", "b": "offline"},
		},
		"it was away, came and went without it": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), off("b", nil)}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{behind(on("b"), 1)}},
			then: func(_ *world, s server) {
				s.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{off("b", settled(1))}})
			},
			counts: fleet.Counts{Acked: 1, Offline: 1, Left: 1}, state: "pending", nodes: map[string]string{"b": "offline"},
		},
		"gone without it, and back with it": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{off("a", settled(1))}},
			then:   func(_ *world, s server) { s.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("a")}}) },
			counts: fleet.Counts{Acked: 1}, state: "delivered",
		},
		"gone after it was confirmed": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{off("a", nil)}},
			counts: fleet.Counts{Acked: 1}, state: "delivered",
		},
		"a node that is gone does not follow its server": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{off("a", nil)}},
			after:  fleet.Status{Settled: 2},
			counts: fleet.Counts{Offline: 1}, state: "stored", nodes: map[string]string{"a": "offline"},
		},
		"the server is dead": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			then:   func(_ *world, s server) { s.die() },
			counts: fleet.Counts{Offline: 1}, state: "stored", nodes: map[string]string{"a": "offline"},
		},
		"the server is released": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			then:   func(w *world, s server) { w.ok(w.node.Release(w.Context(), s.id)) },
			counts: fleet.Counts{Offline: 1, Left: 1}, state: "pending", nodes: map[string]string{"a": "offline"},
		},
		"it has moved to another server": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			then: func(w *world, s server) {
				s.die()
				w.server("second").report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("a")}})
			},
			counts: fleet.Counts{Acked: 1}, state: "delivered",
		},
		"on two servers both must have confirmed": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			then: func(w *world, _ server) {
				w.server("second").report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("a")}})
			},
			counts: fleet.Counts{Pending: 1}, state: "pending", nodes: map[string]string{"a": "pending"},
		},
		"new after the commit": {
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("late")}},
			counts: fleet.Counts{Late: 1}, state: "delivered",
		},
		"new after the commit, and it refuses": {
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("late")}, Refusals: []fleet.Refusal{refusal("late", 2)}},
			counts: fleet.Counts{Nacked: 1}, state: "rejected", nodes: map[string]string{"late": "nacked"},
		},
		"new after the commit, and behind": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{behind(on("late"), 1)}},
			counts: fleet.Counts{Acked: 1}, state: "delivered",
		},
		"seen a day before": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{off("yesterday", nil), off("older", nil)}},
			then: func(w *world, _ server) {
				for _, n := range []string{"yesterday", "older"} {
					seen(w, n, "first_seen", "3 days")
				}
				seen(w, "yesterday", "last_seen", "23 hours")
				seen(w, "older", "last_seen", "25 hours")
			},
			counts: fleet.Counts{Offline: 1}, state: "stored", nodes: map[string]string{"yesterday": "offline"},
		},
		"connected for days": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}},
			after:  fleet.Status{Settled: 2},
			then: func(w *world, _ server) {
				seen(w, "a", "first_seen", "3 days")
				seen(w, "a", "last_seen", "3 days")
			},
			counts: fleet.Counts{Acked: 1}, state: "delivered",
		},
		"nothing changed for one of three": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b"), on("c")}},
			after:  fleet.Status{Settled: 2, Delivered: []fleet.Delivered{{Revision: 2, Affected: 2, Acked: 3}}},
			counts: fleet.Counts{Acked: 3, Unaffected: 1}, state: "delivered",
		},
		"nothing was sent to one that has not answered": {
			before: fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b"), on("c")}},
			after: fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{behind(on("c"), 1)},
				Delivered: []fleet.Delivered{{Revision: 2, Affected: 2, Acked: 2}}},
			counts: fleet.Counts{Acked: 2, Pending: 1}, state: "pending", nodes: map[string]string{"c": "pending"},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			w := setup(t)
			w.apply(put(fleet.Listener, "l", "1"))
			s := w.server("first")
			s.report(c.before)
			w.apply(put(fleet.Listener, "l", "2"))
			if c.after.Settled != 0 {
				s.report(c.after)
			}
			if c.then != nil {
				c.then(w, s)
			}
			r := w.receipt(2)
			if r.Counts != c.counts || r.State != c.state || r.Revision != 2 || r.CommittedAt.IsZero() {
				t.Fatalf("the receipt is %+v", r)
			}
			nodes := map[string]string{}
			for _, n := range r.Nodes {
				nodes[n.ID] = n.State
			}
			if len(nodes)+len(c.nodes) > 0 && !cmp.Equal(nodes, c.nodes) {
				t.Error("not acked:", cmp.Diff(c.nodes, nodes))
			}
		})
	}
}

func TestReceiptTellsTheWords(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "old", Version: "o", Revision: 1}}})
	committed := w.apply(put(fleet.Cluster, "c", "2")).CommittedAt
	early := committed.Add(-time.Second) // a server's clock that is slow
	s.report(fleet.Status{Settled: 2, Delivered: []fleet.Delivered{{Revision: 2, Affected: 1, FirstAck: early, LastAck: committed.Add(time.Second)}},
		Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 2, Detail: "bad\x00 \xff words", Action: fleet.ActionRemoved, At: committed}}})
	r := w.receipt(2)
	if r.FirstAck.Before(r.CommittedAt) || !r.LastAck.Equal(committed.Add(time.Second)) || !r.CommittedAt.Equal(committed) {
		t.Errorf("times: committed %v, first %v, last %v", r.CommittedAt, r.FirstAck, r.LastAck)
	}
	want := []fleet.ReceiptNode{{ID: "a", State: fleet.NodeNacked, At: committed,
		ReceiptRefusal: fleet.ReceiptRefusal{Detail: "bad� � words", Resource: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Action: fleet.ActionRemoved}, StillRefusing: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}, {Type: fleet.Cluster, Name: "old"}},
		Refusing: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}, {Type: fleet.Cluster, Name: "old"}}}}
	if d := cmp.Diff(want, r.Nodes); d != "" {
		t.Error(d)
	}
	s.report(fleet.Status{Settled: 3, Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", By: 3}}})
	if n := w.receipt(2).Nodes[0]; n.ResolvedBy != 3 || len(n.StillRefusing) != 1 {
		t.Errorf("resolved: %+v", n)
	}
	for _, rev := range []fleet.Revision{0, 3, -1} {
		_, err := w.app.Receipt(t.Context(), w.tenant, w.fleet, rev)
		w.is(err, fleet.ErrNotFound)
	}
}

// TestReceiptTellsAllThatANodeRefuses, the worst first: what has not ended, and of that what nothing stands in for.
func TestReceiptTellsAllThatANodeRefuses(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	refusal := func(typ fleet.Type, name, good, words string) fleet.Refusal {
		action := fleet.ActionRemoved
		if good != "" {
			action = fleet.ActionKept
		}
		return fleet.Refusal{Node: "a", Type: typ, Name: name, Version: "v", Revision: 1, Detail: words, Action: action, Good: good, At: time.Now()}
	}
	long := strings.Repeat("é", 600)
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a"), on("b")}, Refusals: []fleet.Refusal{
		refusal(fleet.Cluster, "kept", "g", long), refusal(fleet.Cluster, "over", "", "was bad"), refusal(fleet.Listener, "gone", "", "bad"),
	}})
	s.report(fleet.Status{Settled: 1, Resolved: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "over", Version: "v", By: 1, End: fleet.EndTaken, Ended: time.Now()}}})
	nodes := w.receipt(1).Nodes
	if len(nodes) != 1 {
		t.Fatalf("listed are %+v", nodes)
	}
	want := []fleet.ReceiptRefusal{
		{Resource: fleet.Ref{Type: fleet.Listener, Name: "gone"}, Detail: "bad", Action: fleet.ActionRemoved},
		{Resource: fleet.Ref{Type: fleet.Cluster, Name: "kept"}, Detail: long[:2*500], Action: fleet.ActionKept},
		{Resource: fleet.Ref{Type: fleet.Cluster, Name: "over"}, Detail: "was bad", Action: fleet.ActionRemoved, ResolvedBy: 1, End: fleet.EndTaken},
	}
	if d := cmp.Diff(want, append([]fleet.ReceiptRefusal{nodes[0].ReceiptRefusal}, nodes[0].Also...)); d != "" || nodes[0].MoreRefused != 0 {
		t.Error(d, nodes[0].MoreRefused)
	}
	var many []fleet.Refusal
	for i := range 12 {
		many = append(many, refusal(fleet.Route, fmt.Sprint(i), "", "bad"))
	}
	s.report(fleet.Status{Settled: 1, Refusals: many})
	if n := w.receipt(1).Nodes[0]; len(n.Also) != 10 || n.MoreRefused != 4 {
		t.Errorf("told are %d more, and that there are %d beside", len(n.Also), n.MoreRefused)
	}
}

// What one server has offered again does not end what was refused then, on whichever server and in whatever order and by
// whatever clocks that is told.
func TestRefusalAfterItWasOfferedAgain(t *testing.T) {
	w := setup(t)
	committed := w.apply(put(fleet.Cluster, "c", "1")).CommittedAt
	s, other := w.server("one"), w.server("two")
	refusal := fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: "no", At: committed, Offer: 5}
	ended := fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", By: 1, Offer: 5, End: fleet.EndOffered}
	want := func(what string, open int, offer fleet.Offer) {
		t.Helper()
		if p := w.past("n", fleet.ServerID{}); len(p.Refusals) != open || p.Offer != offer || len(p.Refusals) == 1 && (p.Refusals[0].Detail != "no" || p.Refusals[0].Offer != offer) {
			t.Errorf("%s: offer %d, and there stand %+v", what, p.Offer, p.Refusals)
		}
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Since: committed}}, Refusals: []fleet.Refusal{refusal}})
	refusal.Offer, refusal.At = 6, committed.Add(-time.Hour)
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{refusal}})
	other.report(fleet.Status{Settled: 1, Resolved: []fleet.Refusal{ended}})
	want("the end of an earlier offer comes late", 1, 6)
	earlier := refusal // that the other one could not tell sooner
	earlier.Offer, earlier.At, earlier.Detail = 5, time.Now(), "no, I said"
	other.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{earlier}, Resolved: []fleet.Refusal{ended}})
	want("what was refused in an earlier offer comes late", 1, 6)
	ended.Offer = 8
	other.report(fleet.Status{Settled: 1, Resolved: []fleet.Refusal{ended}})
	want("the offer is over", 0, 8)
	for refusal.Offer = range fleet.Offer(9) {
		s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{refusal}})
		want("what has ended is told late", 0, 8)
	}
	ended.Offer, ended.End = 9, fleet.EndTaken
	other.report(fleet.Status{Settled: 1, Resolved: []fleet.Refusal{ended}})
	refusal.Offer = 9
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{refusal}})
	want("a later end was told before what it is of", 0, 9)
	if n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n"); err != nil || n.Refusals[0].End != fleet.EndOffered {
		t.Errorf("it has ended %v, want as it did first; %v", n.Refusals[0].End, err)
	}
	refusal.Offer = 10
	s.report(fleet.Status{Settled: 1, Refusals: []fleet.Refusal{refusal}})
	want("refused again", 1, 10)
}

// TestRefusalEndsWithItsVersion: also when the server that recorded it died since.
func TestRefusalEndsWithItsVersion(t *testing.T) {
	w := setup(t)
	bad := put(fleet.Listener, "l", "bad")
	w.apply(bad)
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{
		{Node: "a", Type: fleet.Listener, Name: "l", Version: bad.Version, Revision: 1, Detail: "no"},
		{Node: "a", Type: fleet.Listener, Name: "other", Version: "v", Revision: 1, Detail: "no"},
	}})
	s.die()
	labelled := bad
	labelled.Labels = map[string]string{"team": "shop"}
	w.apply(fill(labelled)) // a revision, and the same version
	want := func(resolved map[string]fleet.Revision) {
		t.Helper()
		n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "a")
		w.ok(err)
		got := map[string]fleet.Revision{}
		for _, r := range n.Refusals {
			got[r.Name] = r.By
		}
		if d := cmp.Diff(resolved, got); d != "" {
			t.Errorf("refusals and what ended them (-want +got):\n%s", d)
		}
	}
	want(map[string]fleet.Revision{"l": 0, "other": 0})
	w.apply(put(fleet.Listener, "l", "good"))
	want(map[string]fleet.Revision{"l": 3, "other": 0})
}

func TestReceiptListsAHundred(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	var nodes []fleet.NodeStatus
	for i := range 150 {
		nodes = append(nodes, on(fmt.Sprintf("n%03d", i)))
	}
	s.report(fleet.Status{Nodes: nodes})
	w.apply(put(fleet.Cluster, "c", "1"))
	s.report(fleet.Status{Refusals: []fleet.Refusal{{Node: "n149", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}})
	r := w.receipt(1)
	if r.Counts.Pending != 149 || len(r.Nodes) != 100 || r.Nodes[0].ID != "n149" || r.Nodes[99].ID != "n098" {
		t.Errorf("%+v, %d listed", r.Counts, len(r.Nodes))
	}
}

func TestNodes(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("east-1")
	cred := fleet.NewCredentialID()
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{
		{Node: "a", Connected: true, Protocol: "delta ADS", Streams: 2, UserAgent: "envoy", Version: "1.40.0", Cluster: "edge", RemoteAddr: "10.0.0.1:1", CredentialID: cred},
		{Node: "b", Connected: true, Settled: settled(0)}, {Node: "c", Settled: settled(1)}, on("d")},
		Refusals: []fleet.Refusal{{Node: "d", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: "no", Good: "g", Action: fleet.ActionKept}}})
	ns, more, err := w.app.Nodes(ctx, w.tenant, w.fleet, "", 0)
	w.ok(err)
	states := map[string]string{}
	for _, n := range ns {
		states[n.ID] = fmt.Sprint(n.State, " ", n.Settled)
	}
	if d := cmp.Diff(map[string]string{"a": "live 1", "b": "live 0", "c": "offline 1", "d": "refusing 1"}, states); d != "" || more {
		t.Error(d)
	}
	a := ns[0]
	if a.Protocol != "delta ADS" || a.Streams != 2 || a.UserAgent != "envoy" || a.Version != "1.40.0" || a.Cluster != "edge" || a.Server != "east-1" ||
		a.Credential != cred || a.RemoteAddr != "10.0.0.1:1" || a.Connections != 1 || a.FirstSeen.IsZero() || a.LastSeen.Before(a.FirstSeen) {
		t.Errorf("a is %+v", a)
	}
	first, more, err := w.app.Nodes(ctx, w.tenant, w.fleet, "a", 2)
	w.ok(err)
	if len(first) != 2 || first[0].ID != "b" || !more {
		t.Errorf("a page after a: %d nodes, more %v", len(first), more)
	}
	s.report(fleet.Status{Settled: 2, Resolved: []fleet.Refusal{{Node: "d", Type: fleet.Cluster, Name: "c", Version: "v", By: 2}}})
	d, err := w.app.Node(ctx, w.tenant, w.fleet, "d")
	w.ok(err)
	if d.State != store.NodeLive || d.Settled != 2 || len(d.Refusals) != 1 || d.Refusals[0].By != 2 || d.Refusals[0].Detail != "no" || d.Refusals[0].Good != "g" {
		t.Errorf("d is %+v", d)
	}
	// The same refusal again: it stands again, once.
	s.report(fleet.Status{Settled: 2, Refusals: []fleet.Refusal{{Node: "d", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 3}}})
	d, err = w.app.Node(ctx, w.tenant, w.fleet, "d")
	w.ok(err)
	if d.State != store.NodeRefusing || len(d.Refusals) != 2 || !d.Refusals[0].Stands() {
		t.Errorf("d is %+v", d)
	}
	s.die()
	d, err = w.app.Node(ctx, w.tenant, w.fleet, "d")
	w.ok(err)
	if d.State != store.NodeOffline || d.Connections != 0 {
		t.Errorf("of a dead server: %+v", d)
	}
	_, err = w.app.Node(ctx, w.tenant, w.fleet, "nobody")
	w.is(err, fleet.ErrNotFound)
}

// What clients say of themselves never makes a report fail.
func TestReportTakesHostileWords(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s\x00")
	long := strings.Repeat("é", 5000)
	s.report(fleet.Status{
		Nodes: []fleet.NodeStatus{{Node: long, Connected: true, Cluster: long, UserAgent: long, Version: long, Protocol: long, RemoteAddr: long},
			on("nul\x00"), on("nul\x00"), on("bad\xff")},
		Refusals: []fleet.Refusal{{Node: long, Type: fleet.Cluster, Name: long, Detail: long}, {Node: long, Type: fleet.Cluster, Name: long, Detail: "again"}},
		Resolved: []fleet.Refusal{{Node: long, Name: long + "\x00"}},
	})
	ns, _, err := w.app.Nodes(t.Context(), w.tenant, w.fleet, "", 0)
	w.ok(err)
	if len(ns) != 3 {
		t.Errorf("%d nodes", len(ns))
	}
}

// SEMANTICS 6.1: the newest 200 revisions.
func TestDeliveryIsPruned(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	for rev := fleet.Revision(1); rev <= 250; rev += 10 {
		var ds []fleet.Delivered
		for i := range fleet.Revision(10) {
			ds = append(ds, fleet.Delivered{Revision: rev + i})
		}
		s.report(fleet.Status{Settled: rev, Delivered: ds})
	}
	if n := w.count(`SELECT count(*) FROM delivery`); n != 200 {
		t.Errorf("%d rows", n)
	}
}

// SEMANTICS 3.2: the bytes of a last known good version are kept while an exception names them.
func TestGoodBytesAreKept(t *testing.T) {
	w := setup(t)
	good := put(fleet.Cluster, "c", "good")
	w.apply(good)
	w.apply(put(fleet.Cluster, "c", "poison"))
	s := w.server("s")
	s.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{on("a")},
		Refusals: []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "poison", Revision: 2, Good: good.Version}}})
	w.apply(put(fleet.Cluster, "c", "third"))
	bodies := func() int { return w.count(`SELECT count(*) FROM bodies WHERE body = 'good'`) }
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 3, History: 3}))
	if bodies() != 1 {
		t.Fatal("the last known good bytes are gone")
	}
	// Forgotten with the node, 7 days after its last sign of life.
	w.exec(`UPDATE nodes SET last_seen = now() - interval '8 days'`)
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	if bodies() != 1 {
		t.Fatal("a node was forgotten whose server lives")
	}
	w.exec(`UPDATE xds_servers SET lease_until = now() - interval '8 days' + interval '1 minute'`)
	w.exec(`UPDATE node_events SET at = now() - interval '31 days'`) // which keep the words
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{}))
	if n := w.count(`SELECT count(*) FROM nodes`) + w.count(`SELECT count(*) FROM nack_texts`) + w.count(`SELECT count(*) FROM server_settled`) + bodies(); n != 0 {
		t.Errorf("%d rows stay of a forgotten node", n)
	}
}

func TestLeases(t *testing.T) {
	w := setup(t)
	s := w.server("a")
	w.exec(`INSERT INTO xds_servers (server_id, lease_until) VALUES (gen_random_uuid(), now() - interval '92 days')`)
	w.lease(s.id, "b", time.Hour)
	_, err := w.app.SweepServers(t.Context())
	w.ok(err)
	if n := w.count(`SELECT count(*) FROM xds_servers WHERE name = 'b' AND lease_until > now() + interval '59 minutes'`); n != 1 {
		t.Error("the lease was not renewed")
	}
	if n := w.count(`SELECT count(*) FROM xds_servers`); n != 1 {
		t.Errorf("%d servers", n)
	}
	_, err = w.app.Lease(t.Context(), s.id, "c", time.Hour)
	w.is(err, fleet.ErrForbidden)
}
