package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// A node that has settled at a revision on another server is not given an older one here, where the database can tell of both.
func TestANodeThatHasMoreThanThisServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first") // so that the fleet is held
		w.feed.write(key, cluster("c", "new"))
		w.left("n", fleet.LastStream{Settled: 2, Clean: true})
		if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != "new" {
			t.Errorf("c is at %q, and the node has settled with %q", got, "new")
		}
	})
}

// Nor is one that has settled there but for what was withheld from it, though that counts as settled before.
func TestANodeThatHasAllButSomethingOfMoreThanThisServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first") // so that the fleet is held
		w.feed.write(key, cluster("c", "new"))
		w.left("n", fleet.LastStream{Settled: 1, Held: fleet.Held{At: 2, Without: []fleet.Ref{{Type: fleet.Listener, Name: "l"}}}, Clean: true})
		if got := inForce(w.attach(id, "n"), fleet.Cluster, "c"); got != "new" {
			t.Errorf("c is at %q, and the node has %q", got, "new")
		}
	})
}

// Where the fleet cannot be read, nobody waits longer than a second for it.
func TestAServerThatIsBehindKeepsNobodyOut(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first")
		w.feed.write(key, cluster("c", "new"))
		w.left("n", fleet.LastStream{Settled: 2, Clean: true})
		hold := make(chan struct{})
		w.feed.set(func(f *feed) { f.hold = hold })
		begun := time.Now()
		a := w.attach(id, "n")
		if took := time.Since(begun); took != behindWait || inForce(a, fleet.Cluster, "c") != "old" {
			t.Errorf("after %v it has %q", took, inForce(a, fleet.Cluster, "c"))
		}
		close(hold)
		synctest.Wait()
		if got := inForce(a, fleet.Cluster, "c"); got != "new" {
			t.Errorf("then it has %q", got)
		}
	})
}

// What the database has lost is waited for by nobody: the reading that begins now tells what there is.
func TestARevisionThatIsLostIsNotWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first")
		w.left("n", fleet.LastStream{Settled: 9, Clean: true})
		begun := time.Now()
		w.attach(id, "n")
		if took := time.Since(begun); took != 0 {
			t.Errorf("it waited %v", took)
		}
	})
}

// A stream that wants to know whether there is something later has a reading begin, and hears of its end, where the database is away too.
func TestAReadingThatBeganAfterAStream(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first")
		hold := make(chan struct{})
		w.feed.set(func(f *feed) { f.hold = hold })
		w.feed.write(key, cluster("c", "new"))
		a, gone := w.attach(id, "n"), w.attach(id, "gone")
		if a.CaughtUp() || gone.CaughtUp() {
			t.Fatal("nothing was read since they came")
		}
		gone.Detach(true)
		synctest.Wait()
		if a.CaughtUp() {
			t.Fatal("the database has not answered")
		}
		close(hold)
		synctest.Wait()
		if !changed(a) || !a.CaughtUp() || inForce(a, fleet.Cluster, "c") != "new" {
			t.Errorf("it is not woken, or has %q", inForce(a, fleet.Cluster, "c"))
		}
		b := w.attach(id, "later")
		if b.CaughtUp() {
			t.Fatal("nothing was read since it came")
		}
		synctest.Wait()
		if !changed(b) || !b.CaughtUp() {
			t.Error("it is not woken where nothing has changed")
		}
		if a.owner.mu.Lock(); len(a.owner.streams.awaiting) > 0 {
			t.Errorf("%d streams are waited for", len(a.owner.streams.awaiting))
		}
		a.owner.mu.Unlock()
	})
}
