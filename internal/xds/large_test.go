package xds_test

import (
	"log/slog"
	"testing"
	"testing/synctest"

	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestT40_LargeRequestsShareTheirRoom: those that are under way have 256 MiB together, whoever sends them; one more ends its connection, and small
// ones need no room. What was complete, or ended, gives its room back.
func TestT40_LargeRequestsShareTheirRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log logged
		w := xdstest.New(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		begun := xdstest.Message(60<<20, nil) // nothing of it but its length
		begin := func() *xdstest.Raw {
			t.Helper()
			r := w.Raw()
			id := listening(t, r)
			synctest.Wait()
			r.Send(id, begun, false)
			synctest.Wait()
			return r
		}
		var all []*xdstest.Raw
		for range 4 {
			all = append(all, begin())
		}
		small := w.Raw()
		id := listening(t, small)
		small.Send(id, xdstest.Message(4<<20, nil), false)
		synctest.Wait()
		for _, r := range append(all, small) {
			if !r.Alive() {
				t.Fatal("there was room, and a connection ended")
			}
		}
		if begin().Alive() || !log.has("those that are under way take all the room") {
			t.Errorf("a fifth had room; the log: %s", log.text())
		}
		all[0].Close()
		synctest.Wait()
		if !begin().Alive() {
			t.Error("there was room again, and a connection ended")
		}
		if begin().Alive() {
			t.Error("a fifth had room again")
		}
		stranger := w.Raw()
		for range 10 { // without a good token no room is taken
			stranger.Send(stranger.Call(deltaADS, "bad"), begun, false)
		}
		all[1].Close()
		synctest.Wait()
		if !begin().Alive() {
			t.Error("strangers took the room")
		}
	})
}
