package replica

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// ends are the refusals of clusters that have ended, and how.
func (w *world) ends() (all []string) {
	time.Sleep(time.Second)
	for _, r := range w.sink.allResolved() {
		all = append(all, fmt.Sprintf("%s %s@%s %s by %d", r.Node, r.Name, r.Version, r.End, r.By))
		if r.Offer == 0 {
			w.t.Errorf("%s %s@%s has ended in no offer", r.Name, r.Version, r.End)
		}
	}
	slices.Sort(all)
	return all
}

func (w *world) wantEnds(want ...string) {
	w.t.Helper()
	if got := w.ends(); !slices.Equal(got, want) {
		w.t.Errorf("ended are %q, want %q", got, want)
	}
}

// TestWhatNothingIsDoneAboutEnds when the client is in step, though no version is put in the place of another one: what stood in and was refused
// too is what the fleet has again, nobody was responsible, or the bytes of the last known good version are lost.
func TestWhatNothingIsDoneAboutEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "2"))
		refuse(t, a, "c", good)
		refuse(t, a, "c", nil) // what stands in
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "nobody's fault"})
		a.Settled(1)
		w.wantEnds()
		w.change(key, cluster("c", "1"))
		w.wantEnds("a c@2 replaced by 3")
		a.Settled(3)
		w.wantEnds("a @ taken by 3", "a c@1 taken by 3", "a c@2 replaced by 3")
	})
	bubbleAgain(t, "on another server", func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{
			{Node: "n", Type: fleet.Cluster, Name: "c", Version: "1", Revision: 1, Action: fleet.ActionStandInRefused},
			{Node: "n", Type: fleet.Cluster, Revision: 1, Action: fleet.ActionNoSuspect},
		}})
		a := w.attach(id, "n")
		a.Detach(false)
		a = w.attach(id, "n")
		w.wantEnds()
		a.Settled(1)
		w.wantEnds("n @ taken by 1", "n c@1 taken by 1")
	})
	bubbleAgain(t, "of a stream beside", func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		a, b := w.attach(id, "n"), w.attach(id, "n")
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "nobody's fault"})
		b.Settled(1)
		w.wantEnds()
		a.Settled(1)
		w.wantEnds("n @ taken by 1")
	})
}

func bubbleAgain(t *testing.T, name string, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { bubble(t, f) })
}

// beside is a NACK of c for being beside d.
func beside(t *testing.T, a *attachment) {
	t.Helper()
	now := a.Current().Types[fleet.Cluster]
	a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: now.Get("c"), Rival: now.Get("d")}}})
}

// TestWhatIsRefusedBesideAnother is offered again when that has another version, or none: here, after a return, and where that happened while no
// server had the node.
func TestWhatIsRefusedBesideAnother(t *testing.T) {
	for name, c := range map[string]func(w *world, key fleet.Key){
		"another version": func(w *world, key fleet.Key) { w.change(key, cluster("d", "2")) },
		"a deletion":      func(w *world, key fleet.Key) { w.change(key, deleted(fleet.Cluster, "d")) },
	} {
		bubbleAgain(t, name, func(t *testing.T, w *world) {
			key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"), cluster("e", "1"))
			a := w.attach(id, "a")
			beside(t, a)
			if f := w.sink.allRefusals()[0]; f.Name != "c" || f.Rival != (fleet.Rival{Name: "d", Version: "1"}) {
				t.Errorf("recorded %+v", f)
			}
			w.change(key, cluster("e", "2"))
			if got := inForce(a, fleet.Cluster, "c"); got != "" {
				t.Errorf("c is at %q", got)
			}
			w.wantEnds()
			c(w, key)
			if got := inForce(a, fleet.Cluster, "c"); got != "1" {
				t.Errorf("c is at %q, want it offered again", got)
			}
			w.wantEnds("a c@1 offered by 3")
			beside(t, a) // of what is there no more: nothing is kept back for that
		})
	}
	past := refused(cluster("c", "1"), 1, nil)
	past.Rival = fleet.Rival{Name: "d", Version: "1"}
	bubbleAgain(t, "after a return", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{past}})
		a := w.attach(id, "n")
		if got := inForce(a, fleet.Cluster, "c"); got != "" {
			t.Errorf("c is at %q", got)
		}
		w.change(key, cluster("d", "2"))
		if got := inForce(a, fleet.Cluster, "c"); got != "1" {
			t.Errorf("c is at %q, want it offered again", got)
		}
		w.wantEnds("n c@1 offered by 2")
	})
	bubbleAgain(t, "while it was away", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		w.feed.write(key, cluster("d", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{past}})
		if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != "1" {
			t.Errorf("c is at %q, want it offered again", got)
		}
		w.wantEnds("n c@1 offered by 2")
	})
}

// TestWhatLackedAClusterIsOfferedAgain when that comes: here, after a return, and where it came while no server had the node. An Envoy refuses some
// of what names a cluster that is not there.
func TestWhatLackedAClusterIsOfferedAgain(t *testing.T) {
	listener := cluster("l", "1")
	listener.Type, listener.Derived.Refs = fleet.Listener, []fleet.Ref{{Type: fleet.Cluster, Name: "c"}, {Type: fleet.Cluster, Name: "d"}, {Type: fleet.Cluster, Name: "e"}}
	lacks := func(t *testing.T, a *attachment) {
		t.Helper()
		now := a.Current()
		bad := now.Types[fleet.Listener].Get("l")
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Listener, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Listener, Refused: bad, Lacked: now.Lacked(bad)}}})
	}
	want := func(t *testing.T, a *attachment, version string) {
		t.Helper()
		if got := inForce(a, fleet.Listener, "l"); got != version {
			t.Errorf("l is at %q, want %q", got, version)
		}
	}
	bubbleAgain(t, "here", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener, cluster("c", "1"))
		a := w.attach(id, "a")
		lacks(t, a)
		if f := w.sink.allRefusals()[0]; f.Name != "l" || f.Lacked != "d" {
			t.Errorf("recorded %+v", f)
		}
		want(t, a, "")
		w.change(key, cluster("c", "2")) // which was there
		want(t, a, "")
		w.wantEnds()
		w.change(key, cluster("e", "1")) // the one that the words may not be about
		want(t, a, "1")
		w.wantEnds("a l@1 offered by 3")
		lacks(t, a)
		want(t, a, "")
		w.change(key, cluster("d", "1"))
		want(t, a, "1")
		w.wantEnds("a l@1 offered by 3", "a l@1 offered by 4")
	})
	bubbleAgain(t, "before the words of it", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener)
		a := w.attach(id, "a")
		then := a.Current()
		w.change(key, cluster("d", "1"))
		bad := then.Types[fleet.Listener].Get("l")
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Listener, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Listener, Refused: bad, Lacked: then.Lacked(bad)}}})
		want(t, a, "1")
		w.wantEnds("a l@1 offered by 2")
	})
	bubbleAgain(t, "a cluster that was refused", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener, cluster("c", "1"), cluster("d", "bad"), cluster("e", "1"))
		a := w.attach(id, "a")
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: a.Current().Types[fleet.Cluster].Get("d")}}})
		lacks(t, a)
		want(t, a, "")
		w.change(key, cluster("d", "1"))
		want(t, a, "1")
		w.wantEnds("a d@bad replaced by 2", "a l@1 offered by 2")
	})
	bubbleAgain(t, "and nothing that was refused anew on another server, which was further", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener)
		a := w.attach(id, "a")
		lacks(t, a)
		a.Detach(false)
		w.feed.write(key, cluster("d", "1"))
		w.change(key, cluster("other", "1"))
		w.wantEnds("a l@1 offered by 3")
		here, end := w.sink.allRefusals()[0], w.sink.allResolved()[0]
		there := here
		there.Offer = refusal.FirstOffer(2)
		if !refusal.Ends(end, here) || refusal.Ends(end, there) {
			t.Errorf("what was refused in offer %d ended with offer %d, and in offer %d with it", here.Offer, end.Offer, there.Offer)
		}
	})
	bubbleAgain(t, "nor where another version that it refused has come back", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener, cluster("other", "bad"))
		a := w.attach(id, "a")
		lacks(t, a)
		refuse(t, a, "other", nil)
		a.Detach(false)
		w.feed.write(key, cluster("other", "fixed"))
		w.feed.write(key, cluster("d", "1"))
		w.change(key, cluster("other", "bad"))
		w.wantEnds("a l@1 offered by 4")
		there := w.sink.allRefusals()[0]
		there.Offer = refusal.FirstOffer(3) // on a server that has seen the cluster come
		if end := w.sink.allResolved()[0]; refusal.Ends(end, there) {
			t.Errorf("what was refused in offer %d ended with offer %d", there.Offer, end.Offer)
		}
	})
	past := refused(listener, 1, nil)
	past.Lacked = "d"
	for _, lacked := range []string{"d", "e"} { // told, and as the listener has it
		bubbleAgain(t, "after a return, "+lacked, func(t *testing.T, w *world) {
			key, id, _ := w.newFleet(listener, cluster("c", "1"))
			w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{past}})
			a := w.attach(id, "n")
			want(t, a, "")
			w.change(key, cluster(lacked, "1"))
			want(t, a, "1")
			w.wantEnds("n l@1 offered by 2")
		})
	}
	bubbleAgain(t, "while it was away", func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(listener)
		w.feed.write(key, cluster("d", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{past}})
		want(t, w.attach(id, "n"), "1")
		w.wantEnds("n l@1 offered by 2")
	})
}

// TestTheLatestEndsAreRemembered, not the first ones: words that come late are told with what was done then.
func TestTheLatestEndsAreRemembered(t *testing.T) {
	t.Parallel()
	var x exceptions
	for i := range maxExceptions + 10 {
		x.end(snapshot.Exception{Type: fleet.Cluster, Refused: snapshot.Reported(fmt.Sprint(i), "1")}, offer{node: new(node), by: fleet.Revision(i)}, fleet.EndReplaced)
	}
	for name, want := range map[string]bool{"0": false, "9": false, "10": true, fmt.Sprint(maxExceptions + 9): true} {
		if _, got := x.ended[fleet.Ref{Type: fleet.Cluster, Name: name}]; got != want {
			t.Errorf("%s is remembered: %v", name, got)
		}
	}
	if len(x.ended) != maxExceptions {
		t.Errorf("%d are remembered", len(x.ended))
	}
}
