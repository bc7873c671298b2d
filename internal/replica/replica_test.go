package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

func TestNewRefusesAnIncompleteConfig(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Feed: newFeed()}); !errors.Is(err, fleet.ErrInvalid) {
		t.Error(err)
	}
}

func TestNothingIsLoadedBeforeRunAndAfterIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		held := w.attach(id, "a")
		_, other, _ := w.newFleet()
		w.stop()
		if _, err := w.Attach(t.Context(), other, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("a fleet that is not held: %v", err)
		}
		if version(held.Current(), fleet.Cluster, "c") != "1" {
			t.Error("what is held is gone")
		}
	})
}

func TestReadyAfterTheHeadsWereReadOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if !w.Ready() {
			t.Error("not ready without fleets")
		}
		w.feed.fail(errAway)
		time.Sleep(10 * time.Second)
		if !w.Ready() {
			t.Error("not ready any more: all servers would leave the load balancer at once")
		}
	})
	// and not before
	rep, err := New(Config{Feed: newFeed(), Opener: opener{}, Recorder: &delivery.Recorder{}})
	if err != nil || rep.Ready() {
		t.Errorf("ready before Run: %v", err)
	}
}

func TestTheFirstStreamLoadsTheFleet(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"), secret("s", "1", "sealed:key"))
		a := w.attach(id, "a")
		cur := a.Current()
		if cur.Revision != 1 || version(cur, fleet.Cluster, "c") != "1" {
			t.Fatalf("revision %d", cur.Revision)
		}
		if _, body := cur.Types[fleet.Secret].Get("s").Delta(false, nil); !strings.HasSuffix(string(body), "key") || strings.Contains(string(body), "sealed:") {
			t.Errorf("the secret is sent as %q", body)
		}
		if b := w.attach(id, "b"); b.Current() != cur {
			t.Error("two nodes have two targets")
		}
		a.Detach(true)
		a.Detach(true)
	})
}

func TestAttachWaitsFiveSeconds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.feed.fail(errAway)
		begun := time.Now()
		_, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{})
		if !errors.Is(err, fleet.ErrUnavailable) || time.Since(begun) != attachWait {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Attach(ctx, id, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("the client went away: %v", err)
		}
		w.feed.fail(nil)
		if a := w.attach(id, "a"); version(a.Current(), fleet.Cluster, "c") != "1" {
			t.Error("nothing came with the database")
		}
	})
}

func TestFirstStreamsShareOneLoad(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		hold := make(chan struct{})
		w.feed.set(func(f *feed) { f.hold = hold })
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { w.attach(id, fmt.Sprint(i)) })
		}
		synctest.Wait()
		w.feed.set(func(f *feed) { f.hold = nil })
		close(hold)
		wg.Wait()
		if w.feed.counts().reloads != 1 {
			t.Errorf("%d loads", w.feed.counts().reloads)
		}
	})
}

func TestTwoLoadsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.feed.set(func(f *feed) { f.took = 100 * time.Millisecond })
		var wg sync.WaitGroup
		for range 20 {
			_, id, _ := w.newFleet(cluster("c", "1"))
			wg.Go(func() { w.attach(id, "a") })
		}
		wg.Wait()
		if w.feed.counts().most != quickAtOnce {
			t.Errorf("%d at once", w.feed.counts().most)
		}
	})
}

func TestADeletedOrUnknownFleetIsForbidden(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		w.feed.remove(key)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		if err := a.Ended(); !errors.Is(err, fleet.ErrForbidden) || !strings.Contains(err.Error(), "the fleet was deleted") {
			t.Errorf("the stream ends with %v", err)
		}
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("the next one: %v", err)
		}
		a.Detach(true)
		time.Sleep(time.Second)
		w.wantFleets(0)
	})
}

func TestIdleFleetsAreLetGo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		time.Sleep(3 * defaultIdle)
		w.wantFleets(1)
		a.Detach(true)
		time.Sleep(defaultIdle - time.Minute)
		w.wantFleets(1)
		time.Sleep(2 * time.Minute)
		w.wantFleets(0)
		if b := w.attach(id, "a"); b.Current().Revision != 1 {
			t.Error("it cannot be loaded again")
		}
	})
}

// TestWhatWaitsForTheDatabaseWaitsAside: others may come meanwhile. Of a stream that comes while the fleet is loaded and whose node is
// known that is one question.
func TestWhatWaitsForTheDatabaseWaitsAside(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.feed.pasts = map[string]fleet.LastStream{"known": {Known: true, Clean: true}}
		for _, c := range []struct {
			node string
			want int
		}{{"first", 3}, {"new", 2}, {"known", 1}, {"known", 0}} {
			aside := 0
			_, err := w.Attach(t.Context(), id, fleet.Node{ID: c.node}, xds.StreamInfo{Protocol: "delta ADS", Aside: func(wait func()) {
				aside++
				wait()
			}})
			if err != nil || aside != c.want {
				t.Errorf("%s waited %d times aside, want %d: %v", c.node, aside, c.want, err)
			}
		}
	})
}
