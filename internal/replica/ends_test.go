package replica

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// ends are the refusals of clusters that have ended, and how.
func (w *world) ends() (all []string) {
	time.Sleep(time.Second)
	for _, r := range w.sink.allResolved() {
		all = append(all, fmt.Sprintf("%s %s@%s %s by %d", r.Node, r.Name, r.Version, r.End, r.By))
		if r.At.IsZero() != (r.End == fleet.EndReplaced) {
			w.t.Errorf("%s %s@%s has ended at %s", r.Name, r.Version, r.End, r.At)
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
// too is what the fleet has again, nobody was responsible, or the bytes of the last good version are lost.
func TestWhatNothingIsDoneAboutEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "2"))
		refuse(t, a, "c", good)
		refuse(t, a, "c", nil) // what stands in
		a.Refuse(t.Context(), xds.Refusal{Type: fleet.Cluster, Detail: "nobody's fault"})
		a.Settled(1)
		w.wantEnds()
		w.change(key, cluster("c", "1"))
		w.wantEnds("a c@2 replaced by 3")
		a.Settled(3)
		w.wantEnds("a @ taken by 3", "a c@1 taken by 3", "a c@2 replaced by 3")
	})
	bubbleAgain(t, "on another server", func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.PastRefusal{
			{Refusal: fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "c", Version: "1", Revision: 1, Action: fleet.ActionStandInRefused}},
			{Refusal: fleet.Refusal{Node: "n", Type: fleet.Cluster, Revision: 1, Action: fleet.ActionNoSuspect}},
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
		a.Refuse(t.Context(), xds.Refusal{Type: fleet.Cluster, Detail: "nobody's fault"})
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
	a.Refuse(t.Context(), xds.Refusal{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Blame{{Refused: now.Get("c"), Rival: now.Get("d")}}})
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
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.PastRefusal{past}})
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
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.PastRefusal{past}})
		if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != "1" {
			t.Errorf("c is at %q, want it offered again", got)
		}
		w.wantEnds("n c@1 offered by 2")
	})
}

// TestTheLatestEndsAreRemembered, not the first ones: words that come late are told with what was done then.
func TestTheLatestEndsAreRemembered(t *testing.T) {
	t.Parallel()
	var x exceptions
	for i := range maxExceptions + 10 {
		x.end(snapshot.Exception{Type: fleet.Cluster, Name: fmt.Sprint(i), Refused: "1"}, fleet.Revision(i))
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
