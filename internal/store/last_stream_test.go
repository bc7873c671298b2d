package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) past(node string, without fleet.ServerID) fleet.LastStream {
	w.Helper()
	ps, err := w.node.LastStreams(w.Context(), w.key(), []fleet.AskedNode{{Node: node, Without: without}})
	w.ok(err)
	if len(ps) != 1 {
		w.Fatalf("%d answers", len(ps))
	}
	return ps[0]
}

// SEMANTICS 3.4: how the node's last stream ended, wherever it was.
func TestLastStreams(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	gone := func(rev fleet.Revision, clean bool, d time.Duration) fleet.Status {
		return fleet.Status{Settled: 9, Nodes: []fleet.NodeStatus{{Node: "n", Settled: &rev, Clean: clean, Since: ago(d)}}}
	}
	here := func(rev *fleet.Revision, d time.Duration) fleet.Status {
		return fleet.Status{Settled: 7, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Settled: rev, Clean: true, Protocol: "delta ADS", Since: ago(d)}}}
	}
	for name, c := range map[string]struct {
		a, b    fleet.Status // what two servers say
		aDies   bool
		without bool // a's row is left out
		twice   bool // both count: what it had is not known
		want    fleet.LastStream
	}{
		"never seen":                {},
		"ended clean":               {a: gone(3, true, time.Minute), want: fleet.LastStream{Known: true, Settled: 3, Clean: true}},
		"ended otherwise":           {a: gone(3, false, time.Minute), want: fleet.LastStream{Known: true, Settled: 3}},
		"the last end counts":       {a: gone(3, false, time.Hour), b: gone(5, true, time.Minute), want: fleet.LastStream{Known: true, Settled: 5, Clean: true}},
		"also where it is the less": {a: gone(5, true, time.Hour), b: gone(0, false, time.Minute), want: fleet.LastStream{Known: true}},
		"its server died":           {a: here(nil, time.Hour), aDies: true, want: fleet.LastStream{Known: true, Settled: 7}},
		"its server died after it had ended elsewhere": {
			a: here(settled(2), time.Hour), b: gone(5, true, time.Minute), aDies: true, want: fleet.LastStream{Known: true, Settled: 2}},
		"lives on two": {
			a: here(settled(2), time.Hour), b: here(nil, time.Minute), twice: true, want: fleet.LastStream{Known: true, Settled: 2, Live: true, LiveAs: []string{"delta ADS", "delta ADS"}}},
		"lives elsewhere": {a: here(nil, time.Minute), b: gone(2, true, time.Hour), want: fleet.LastStream{Known: true, Settled: 7, Live: true, LiveAs: []string{"delta ADS"}}},
		"lives elsewhere, and ended somewhere since": {
			a: here(nil, time.Hour), b: gone(2, true, time.Minute), twice: true, want: fleet.LastStream{Known: true, Settled: 2, Live: true, LiveAs: []string{"delta ADS"}}},
		"what the asking server said is left out": {
			a: here(nil, time.Minute), b: gone(2, true, time.Hour), without: true, want: fleet.LastStream{Known: true, Settled: 2, Clean: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			a, b := w.server("a"), w.server("b")
			for s, r := range map[server]fleet.Status{a: c.a, b: c.b} {
				if len(r.Nodes) > 0 {
					s.report(r)
				}
			}
			if c.aDies {
				a.die()
			}
			var without fleet.ServerID
			if c.without {
				without = a.id
			}
			got := w.past("n", without)
			if ended := !got.At.IsZero(); ended != got.Known {
				t.Errorf("ended at %s", got.At)
			}
			if got.At = (time.Time{}); !c.twice {
				c.want.Held.At = c.want.Settled
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What was withheld from a node it has not: it has settled before that, and had all else of a later revision.
func TestWhatWasWithheldIsNotWhatItHad(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	for i := range 4 {
		w.apply(put(fleet.Cluster, "c", fmt.Sprint(i)))
	}
	at, l := fleet.Revision(4), fleet.Ref{Type: fleet.Listener, Name: "l"}
	waits := fleet.Waits{Withheld: []fleet.Withheld{{Ref: l, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 2}}}
	for _, connected := range []bool{true, false} {
		s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{{Node: "n", Connected: connected, Settled: &at, Waits: waits, Since: time.Now()}}})
		got := w.past("n", fleet.ServerID{})
		if d := cmp.Diff(fleet.Held{At: 4, Without: []fleet.Ref{l}}, got.Held); d != "" || got.Settled != 1 {
			t.Errorf("connected %v: settled at %d, %s", connected, got.Settled, d)
		}
	}
}

// What a node had before its last streams is what its next server is told until they have come as far; of two servers
// that count it is not known. A receipt, and the node's page, say what its streams have settled, and wait for.
func TestWhatANodeHadBeforeItsLastStreams(t *testing.T) {
	w := setup(t)
	s, other := w.server("s"), w.server("other")
	for i := range 4 {
		w.apply(put(fleet.Cluster, "c", fmt.Sprint(i)))
	}
	had := fleet.Held{At: 3, Without: []fleet.Ref{{Type: fleet.Listener, Name: "l"}, {Type: fleet.Cluster, Name: "c"}}}
	warming := fleet.Waits{Warming: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}}}
	row := func(connected bool, settled *fleet.Revision, waits fleet.Waits) fleet.NodeStatus {
		return fleet.NodeStatus{Node: "n", Connected: connected, Settled: settled, Waits: waits, Had: had, Since: time.Now()}
	}
	for name, c := range map[string]struct {
		node fleet.NodeStatus
		with fleet.Revision // the server's
		want fleet.Held
		at   fleet.Revision
	}{
		"lives":             {row(true, settled(1), fleet.Waits{}), 4, had, 1},
		"is gone":           {row(false, settled(1), fleet.Waits{}), 4, had, 1},
		"waits as well":     {row(true, settled(1), warming), 4, had, 1},
		"follows":           {row(true, nil, fleet.Waits{}), 1, had, 1},
		"follows, past it":  {row(true, nil, fleet.Waits{}), 4, fleet.Held{At: 4}, 4},
		"has come as far":   {row(true, settled(3), fleet.Waits{}), 4, fleet.Held{At: 3}, 3},
		"had nothing there": {row(true, settled(0), fleet.Waits{}), 4, had, 0},
	} {
		s.report(fleet.Status{Settled: c.with, Nodes: []fleet.NodeStatus{c.node}})
		got := w.past("n", fleet.ServerID{})
		if d := cmp.Diff(c.want, got.Held); d != "" || got.Settled != c.at {
			t.Errorf("%s: settled at %d, %s", name, got.Settled, d)
		}
		n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "n")
		w.ok(err)
		if n.Settled != c.at || !n.Waits.Equal(c.node.Waits) {
			t.Errorf("%s: its page says that it has settled %d and waits for %+v", name, n.Settled, n.Waits)
		}
		for _, x := range w.receipt(3).Nodes {
			if c.node.Connected && (x.State != fleet.NodePending || !x.Waits.Equal(c.node.Waits)) {
				t.Errorf("%s: the receipt says %+v", name, x)
			}
		}
		if counts := w.receipt(3).Counts; counts.Withheld > 0 || (counts.Late == 1) != (c.at >= 3) {
			t.Errorf("%s: the receipt counts %+v", name, counts)
		}
	}
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{row(true, settled(1), fleet.Waits{})}})
	other.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{row(true, settled(2), fleet.Waits{})}})
	if got := w.past("n", fleet.ServerID{}); got.Settled != 1 || !got.Held.Equal(fleet.Held{}) {
		t.Errorf("on two: %+v", got)
	}
	other.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{row(false, settled(2), fleet.Waits{})}})
	s.die()
	if got := w.past("n", s.id); got.Settled != 2 || !got.Held.Equal(had) {
		t.Errorf("on the other: %+v", got)
	}
}

// SEMANTICS 3.2: what stands in for a refused version is kept while it is named, with all
// that belongs to it, whatever the history forgets.
func TestThePastBringsWhatStandsIn(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	good := put(fleet.Route, "r", "good")
	good.TTL = time.Minute
	good.Derived = fleet.Derived{VHDS: true, Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "c"}}}
	good = fill(good)
	w.apply(good)
	bad := put(fleet.Route, "r", "bad")
	w.apply(bad)
	w.apply(put(fleet.Cluster, "c", "bad"))
	refusals := []fleet.Refusal{
		{Node: "n", Type: fleet.Route, Name: "r", Version: bad.Version, Revision: 2, Detail: "no", Action: fleet.ActionKept, Good: good.Version},
		{Node: "n", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 3, Detail: "no", Action: fleet.ActionRemoved},
		{Node: "other", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 3, Detail: "no", Action: fleet.ActionRemoved},
	}
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}, Refusals: refusals})
	for range 2 {
		p := w.past("n", fleet.ServerID{})
		if len(p.Refusals) != 2 || p.Refusals[0].Name != "c" || p.Refusals[0].Row != nil || p.Refusals[0].Action != fleet.ActionRemoved {
			t.Fatalf("%+v", p)
		}
		r := p.Refusals[1]
		want := &fleet.Row{Type: fleet.Route, Name: "r", Version: good.Version, Revision: 1, TTL: time.Minute, Body: []byte("good"), Derived: good.Derived}
		if d := cmp.Diff(want, r.Row); d != "" || r.Version != bad.Version || r.Revision != 2 || r.Detail != "no" || r.Node != "n" || r.At.IsZero() {
			t.Error(d, r)
		}
		// The history forgets it, and the same is told once more.
		w.apply(put(fleet.Cluster, "d", "1"))
		w.ok(w.app.Compact(w.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 3, History: 3}))
		if n := w.count(`SELECT count(*) FROM resource_history WHERE type = 'routes' AND revision = 1`); n != 0 {
			t.Fatal("the history still has it")
		}
		s.report(fleet.Status{Refusals: refusals})
	}
	s.report(fleet.Status{Resolved: []fleet.Refusal{{Node: "n", Type: fleet.Route, Name: "r", Version: bad.Version, By: 4}}})
	p := w.past("n", fleet.ServerID{})
	if len(p.Refusals) != 1 {
		t.Errorf("what is resolved is still told: %+v", p)
	}
	// But what stood in when it settled is what it held then.
	if len(p.Ended) != 1 || p.Ended[0].Row == nil || p.Ended[0].Stood(1) || !p.Ended[0].Stood(3) || p.Ended[0].Stood(4) || p.Refusals[0].By != 0 {
		t.Errorf("what has ended: %+v", p.Ended)
	}
	w.apply(put(fleet.Cluster, "d", "2")) // what was offered again at the very revision may not have been taken
	at := fleet.Revision(5)
	s.report(fleet.Status{Settled: 5, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Settled: &at, Since: time.Now()}}})
	if p := w.past("n", fleet.ServerID{}); len(p.Ended) != 0 {
		t.Errorf("what ended before it settled is told: %+v", p.Ended)
	}
}

// crowd reports nodes of a server, all of which have refused the same, some more than that.
func (w *world) crowd(s server, nodes int, refused func(i int) int) (asked []fleet.AskedNode, good store.ResourceChange) {
	w.Helper()
	good = put(fleet.Route, "r", "good")
	w.apply(good)
	var st fleet.Status
	var refusals []fleet.Refusal
	for i := range nodes {
		n := fmt.Sprint("n", i)
		asked = append(asked, fleet.AskedNode{Node: n})
		st.Nodes = append(st.Nodes, fleet.NodeStatus{Node: n, Settled: settled(fleet.Revision(i % 3)), Since: time.Now()})
		for k := range refused(i) {
			refusals = append(refusals, fleet.Refusal{Node: n, Type: fleet.Route, Name: "r", Version: fmt.Sprint("bad", k), Revision: 1, Action: fleet.ActionKept, Good: good.Version})
		}
	}
	s.report(st)
	for part := range slices.Chunk(refusals, 300) { // as a server does, in parts: one of all may take longer than a report may
		s.report(fleet.Status{Refusals: part})
	}
	return asked, good
}

// A crowd is answered in the order of the question, each node as if it had been asked for alone.
func TestLastStreamsOfACrowd(t *testing.T) {
	w := setup(t)
	asked, good := w.crowd(w.server("s"), 40, func(i int) int { return i % 3 })
	asked = slices.Insert(asked, 3, fleet.AskedNode{Node: "nobody"})
	all, err := w.node.LastStreams(t.Context(), w.key(), asked)
	w.ok(err)
	if len(all) != len(asked) || all[3].Known {
		t.Fatalf("%d answers for %d nodes, of nobody %+v", len(all), len(asked), all[3])
	}
	for i, n := range asked {
		if d := cmp.Diff(w.past(n.Node, fleet.ServerID{}), all[i]); d != "" {
			t.Errorf("%s: %s", n.Node, d)
		}
		for _, f := range all[i].Refusals {
			if f.Row == nil || string(f.Row.Body) != "good" || f.Good != good.Version || f.Node != n.Node {
				t.Errorf("%s: %+v", n.Node, f)
			}
		}
	}
	if none, err := w.node.LastStreams(t.Context(), w.key(), nil); err != nil || none != nil {
		t.Errorf("of no node: %v, %v", none, err)
	}
}

// Where nodes have refused very much the answer is about the first ones, and about these whole.
func TestLastStreamsAreCutBetweenNodes(t *testing.T) {
	w := setup(t)
	const each = 900
	asked, _ := w.crowd(w.server("s"), 5, func(int) int { return each })
	all, err := w.node.LastStreams(t.Context(), w.key(), asked)
	w.ok(err)
	if len(all) != 4 {
		t.Fatalf("%d answers", len(all))
	}
	for i, x := range all {
		if len(x.Refusals) != each {
			t.Errorf("node %d has %d refusals", i, len(x.Refusals))
		}
	}
}
