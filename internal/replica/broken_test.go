package replica

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// damage makes rows of clusters unreadable where they are stored.
func (f *feed) damage(names ...string) {
	f.set(func(f *feed) {
		f.broken = map[string]bool{}
		for _, n := range names {
			f.broken[n] = true
		}
	})
}

func TestABrokenRowKeepsItsLastVersion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a := w.attach(id, "a")
		w.feed.damage("c", "e")
		w.change(key, cluster("c", "2"), cluster("d", "2"), cluster("e", "1"))
		check := func(when string) {
			t.Helper()
			if now := a.Current(); version(now, fleet.Cluster, "c") != "1" || version(now, fleet.Cluster, "d") != "2" || now.Types[fleet.Cluster].Len() != 2 {
				t.Errorf("%s: c %q, d %q", when, version(now, fleet.Cluster, "c"), version(now, fleet.Cluster, "d"))
			}
		}
		check("after a difference")
		w.feed.set(func(f *feed) { // another token: a reload
			s := f.fleets[key].states[2]
			s.token = fleet.NewToken()
			f.fleets[key].states[2] = s
		})
		w.Wake(key.Fleet, false)
		synctest.Wait()
		if w.feed.counts().reloads != 2 {
			t.Fatalf("%d loads", w.feed.counts().reloads)
		}
		check("after a reload")
		w.feed.damage()
		w.change(key, cluster("c", "3"))
		if version(a.Current(), fleet.Cluster, "c") != "3" {
			t.Error("the next good one does not come")
		}
	})
}

func TestAFirstLoadLeavesBrokenRowsOut(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.feed.damage("c")
		_, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		if now := w.attach(id, "a").Current(); now.Types[fleet.Cluster].Len() != 1 || version(now, fleet.Cluster, "d") != "1" {
			t.Errorf("%d clusters", now.Types[fleet.Cluster].Len())
		}
	})
}

func TestATypeOfWhichNothingCanBeReadIsNotServedAsEmpty(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.feed.damage("c", "d")
		_, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"), secret("s", "1", "sealed:x"))
		if a, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrUnavailable) {
			t.Fatalf("%v, %v", a, err)
		}
		w.feed.damage()
		time.Sleep(2 * retryMost)
		if now := w.attach(id, "a").Current(); now.Types[fleet.Cluster].Len() != 2 {
			t.Errorf("%d clusters", now.Types[fleet.Cluster].Len())
		}
	})
}
