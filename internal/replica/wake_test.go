package replica

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// TestStreamsThatEndedAreNotWaitedFor: they have been told of a change, and will not look any more.
func TestStreamsThatEndedAreNotWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		row := fleet.Row{Type: fleet.Cluster, Name: "a", Version: "1", Body: []byte("a@1")}
		key, id, _ := w.newFleet(row)
		var all []*attachment
		for i := range 2 * 64 * runtime.GOMAXPROCS(0) { // two parts
			all = append(all, w.attach(id, fmt.Sprint("n", i)))
			all[i].Current()
		}
		synctest.Wait()
		row.Version, row.Body = "2", []byte("a@2")
		w.feed.write(key, row)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		for _, a := range all {
			if version(a.subscriber.target.Load(), fleet.Cluster, "a") != "2" {
				t.Fatal("a@2 has not come")
			}
			a.Detach(true)
		}
		began := time.Now()
		wake(all)
		if took := time.Since(began); took != time.Millisecond {
			t.Errorf("%s between two parts of streams that have ended, want one pause of a millisecond", took)
		}
	})
}
