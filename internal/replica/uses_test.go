package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// notes is what is noted now.
func (w *world) notes() (all []fleet.CredentialUse) {
	w.t.Helper()
	err := w.NoteUses(w.t.Context(), func(_ context.Context, us []fleet.CredentialUse) error {
		all = append(all, us...)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// A credential's use is noted at once, then once an hour while it is used: also by a stream that stays.
func TestT32_UsesAreNotedOnceAnHour(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		if _, err := w.Authenticate(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		if got := w.notes(); len(got) != 1 || got[0].Key != key || got[0].Credential != id.Credential || got[0].At.IsZero() {
			t.Errorf("noted %+v", got)
		}
		a, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{RemoteAddr: "192.0.2.7:4711"})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			if _, err := w.Authenticate(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.notes(); len(got) != 0 {
			t.Errorf("within the hour it is noted again: %+v", got)
		}
		for hour := range 3 {
			time.Sleep(noteUseAgain)
			got := w.notes()
			if len(got) != 1 || got[0].Address != "192.0.2.7" || time.Since(got[0].At) > time.Second {
				t.Errorf("hour %d of a live stream: %+v", hour, got)
			}
		}
		time.Sleep(time.Minute)
		a.Detach(true)
		time.Sleep(noteUseAgain)
		if got := w.notes(); len(got) != 1 || time.Since(got[0].At) < noteUseAgain-time.Second {
			t.Errorf("its end: %+v", got)
		}
		time.Sleep(noteUseAgain)
		if got := w.notes(); len(got) != 0 || len(w.uses.of) != 0 {
			t.Errorf("afterwards %+v, and %d are remembered", got, len(w.uses.of))
		}
	})
}

// What is not let in is no use, and neither is a port that asks for nothing.
func TestT32_OnlyGoodCredentialsAreUsed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		_, expired := w.newCredential(key, "*", time.Now().Add(-time.Minute))
		if _, err := w.Authenticate(t.Context(), expired); err == nil {
			t.Error("an expired one is let in")
		}
		w.uses.use(xds.Identity{Key: key}, "192.0.2.7:1", 1, time.Now())
		if got := w.notes(); len(got) != 0 {
			t.Errorf("noted %+v", got)
		}
	})
}

// What could not be noted is due again, and the rest waits: a database that is away is asked once.
func TestT32_UsesThatAreNotNotedAreDueAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Replica: &Replica{uses: newCredentialUses()}, t: t}
		for i := range 2*usesPerCall + 1 {
			id := fleet.NewCredentialID()
			w.uses.use(xds.Identity{Credential: id}, fmt.Sprintf("192.0.2.%d:1", i%256), 0, time.Now())
		}
		var calls []int
		err := w.NoteUses(t.Context(), func(_ context.Context, us []fleet.CredentialUse) error {
			if calls = append(calls, len(us)); len(calls) == 2 {
				return errAway
			}
			return nil
		})
		if !errors.Is(err, errAway) || !slices.Equal(calls, []int{usesPerCall, usesPerCall}) {
			t.Errorf("%v, %v", err, calls)
		}
		if n := len(w.notes()); n != usesPerCall+1 {
			t.Errorf("%d are due", n)
		}
	})
}
