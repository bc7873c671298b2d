package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) past(node string, without fleet.ServerID) fleet.LastStream {
	w.Helper()
	p, err := w.node.NodePast(w.Context(), w.key(), node, without)
	w.ok(err)
	return p
}

// SEMANTICS 3.4: how the node's last stream ended, wherever it was.
func TestNodePast(t *testing.T) {
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	gone := func(rev fleet.Revision, clean bool, d time.Duration) fleet.Status {
		return fleet.Status{Settled: 9, Nodes: []fleet.NodeStatus{{Node: "n", Settled: &rev, Clean: clean, Since: ago(d)}}}
	}
	here := func(rev *fleet.Revision, d time.Duration) fleet.Status {
		return fleet.Status{Settled: 7, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Settled: rev, Clean: true, Variant: "delta ADS", Since: ago(d)}}}
	}
	for name, c := range map[string]struct {
		a, b    fleet.Status // what two servers say
		aDies   bool
		without bool // a's row is left out
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
		"lives elsewhere": {a: here(nil, time.Minute), b: gone(2, true, time.Hour), want: fleet.LastStream{Known: true, Settled: 7, Live: true, LiveAs: []string{"delta ADS"}}},
		"lives elsewhere, and ended somewhere since": {
			a: here(nil, time.Hour), b: gone(2, true, time.Minute), want: fleet.LastStream{Known: true, Settled: 2, Live: true, LiveAs: []string{"delta ADS"}}},
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
			got.At = time.Time{}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
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
		{Node: "n", Type: fleet.Route, Name: "r", Version: bad.Version, Revision: 2, Detail: "no", Action: "kept", Good: good.Version},
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
	s.report(fleet.Status{Resolved: []fleet.Resolution{{Node: "n", Type: fleet.Route, Name: "r", Version: bad.Version, By: 4}}})
	p := w.past("n", fleet.ServerID{})
	if len(p.Refusals) != 1 {
		t.Errorf("what is resolved is still told: %+v", p)
	}
	// But what stood in when it settled is what it held then.
	if len(p.Ended) != 1 || p.Ended[0].Row == nil || p.Ended[0].Stood(1) || !p.Ended[0].Stood(3) || p.Ended[0].Stood(4) || p.Refusals[0].By != 0 {
		t.Errorf("what has ended: %+v", p.Ended)
	}
	at := fleet.Revision(4)
	s.report(fleet.Status{Settled: 4, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Settled: &at, Since: time.Now()}}})
	if p := w.past("n", fleet.ServerID{}); len(p.Ended) != 0 {
		t.Errorf("what ended before it settled is told: %+v", p.Ended)
	}
}
