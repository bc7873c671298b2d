package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// A server is behind by as long as it has not heard that a fleet with streams is as it has it.
func TestLoad(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if l := w.Load(); l != (Load{}) {
			t.Errorf("at first %+v", l)
		}
		_, id, _ := w.newFleet(cluster("c", "1"))
		_, other, _ := w.newFleet(cluster("c", "1"))
		first, second, third := w.attach(id, "a"), w.attach(id, "b"), w.attach(other, "a")
		time.Sleep(time.Minute)
		if l := w.Load(); l.Streams != 3 || l.Fleets != 2 || l.Behind > 2*defaultPoll {
			t.Errorf("of three streams %+v", l)
		}
		w.feed.fail(fleet.ErrUnavailable)
		time.Sleep(time.Minute)
		if l := w.Load(); l.Behind < 57*time.Second || l.Behind > 65*time.Second {
			t.Errorf("the database is away: %+v", l)
		}
		w.feed.fail(nil)
		first.Detach(true)
		second.Detach(true)
		time.Sleep(time.Minute)
		if l := w.Load(); l.Streams != 1 || l.Fleets != 1 || l.Behind > 2*defaultPoll {
			t.Errorf("of one stream %+v", l)
		}
		third.Detach(true)
	})
}
