package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// A server that jumps over the revision that fixed a refused version, to one that brings it
// back, does not offer it again: it tells the refusal anew, of the revision that brought it back.
func TestAVersionThatComesBackInAJumpIsRefusedAnew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a, b := w.attach(id, "a"), w.attach(id, "b")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "bad"))
		refuse(t, a, "c", good)
		time.Sleep(time.Second)
		w.feed.write(key, cluster("c", "fixed")) // no bell: nobody looks
		w.change(key, cluster("c", "bad"))
		if now := a.Current(); now.Revision != 4 || version(now, fleet.Cluster, "c") != "1" {
			t.Errorf("the node has %s at %d", version(now, fleet.Cluster, "c"), now.Revision)
		}
		if r := b.Current().Types[fleet.Cluster].Get("c"); r.Revision != 4 {
			t.Errorf("what came back is of revision %d: whoever refuses it now is told to have refused that one", r.Revision)
		}
		time.Sleep(time.Second)
		rs := w.sink.allRefusals()
		if len(rs) != 2 {
			t.Fatalf("told %+v", rs)
		}
		want := fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: "bad", Revision: 4, Offer: refusal.FirstOffer(4), Again: 2, Detail: "no", Action: fleet.ActionKept, Good: "1", At: rs[1].At}
		if rs[1] != want || !rs[1].At.After(rs[0].At) {
			t.Errorf("told anew %+v after %+v", rs[1], rs[0])
		}
		if len(w.sink.allResolved()) != 0 {
			t.Errorf("resolved %+v", w.sink.allResolved())
		}
		w.change(key, cluster("d", "2")) // the same content is no reason to tell it
		time.Sleep(time.Second)
		if n := len(w.sink.allRefusals()); n != 2 {
			t.Errorf("%d refusals are told", n)
		}
	})
}

// Of a node that is away nothing is told: it may be on a server that saw the version fixed, and have taken it when it came back. When it
// comes the database says whether it refuses that. Where that cannot be read it is offered the version.
func TestAVersionThatComesBackWhileItsNodeIsAwayIsNotToldOf(t *testing.T) {
	for _, c := range []struct {
		what         string
		stands, away bool
	}{{what: "ended"}, {what: "its labels alone have changed", stands: true}, {what: "nothing can be read", away: true}} {
		bubbleAgain(t, c.what, func(t *testing.T, w *world) {
			key, id, _ := w.newFleet(cluster("c", "1"))
			a := w.attach(id, "n")
			good := a.Current().Types[fleet.Cluster].Get("c")
			bad := cluster("c", "bad")
			w.change(key, bad)
			refuse(t, a, "c", good)
			a.Detach(true)
			time.Sleep(time.Second)
			w.feed.write(key, cluster("c", "fixed"))
			w.change(key, bad)
			time.Sleep(time.Second)
			if n := len(w.sink.allRefusals()); n != 1 {
				t.Errorf("%d refusals are told", n)
			}
			past, want := fleet.LastStream{Settled: 2, Clean: true}, "bad"
			if c.stands {
				past.Refusals, want = []fleet.Refusal{refused(bad, 2, new(cluster("c", "1")))}, "1"
			}
			w.left("n", past)
			w.feed.set(func(f *feed) { f.hangs = c.away })
			if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != want {
				t.Errorf("it is given %q, want %q", got, want)
			}
			time.Sleep(time.Second)
			rs := w.sink.allRefusals()
			if told := len(rs) == 2 && rs[1].Revision == 4 && rs[1].Again == 2; told != c.stands {
				t.Errorf("told %+v", rs)
			}
		})
	}
}
