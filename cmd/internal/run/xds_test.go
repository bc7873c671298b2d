package run

import (
	"testing"

	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// A server that runs tells with its lease what it does.
func TestAServerTellsItsLoad(t *testing.T) {
	db := storetest.New(t)
	openDoorOn(t, db)
	s := db.Store(t)
	for {
		xs, _, err := s.XDSServers(t.Context(), store.ServerFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(xs) == 0 {
			continue // it starts
		}
		if x := xs[0]; len(xs) != 1 || x.Name != "here" || !x.Live || x.Load == nil || x.Load.Streams != 0 || x.Load.Fleets != 0 {
			t.Errorf("%+v", xs)
		}
		return
	}
}
