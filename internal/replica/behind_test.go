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
