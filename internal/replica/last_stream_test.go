package replica

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// left says what the database knows of a node.
func (w *world) left(node string, p fleet.LastStream) {
	p.Known = true
	w.feed.set(func(f *feed) {
		if f.pasts == nil {
			f.pasts = map[string]fleet.LastStream{}
		}
		f.pasts[node] = p
	})
}

func refused(row fleet.Row, rev fleet.Revision, good *fleet.Row) fleet.Refusal {
	p := fleet.Refusal{
		Type: row.Type, Name: row.Name, Version: row.Version, Revision: rev, Detail: "no", Action: fleet.ActionRemoved, Row: good}
	if good != nil {
		p.Good, p.Action = good.Version, fleet.ActionKept
	}
	return p
}

func ptr(r fleet.Row) *fleet.Row { return &r }

func inForce(a *attachment, t fleet.Type, name string) string {
	if r := a.Current().Types[t].Get(name); r != nil {
		return r.Version
	}
	return ""
}

// SEMANTICS 3.2: a refusal outlives its stream and its server.
func TestAnotherServerRepairsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"), secret("s", "bad", "sealed:bad"), cluster("e", "good"), cluster("f", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{
			refused(cluster("c", "bad"), 1, ptr(cluster("c", "old"))),
			refused(cluster("d", "bad"), 1, nil),
			refused(cluster("e", "bad"), 1, nil),                                      // over by now
			refused(cluster("f", "2"), 1, ptr(cluster("f", "1"))),                     // both bad
			refused(cluster("f", "1"), 1, nil),                                        //
			refused(cluster("g", "bad"), 7, nil),                                      // further than this server is
			refused(secret("s", "bad", ""), 1, ptr(secret("s", "old", "sealed:old"))), //
			{Type: fleet.Cluster, Revision: 1, Detail: "nobody's fault"},
		}})
		a := w.attach(id, "n")
		if p := a.LastStream(); p != (xds.LastStream{Known: true, Settled: 1, Clean: true}) {
			t.Errorf("past %+v", p)
		}
		for name, want := range map[string]string{"c": "old", "d": "", "e": "good", "f": "1"} {
			if got := inForce(a, fleet.Cluster, name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if s := a.Current().Types[fleet.Secret].Get("s"); s == nil || s.Version != "old" {
			t.Errorf("the secret is %v", s)
		}
		time.Sleep(time.Second)
		if rs := w.sink.allResolved(); len(rs) != 1 || rs[0] != (fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "e", Version: "bad", Offer: 1, By: 1, End: fleet.EndReplaced}) {
			t.Errorf("resolved %+v", rs)
		}
		if rs := w.sink.allRefusals(); len(rs) != 0 {
			t.Errorf("refusals told again: %+v", rs)
		}
		w.change(key, cluster("c", "better"), deleted(fleet.Cluster, "d"))
		if inForce(a, fleet.Cluster, "c") != "better" {
			t.Error("the exception does not end")
		}
	})
}

// SEMANTICS 3.2: "Bytes not to be had: leave the name alone and say so, never remove".
func TestWhatStandsInIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"), secret("s", "bad", "sealed:bad"))
		lost := refused(cluster("c", "bad"), 1, nil)
		lost.Good, lost.Action = "old", fleet.ActionKept
		w.left("n", fleet.LastStream{Refusals: []fleet.Refusal{lost, refused(secret("s", "bad", ""), 1, ptr(secret("s", "old", "not to be opened")))}})
		a := w.attach(id, "n")
		refuse(t, a, "c", nil)
		if inForce(a, fleet.Cluster, "c") != "bad" || inForce(a, fleet.Secret, "s") != "bad" {
			t.Error("a name that the node once confirmed is taken away")
		}
		time.Sleep(time.Second)
		rs := w.sink.allRefusals()
		if len(rs) == 0 {
			t.Fatal("nothing is said")
		}
		for _, r := range rs {
			if r.Action != fleet.ActionLost || r.Detail != "no" || r.Version != "bad" {
				t.Errorf("recorded %+v", r)
			}
		}
	})
}

// SEMANTICS 3.2: what one server left alone another one leaves alone as well.
func TestWhatIsLeftAloneStaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"))
		left, bad := refused(cluster("c", "bad"), 1, nil), refused(cluster("d", "bad"), 1, nil)
		left.Action, bad.Action = fleet.ActionUnknown, fleet.ActionNoSuspect
		w.left("n", fleet.LastStream{Refusals: []fleet.Refusal{left, bad}})
		a := w.resume(id, "n")
		if es := a.subscriber.list; len(es) != 1 || es[0].Refused.Name != "c" || !es[0].Leave || es[0].Good != nil {
			t.Errorf("exceptions %+v, want c's, to be left alone", es)
		}
		if inForce(a, fleet.Cluster, "d") != "bad" {
			t.Error("d is kept back, about which nothing was done")
		}
		w.change(key, cluster("c", "better"))
		if inForce(a, fleet.Cluster, "c") != "better" {
			t.Error("the exception does not end")
		}
		time.Sleep(time.Second)
		if got := w.resolvedNames("n"); !slices.Equal(got, []string{"c"}) {
			t.Errorf("resolved %q", got)
		}
	})
}

func TestWhenANodeIsBelieved(t *testing.T) {
	t.Parallel()
	clean := fleet.LastStream{Settled: 1, Clean: true}
	for name, c := range map[string]struct {
		past fleet.LastStream
		do   func(w *world, id xds.Identity) // before it attaches
		kind string
		want xds.LastStream
	}{
		"clean":                          {past: clean, want: xds.LastStream{Known: true, Settled: 1, Clean: true}},
		"not clean":                      {past: fleet.LastStream{Settled: 1}, want: xds.LastStream{Known: true, Settled: 1}},
		"of revisions that are not here": {past: fleet.LastStream{Settled: 9}, want: xds.LastStream{Known: true}},
		"beside another stream": {past: clean, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) { w.attach(id, "n") }},
		"that has confirmed": {past: fleet.LastStream{}, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) { w.attach(id, "n").Settled(1) }},
		"beside a stream of another type": {past: clean, want: xds.LastStream{Known: true, Settled: 1, Clean: true}, kind: "delta LDS",
			do: func(w *world, id xds.Identity) { w.attachAs(id, "n", "delta CDS") }},
		"here a moment ago, clean": {past: fleet.LastStream{}, want: xds.LastStream{Known: true, Settled: 1, Clean: true},
			do: func(w *world, id xds.Identity) { a := w.attach(id, "n"); a.Settled(1); a.Detach(true) }},
		"here a moment ago, in the midst": {past: clean, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) { a := w.attach(id, "n"); a.Settled(1); a.Detach(false) }},
		"cut before it settled again": {past: fleet.LastStream{}, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) {
				a := w.attach(id, "n")
				a.Settled(1)
				a.Detach(true)
				w.attach(id, "n").Detach(false)
			}},
		"beside a stream that has not settled again": {past: clean, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) {
				a := w.attach(id, "n")
				a.Settled(1)
				a.Detach(true)
				w.attach(id, "n")
			}},
		"elsewhere since it was here": {past: fleet.LastStream{Settled: 1, At: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) { w.attach(id, "n").Detach(true) }},
		"lives elsewhere since it was here": {past: fleet.LastStream{Settled: 1, Live: true, At: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) {
				w.left("n", fleet.LastStream{})
				w.attach(id, "n").Detach(true)
				w.left("n", fleet.LastStream{Settled: 1, Live: true, At: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)})
			}},
		"lives elsewhere": {past: fleet.LastStream{Settled: 1, Live: true}, want: xds.LastStream{Known: true, Settled: 1},
			do: func(w *world, id xds.Identity) { w.attach(id, "n").Detach(true) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				_, id, _ := w.newFleet(cluster("c", "1"))
				w.left("n", c.past)
				if c.do != nil {
					c.do(w, id)
				}
				kind := c.kind
				if kind == "" {
					kind = "delta ADS"
				}
				if p := w.attachAs(id, "n", kind).LastStream(); p != c.want {
					t.Errorf("%+v, want %+v", p, c.want)
				}
			})
		})
	}
}

// A node whose stream ends while the next one begins has been here, whatever it says of itself: one that is stuck may say nothing.
func TestAStreamThatEndsWhileTheNextBegins(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		n, s := fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta ADS"}
		before := w.attach(id, n.ID)
		o := before.owner
		past := o.pastOf(t.Context(), n.ID, s)
		before.Detach(false)
		a, err := o.attach(id, n, s, selector.LabelsOf(n), past)
		if err != nil {
			t.Fatal(err)
		}
		defer o.untie(a, false)
		if got, want := a.LastStream(), (xds.LastStream{Known: true}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func (w *world) attachAs(id xds.Identity, node, kind string) *attachment {
	w.t.Helper()
	a, err := w.Attach(w.t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: kind})
	if err != nil {
		w.t.Fatalf("attach %s: %v", node, err)
	}
	return a.(*attachment)
}

// A database that is away costs a new stream a second at most, and then it is served.
func TestAPastThatCannotBeReadHoldsNothingUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.hangs = true })
		begun := time.Now()
		done := make(chan *attachment)
		const many = 20
		for i := range many {
			go func() { done <- w.attach(id, fmt.Sprint("n", i)) }()
		}
		for range many {
			if a := <-done; a.LastStream() != (xds.LastStream{}) || inForce(a, fleet.Cluster, "c") != "1" {
				t.Errorf("past %+v", a.LastStream())
			}
		}
		if took := time.Since(begun); took > lastStreamsWait {
			t.Errorf("took %s", took)
		}
		// One for those that come, and one again for those that were missed.
		if n := w.feed.counts().mostAsking; n > 2 {
			t.Errorf("the database was asked for %d at once", n)
		}
	})
}

// A node that refuses again after what it refused is known adds nothing.
func TestAPastIsAskedForOncePerNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"))
		w.left("n", fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, ptr(cluster("c", "old")))}})
		a, b := w.attach(id, "n"), w.attach(id, "n")
		if n := w.feed.counts().asked; n != 1 {
			t.Errorf("asked %d times", n)
		}
		if a.Current() != b.Current() {
			t.Error("its streams differ")
		}
		r := snapshot.NewResource(fleet.Cluster, cluster("c", "bad"), nil)
		a.Refuse(context.Background(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: r}}})
		if inForce(a, fleet.Cluster, "c") != "old" {
			t.Error("what stands in is gone")
		}
	})
}

// SEMANTICS 5.4: nothing is sent to a node of which no receipt could know.
func TestANewNodeIsToldBeforeItIsServed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("old", fleet.LastStream{})
		w.attach(id, "old")
		if w.sink.knows("old") {
			t.Error("a node that is known need not wait")
		}
		w.attach(id, "new")
		if !w.sink.knows("new") {
			t.Error("served before the database knows of it")
		}
	})
}
