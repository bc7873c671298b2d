package delivery

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// What was refused last counts most: where the outbox has no room it is the oldest of what was told that is dropped.
func TestTheNewestIsToldAgainBesideWhatIsNew(t *testing.T) {
	o := newOutbox()
	now := time.Now()
	for i := range maxTold {
		o.refuse(fmt.Sprint("old", i), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}, now)
	}
	var st fleet.Status
	ts, _, _ := o.take(&st, maxTold)
	o.ack(ts, now)
	o.refuse("pending", []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 2}}, now)
	o.tellAgain(now)
	o.refuse("new", []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 2}}, now)
	if _, ok := o.events[keyOf(fleet.Refusal{Node: "new", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 2})]; !ok {
		t.Error("a new refusal has no room beside those that are told again")
	}
	last := keyOf(fleet.Refusal{Node: fmt.Sprint("old", maxTold-1), Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1})
	if _, ok := o.events[last]; !ok {
		t.Errorf("the newest of what was told is not told again, nor kept: %v", o.told[last])
	}
}
