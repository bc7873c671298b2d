package replica

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// The nodes of a deleted fleet come back for ever: they are told so, and the database is not
// asked each time, for the token or for the fleet.
func TestNodesOfADeletedFleetDoNotAskTheDatabaseEachTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		w.attach(id, "n")
		w.feed.remove(key)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		before := w.feed.counts()
		for range 100 {
			if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrForbidden) {
				t.Fatalf("authenticated, or %v", err)
			}
			if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
				t.Fatalf("attached, or %v", err)
			}
			synctest.Wait()
		}
		after := w.feed.counts()
		if n := after.finds - before.finds + after.catchUps - before.catchUps; n > 1 { // whose the token is
			t.Errorf("%d questions to the database for 100 tries", n)
		}
		time.Sleep(goneFor)
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("attached, or %v", err)
		}
		if n := w.feed.counts().catchUps - after.catchUps; n != 1 {
			t.Errorf("when it is forgotten it is asked for %d times, want once", n)
		}
	})
}

// A fleet that was not there yet is there as soon as its bell has rung, and one that a failover
// brings back when its time is over.
func TestAGoneFleetThatIsThereAgainIsServed(t *testing.T) {
	for name, heard := range map[string]func(*world, fleet.Key){
		"its bell rings":   func(w *world, key fleet.Key) { w.Wake(key.Fleet, false) },
		"its time is over": func(*world, fleet.Key) { time.Sleep(goneFor) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				key, id, token := w.newFleet(cluster("c", "1"))
				w.feed.set(func(f *feed) { f.fleets[key].deleted = true })
				if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
					t.Fatalf("attached, or %v", err)
				}
				if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrForbidden) {
					t.Fatalf("authenticated, or %v", err)
				}
				w.feed.set(func(f *feed) { f.fleets[key].deleted = false })
				heard(w, key)
				if _, err := w.Authenticate(t.Context(), token); err != nil {
					t.Errorf("the token of a fleet that is there again: %v", err)
				}
				w.attach(id, "n")
			})
		})
	}
}

func TestGoneFleetsAreBounded(t *testing.T) {
	t.Parallel()
	var g goneFleets
	key := fleet.Key{Tenant: fleet.NewTenantID()}
	for range 3 * maxGone {
		key.Fleet = fleet.NewID()
		g.add(key)
	}
	if n := len(g.until); n > maxGone {
		t.Errorf("%d are remembered", n)
	}
	if !g.has(key) || g.has(fleet.Key{Tenant: fleet.NewTenantID(), Fleet: key.Fleet}) {
		t.Error("the last one is not remembered, or for another tenant")
	}
}
