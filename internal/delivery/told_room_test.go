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

// Who has nothing more to tell keeps what was told no longer than others.
func TestWhatWasToldIsForgottenInAQuietFleet(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		w.Refused(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}})
		time.Sleep(5 * time.Second)
		told := func() int {
			f := w.lock(w.key)
			defer f.mu.Unlock()
			return len(f.outbox.told)
		}
		if told() != 1 {
			t.Fatalf("%d are kept", told())
		}
		time.Sleep(2*keepTold + forgetEvery)
		if told() != 0 {
			t.Errorf("%d are kept for ever", told())
		}
	})
}

// Many fleets keep no more together than a server has room for, and each the newest of its own.
func TestWhatAllFleetsWereToldIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const fleets = 8
		var keys []fleet.Key
		for range fleets {
			key := fleet.Key{Tenant: w.key.Tenant, Fleet: fleet.NewID()}
			keys = append(keys, key)
			w.Head(key, mark(1), time.Now())
			for from := 0; from < maxTold; from += maxTold / 4 {
				var rs []fleet.Refusal
				for i := range maxTold / 4 {
					rs = append(rs, fleet.Refusal{Node: fmt.Sprint("n", from+i), Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1})
				}
				w.Refused(key, rs)
				time.Sleep(time.Second)
			}
		}
		time.Sleep(forgetEvery + leaseEvery)
		newest := keyOf(fleet.Refusal{Node: fmt.Sprint("n", maxTold-1), Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1})
		for _, key := range keys {
			f := w.lock(key)
			if _, kept := f.outbox.told[newest]; len(f.outbox.told) != maxToldOfServer/fleets || !kept {
				t.Errorf("%d are kept of a fleet, want %d; the newest of them: %v", len(f.outbox.told), maxToldOfServer/fleets, kept)
			}
			f.mu.Unlock()
		}
	})
}
