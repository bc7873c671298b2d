package replica

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// refuse is a NACK of what the node's target holds now; good is what it had before.
func refuse(t *testing.T, a *attachment, name string, good *snapshot.Resource) {
	t.Helper()
	r := a.Current().Types[fleet.Cluster].Get(name)
	if r == nil {
		t.Fatalf("%s is not in the target", name)
	}
	a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: r, Good: good}}})
}

func TestARefusedVersionGivesWayToTheLastGoodOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a, b := w.attach(id, "a"), w.attach(id, "b")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "bad"))
		changed(a)
		changed(b)
		refuse(t, a, "c", good)
		if !changed(a) || changed(b) {
			t.Error("the node looks again, the others do not")
		}
		if version(a.Current(), fleet.Cluster, "c") != "1" || a.Current().Revision != 2 {
			t.Errorf("the node has %s", version(a.Current(), fleet.Cluster, "c"))
		}
		if version(b.Current(), fleet.Cluster, "c") != "bad" {
			t.Error("the other node is touched")
		}
		f := w.sink.allRefusals()[0]
		if f.Node != "a" || f.Name != "c" || f.Version != "bad" || f.Revision != 2 || f.Good != "1" || f.Action != fleet.ActionKept || f.Detail != "no" {
			t.Errorf("recorded %+v", f)
		}

		w.change(key, cluster("d", "2")) // c is the same: the exception stays
		if now := a.Current(); version(now, fleet.Cluster, "c") != "1" || version(now, fleet.Cluster, "d") != "2" || now.Revision != 3 {
			t.Errorf("after another change: %s", version(now, fleet.Cluster, "c"))
		}
		w.change(key, cluster("c", "better"))
		if a.Current() != b.Current() || version(a.Current(), fleet.Cluster, "c") != "better" {
			t.Error("the exception does not end")
		}
		time.Sleep(time.Second)
		if len(w.sink.allResolved()) != 1 || w.sink.allResolved()[0] != (fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: "bad", Offer: refusal.FirstOffer(2), By: 4, End: fleet.EndReplaced}) {
			t.Errorf("resolved %+v", w.sink.allResolved())
		}
	})
}

// TestARefusalIsOfTheRevisionThatBroughtTheName: a client that begins to ask for what has been there for long, and refuses it, refuses the revision
// that made it ask, also if it comes in one step with the one before.
func TestARefusalIsOfTheRevisionThatBroughtTheName(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		a.Settled(1)
		route, listener := cluster("r", "bad"), cluster("l", "1")
		route.Type, listener.Type = fleet.Route, fleet.Listener
		listener.Derived.Refs = []fleet.Ref{{Type: fleet.Route, Name: "r"}}
		refused := func() {
			bad := a.Current().Types[fleet.Route].Get("r")
			a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Route, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Route, Refused: bad}}})
		}
		w.change(key, route)
		w.change(key, listener)
		w.change(key, cluster("c", "2"))
		changed(a)
		refused()
		a.Settled(4)
		route.Version = "worse"
		w.change(key, route)
		listener.Version = "2"
		w.change(key, listener)
		changed(a)
		refused()
		all := w.sink.allRefusals()
		if len(all) != 2 || all[0].Revision != 3 || all[1].Revision != 5 {
			t.Errorf("recorded %+v", all)
		}
	})
}

// TestARefusalOfAStreamThatHasConfirmedNothing is counted by what the view had before, or by what the node had settled.
func TestARefusalOfAStreamThatHasConfirmedNothing(t *testing.T) {
	row := func(typ fleet.Type, name, version string, routes ...string) fleet.Row {
		r := cluster(name, version)
		r.Type = typ
		for _, n := range routes {
			r.Derived.Refs = append(r.Derived.Refs, fleet.Ref{Type: fleet.Route, Name: n})
		}
		return r
	}
	bad, good := row(fleet.Route, "r", "bad"), row(fleet.Route, "r", "good")
	to, from, later := row(fleet.Listener, "l", "2", "r"), row(fleet.Listener, "l", "1", "q"), row(fleet.Listener, "l", "3", "r")
	for name, c := range map[string]struct {
		changes []fleet.Row // each a revision, from 2 on
		settled fleet.Revision
		unseen  int // of the changes, those that the server was not there for
		want    fleet.Revision
	}{
		"the route, and the listener moves to it":        {[]fleet.Row{from, bad, to}, 0, 0, 4},
		"and changes again":                              {[]fleet.Row{from, bad, to, later}, 0, 0, 4},
		"the listener, and its route comes":              {[]fleet.Row{to, bad}, 0, 0, 3},
		"and the listener changes":                       {[]fleet.Row{to, bad, later}, 0, 0, 3},
		"the route changes for the worse":                {[]fleet.Row{good, to, bad, later}, 0, 0, 4},
		"of a node that had settled before the move":     {[]fleet.Row{from, bad, to}, 3, 3, 4},
		"of a node that had settled before the route":    {[]fleet.Row{from, bad, to}, 2, 3, 3}, // it may have been named before
		"of a node of which nothing is known":            {[]fleet.Row{from, bad, to}, 0, 3, 3},
		"of a node that had settled, and the server saw": {[]fleet.Row{from, bad, to}, 3, 2, 4},
	} {
		bubbleAgain(t, name, func(t *testing.T, w *world) {
			key, id, _ := w.newFleet(cluster("c", "1"))
			for _, r := range c.changes[:c.unseen] {
				w.feed.write(key, r)
			}
			if c.settled > 0 {
				w.left("n", fleet.LastStream{Settled: c.settled, Clean: true})
			}
			a := w.attach(id, "n")
			for _, r := range c.changes[c.unseen:] {
				w.change(key, r)
			}
			changed(a)
			a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Route, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Route, Refused: a.Current().Types[fleet.Route].Get("r")}}})
			if all := w.sink.allRefusals(); len(all) != 1 || all[0].Revision != c.want {
				t.Errorf("recorded %+v, want revision %d", all, c.want)
			}
		})
	}
}

func TestARefusedVersionWithoutAGoodOneIsAbsent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"))
		a := w.attach(id, "a")
		refuse(t, a, "c", nil)
		if a.Current().Types[fleet.Cluster].Len() != 0 {
			t.Error("it is still there")
		}
		if f := w.sink.allRefusals()[0]; f.Action != fleet.ActionRemoved || f.Good != "" {
			t.Errorf("recorded %+v", f)
		}
		w.change(key, deleted(fleet.Cluster, "c"))
		time.Sleep(time.Second)
		if len(w.sink.allResolved()) != 1 {
			t.Error("the deletion does not resolve it")
		}
	})
}

func TestASubstituteThatIsRefusedTooIsLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "2"))
		refuse(t, a, "c", good)
		before := a.Current()
		refuse(t, a, "c", nil) // the substitute
		if !a.Current().Types[fleet.Cluster].Equal(before.Types[fleet.Cluster]) || version(before, fleet.Cluster, "c") != "1" {
			t.Errorf("the node, which has confirmed the name, should now hold %q", version(a.Current(), fleet.Cluster, "c"))
		}
		if f := w.sink.allRefusals()[1]; f.Version != "1" || f.Good != "" || f.Action != fleet.ActionStandInRefused {
			t.Errorf("recorded %+v", f)
		}
		w.change(key, cluster("c", "3"))
		if version(a.Current(), fleet.Cluster, "c") != "3" {
			t.Error("the exception does not end")
		}
	})
}

func TestALateRefusalOfAnOlderVersionIsRecordedAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a, b := w.attach(id, "a"), w.attach(id, "b")
		old := a.Current()
		w.change(key, cluster("c", "2"), deleted(fleet.Cluster, "d"))
		var cs []snapshot.Exception
		for _, name := range []string{"c", "d"} {
			cs = append(cs, snapshot.Exception{Type: fleet.Cluster, Refused: old.Types[fleet.Cluster].Get(name)})
		}
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Blame: cs})
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "nobody's fault"})
		if a.Current() != b.Current() {
			t.Error("the target changed")
		}
		time.Sleep(time.Second)
		if len(w.sink.allRefusals()) != 3 || len(w.sink.allResolved()) != 2 {
			t.Errorf("%d refusals, %d resolved", len(w.sink.allRefusals()), len(w.sink.allResolved()))
		}
	})
}

func TestExceptionsOutliveTheStream(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"))
		a := w.attach(id, "a")
		refuse(t, a, "c", nil)
		a.Detach(true)
		w.change(key, cluster("d", "2"))
		w.left("a", fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, nil)}})
		a = w.attach(id, "a")
		if now := a.Current(); version(now, fleet.Cluster, "c") != "" || version(now, fleet.Cluster, "d") != "2" {
			t.Error("the next stream is offered the same again")
		}
		a.Detach(true)
		w.change(key, cluster("c", "good"))
		time.Sleep(time.Second)
		if len(w.sink.allResolved()) != 1 {
			t.Error("a node without streams resolves nothing")
		}
		if n, x := w.nodes(key); n+x != 0 {
			t.Errorf("left behind: %d nodes, %d with exceptions", n, x)
		}
	})
}

// What another server has ended, since the client came to it with nothing, is over here too. It is so whichever stream ended
// last: a connection that broke is noticed late. What the database has not heard of yet stands.
func TestAnExceptionThatEndedElsewhereIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"))
		w.left("a", fleet.LastStream{Settled: 1, Live: true})
		a := w.attach(id, "a")
		w.sink.setAway(errAway)
		refuse(t, a, "c", nil)
		a.Detach(true)
		a = w.attach(id, "a")
		if got := inForce(a, fleet.Cluster, "c"); got != "" {
			t.Errorf("c is at %q before the database was told", got)
		}
		w.sink.setAway(nil)
		time.Sleep(time.Minute)
		a.Detach(true)
		if got := inForce(w.attach(id, "a"), fleet.Cluster, "c"); got != "bad" {
			t.Errorf("c is at %q, want it offered again", got)
		}
	})
}

func TestNodesThatRefuseTheSameShareATarget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"), cluster("e", "1"))
		a, b, c := w.attach(id, "a"), w.attach(id, "b"), w.attach(id, "c")
		refuse(t, a, "c", nil)
		refuse(t, a, "d", nil)
		refuse(t, b, "d", nil)
		refuse(t, b, "c", nil)
		refuse(t, c, "c", nil)
		if a.Current() != b.Current() || a.Current() == c.Current() {
			t.Error("before the change")
		}
		w.change(key, cluster("e", "2"))
		if a.Current() != b.Current() || a.Current() == c.Current() {
			t.Error("after the change")
		}
	})
}

func TestExceptionsAndTheirNodesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var rows []fleet.Row
		for i := range maxExceptions + 1 {
			rows = append(rows, cluster(fmt.Sprint(i), "bad"))
		}
		key, id, _ := w.newFleet(rows...)
		a := w.attach(id, "a")
		for i := range rows {
			refuse(t, a, fmt.Sprint(i), nil)
		}
		if n := a.Current().Types[fleet.Cluster].Len(); n != 1 {
			t.Errorf("%d are left, want the one that is too many, which the stream keeps back by itself", n)
		}
		if f := w.sink.allRefusals()[maxExceptions]; f.Action != fleet.ActionFrozen {
			t.Errorf("the last one: %+v", f)
		}
		for i := range maxAway + 100 {
			x := w.attach(id, fmt.Sprint("node-", i))
			refuse(t, x, "0", nil)
			x.Detach(true)
		}
		synctest.Wait()
		if n, x := w.nodes(key); n > maxAway+1 || x > maxAway+1 {
			t.Errorf("%d nodes, %d with exceptions", n, x)
		}
	})
}

// TestWhatIsTooMuchIsOfItsStreamAlone: what a stream refuses beyond so much of a type it keeps back by itself. That is told, with what stands in;
// the next stream is offered it again, and a client that is in step with another version has it ended.
func TestWhatIsTooMuchIsOfItsStreamAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var rows []fleet.Row
		for i := range maxExceptions + 1 {
			rows = append(rows, cluster(fmt.Sprintf("%04d", i), "bad"))
		}
		key, id, _ := w.newFleet(rows...)
		a := w.attach(id, "a")
		for i := range maxExceptions {
			refuse(t, a, rows[i].Name, nil)
		}
		last := rows[maxExceptions].Name
		refuse(t, a, last, snapshot.Reported(last, "1"))
		all := w.sink.allRefusals()
		if r := all[maxExceptions]; r.Action != fleet.ActionFrozen || r.Good != "1" || inForce(a, fleet.Cluster, last) != "bad" {
			t.Errorf("told %+v, and the target has %q", r, inForce(a, fleet.Cluster, last))
		}
		a.Detach(false)
		w.left("a", fleet.LastStream{Refusals: all})
		b := w.attach(id, "a")
		if inForce(b, fleet.Cluster, last) != "bad" || inForce(b, fleet.Cluster, rows[0].Name) != "" {
			t.Error("the next stream is offered what was too much, and nothing else")
		}
		b.Settled(w.change(key, cluster(last, "fixed")))
		time.Sleep(time.Second)
		if ends := w.sink.allResolved(); len(ends) != 1 || ends[0].Name != last {
			t.Errorf("ended are %+v", ends)
		}
		w.left("c", fleet.LastStream{Settled: 1, Refusals: all})
		if c := w.attach(id, "c"); c.Current().Types[fleet.Cluster].Len() != 1 || inForce(c, fleet.Cluster, last) != "fixed" {
			t.Errorf("another server has %d of them in force", c.Current().Types[fleet.Cluster].Len())
		}
	})
}

func TestTargetsThatNobodyHasAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var rows []fleet.Row
		for i := range maxExceptions {
			rows = append(rows, cluster(fmt.Sprint(i), "bad"))
		}
		key, id, _ := w.newFleet(rows...)
		a, b := w.attach(id, "a"), w.attach(id, "b")
		for i := range rows { // each a target of its own
			refuse(t, a, fmt.Sprint(i), nil)
		}
		for i := range rows {
			refuse(t, b, fmt.Sprint(i), nil)
		}
		w.mu.Lock()
		o := w.fleets[key]
		w.mu.Unlock()
		o.mu.Lock()
		n := len(o.views.interned)
		o.mu.Unlock()
		if n > 2*2+spareTargets {
			t.Errorf("%d targets for two nodes", n)
		}
		if a.Current() != b.Current() {
			t.Error("nodes that refuse the same do not share a target any more")
		}
	})
}

// A write of labels alone, or of another variant, ends no refusal: here, where revisions were
// passed over, and on a server that loads the fleet later.
func TestWhatKeepsTheVersionEndsNoRefusal(t *testing.T) {
	for name, c := range map[string]func(w *world, key fleet.Key){
		"labels": func(w *world, key fleet.Key) { w.change(key, cluster("c", "bad")) },
		"labels that were passed over": func(w *world, key fleet.Key) {
			w.feed.write(key, cluster("d", "2"))
			w.change(key, cluster("c", "bad"))
		},
		"another variant": func(w *world, key fleet.Key) { w.change(key, withoutVariant("c", "west")) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"), variant("c", "west", "1w", "locality.region=west", 1))
				a := w.attach(id, "a")
				good := a.Current().Types[fleet.Cluster].Get("c")
				w.change(key, cluster("c", "bad"))
				refuse(t, a, "c", good)
				c(w, key)
				if got := inForce(a, fleet.Cluster, "c"); got != "1" {
					t.Errorf("c is at %q", got)
				}
			})
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) {
			key, id, _ := w.newFleet(cluster("c", "bad"))
			w.feed.write(key, cluster("c", "bad")) // other labels
			w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{
				refused(cluster("c", "bad"), 1, ptr(cluster("c", "old"))),
			}})
			if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != "old" {
				t.Errorf("c is at %q, want what stands in", got)
			}
			time.Sleep(time.Second)
			if rs := w.sink.allResolved(); len(rs) != 0 {
				t.Errorf("resolved %+v", rs)
			}
			// Whoever has seen a revision in between that had another version ends what was told of the first one.
			if rs := w.sink.allRefusals(); len(rs) != 1 || rs[0].Revision != 2 || rs[0].Again != 1 || rs[0].Good != "old" {
				t.Errorf("told are %+v, want that of the present revision", rs)
			}
		})
	})
}

// TestT41_ARefusalCountsForItsStream: beside it the node's streams go on as they are; what it
// leaves behind is for those that come later, but for what another one has settled with.
func TestT41_ARefusalCountsForItsStream(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a, b := w.attach(id, "n"), w.attach(id, "n")
		routes := w.attachAs(id, "n", "delta RDS")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "2"), cluster("d", "2"))
		for _, x := range []*attachment{a, b, routes} {
			changed(x)
		}
		refuse(t, a, "c", good)
		refuse(t, a, "d", nil)
		if !changed(a) || changed(b) || changed(routes) {
			t.Error("the stream that refused looks again, the others do not")
		}
		is := func(what string, x *attachment, c, d string) {
			t.Helper()
			if got := [2]string{inForce(x, fleet.Cluster, "c"), inForce(x, fleet.Cluster, "d")}; got != [2]string{c, d} {
				t.Errorf("%s: c and d are at %q, want %q", what, got, [2]string{c, d})
			}
		}
		is("the stream that refused", a, "1", "")
		is("the one beside it", b, "2", "2")
		if f := w.sink.allRefusals(); f[0].Action != fleet.ActionKept || f[1].Action != fleet.ActionRemoved || !f[0].Beside || !f[1].Beside {
			t.Errorf("recorded %+v", f)
		}
		is("one that may take its place", w.attach(id, "n"), "1", "")

		b.Settled(2)
		a.Detach(true)
		time.Sleep(time.Second)
		if got := w.resolvedNames("n"); len(got) > 0 {
			t.Errorf("resolved %q, though another stream still keeps them back", got)
		}
		for x := range b.node.streams {
			if x != b && x != routes {
				x.Detach(true)
			}
		}
		time.Sleep(time.Second)
		if got := w.resolvedNames("n"); len(got) != 2 {
			t.Errorf("resolved %q, want both: the one that is left has them", got)
		}
		is("a later one", w.attach(id, "n"), "2", "2")
	})
}

// TestT41_ALaterAnswerEndsWhatIsLeft: the other client takes what was refused after the one
// that did has gone.
func TestT41_ALaterAnswerEndsWhatIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		a, b, routes := w.attach(id, "n"), w.attach(id, "n"), w.attachAs(id, "n", "delta RDS")
		refuse(t, a, "c", nil)
		a.Detach(true)
		routes.Settled(1) // which has asked for no clusters
		time.Sleep(time.Second)
		if got := w.resolvedNames("n"); len(got) > 0 {
			t.Errorf("resolved %q, and nobody has taken it", got)
		}
		b.Settled(1)
		time.Sleep(time.Second)
		if got := w.resolvedNames("n"); len(got) != 1 {
			t.Errorf("resolved %q, want c", got)
		}
	})
}

// TestARefusalOutlivesItsStreamOfOneType, beside the streams of its client for other types.
func TestARefusalOutlivesItsStreamOfOneType(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		clusters, listeners := w.attachAs(id, "n", "SotW CDS"), w.attachAs(id, "n", "SotW LDS")
		refuse(t, clusters, "c", nil)
		clusters.Detach(true)
		listeners.Settled(1)
		time.Sleep(time.Second)
		if got := inForce(w.attachAs(id, "n", "delta RDS"), fleet.Cluster, "c"); got != "1" {
			t.Errorf("c is at %q for a stream that has no word on it", got)
		}
		if got := inForce(w.attachAs(id, "n", "SotW CDS"), fleet.Cluster, "c"); got != "" {
			t.Errorf("c is at %q: offered again", got)
		}
		if got := w.resolvedNames("n"); len(got) > 0 {
			t.Errorf("resolved %q", got)
		}
	})
}

// TestTheKeyIsTheLists: it is made once, and anew when the list has changed.
func TestTheKeyIsTheLists(t *testing.T) { // not beside others, who allocate too
	var x exceptions
	keys := map[string]string{}
	is := func(when string, retries int) {
		t.Helper()
		fresh := exceptions{list: x.list}
		k := x.internKey(retries)
		if again := fresh.internKey(retries); k != again {
			t.Errorf("%s the key is %q, that of the list %q", when, k, again)
		}
		if other, taken := keys[k]; taken {
			t.Errorf("%s the key is as it was %s", when, other)
		}
		keys[k] = when
	}
	e := func(name string) snapshot.Exception {
		return snapshot.Exception{Type: fleet.Cluster, Refused: snapshot.Reported(name, "1")}
	}
	is("at first", 0)
	x.insert(e("a"))
	is("with a", 0)
	is("with a, offered again", 1)
	x.insert(e("b"))
	is("with a and b", 0)
	if n := testing.AllocsPerRun(100, func() { x.internKey(0) }); n > 0 {
		t.Errorf("a key that is known allocates %.0f times", n)
	}
	x.drop(func(y snapshot.Exception) bool { return y.Refused.Name == "a" })
	is("with b", 0)
}

// A server that is behind keeps a version back that a later revision has ended the refusal of, until it has read that.
func TestARefusalThatALaterRevisionEndedStandsUntilThen(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"))
		w.attach(id, "other")
		w.left("n", fleet.LastStream{})
		a := w.attach(id, "n")
		refuse(t, a, "c", nil)
		a.Detach(true)
		time.Sleep(time.Second)
		over := refused(cluster("c", "bad"), 1, nil)
		over.By = 2
		w.left("n", fleet.LastStream{Ended: []fleet.Refusal{over}})
		a = w.resume(id, "n")
		if got := inForce(a, fleet.Cluster, "c"); got != "" {
			t.Errorf("c is at %q again, at revision 1", got)
		}
		w.change(key, cluster("d", "2")) // another server has offered it again then
		if got := inForce(a, fleet.Cluster, "c"); got != "bad" {
			t.Errorf("c is at %q at revision 2, want it offered again", got)
		}
	})
}

// An answer that is older than a refusal takes nothing back of it.
func TestAnAnswerOfBeforeTakesNoRefusalBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"))
		w.attach(id, "other")
		w.left("n", fleet.LastStream{Settled: 1, Clean: true})
		w.attach(id, "n").Detach(true)
		come := func(to chan *attachment) {
			b, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true})
			if err != nil {
				t.Error(err)
			}
			to <- b.(*attachment)
		}
		one, two := make(chan *attachment), make(chan *attachment)
		w.feed.set(func(f *feed) { f.pastTook = 100 * time.Millisecond })
		go come(one)
		time.Sleep(10 * time.Millisecond)
		go come(two) // asks next
		time.Sleep(10 * time.Millisecond)
		w.feed.set(func(f *feed) { f.pastTook = 700 * time.Millisecond })
		a := <-one
		time.Sleep(10 * time.Millisecond)
		refuse(t, a, "c", nil)
		a.Detach(true)
		if got := inForce(<-two, fleet.Cluster, "c"); got != "" {
			t.Errorf("c is at %q, though it was refused a moment ago", got)
		}
	})
}

// TestWordsAreNotToldAway: a stream has refused a version that came back, in new words, that are not told yet. What the node refused before is read then, and concerns its other
// stream too: the new words stay.
func TestWordsAreNotToldAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"))
		w.attach(id, "first")
		w.change(key, cluster("c", "good"))
		w.change(key, cluster("c", "bad"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, ptr(cluster("c", "old")))}})
		w.feed.set(func(f *feed) { f.hangs = true })
		a, _ := w.resume(id, "n"), w.resume(id, "n")
		w.sink.setAway(errAway)
		r := a.Current().Types[fleet.Cluster].Get("c")
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "the words of three", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: r}}})
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		w.sink.setAway(nil)
		time.Sleep(time.Minute)
		rs := w.sink.refusalsOf("n")
		if len(rs) == 0 || rs[len(rs)-1].Revision != 3 || rs[len(rs)-1].Detail != "the words of three" || rs[len(rs)-1].Again != 0 {
			t.Errorf("told are %+v", rs)
		}
	})
}
