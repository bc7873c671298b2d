package run

import (
	"runtime/debug"
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

func TestVersionOfTheProgram(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3": {Main: debug.Module{Version: "v1.2.3"}, Settings: commit},
		"abc":    {Main: debug.Module{Version: "(devel)"}, Settings: commit},
		"":       {},
	} {
		if got := version(info, true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := version(nil, false); got != "" {
		t.Errorf("of nothing known: %q", got)
	}
}
