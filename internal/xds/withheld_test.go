package xds_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// kept leads to a resource that is kept from a client, for each cause, and says what the fleet is told of it.
var kept = map[fleet.Cause]struct {
	protocol xdstest.Protocol
	lead     func(w *xdstest.World, s *xdstest.Client)
	note     string
}{
	fleet.CauseMissing: {xdstest.DeltaADS, func(w *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners"))
		w.Publish(xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, "r")))
	}, "listeners/l waits for routes/r"},
	fleet.CauseRefused: {xdstest.DeltaADS, func(w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Listener, "a", "1", xdstest.Needing(fleet.Route, "r")), xdstest.Put(fleet.Route, "r", "1"))
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners a@1"))
		s.Subscribe(fleet.Route, "r")
		s.Nack(s.Want("routes r@1"), "no")
		s.Ack(s.Want("routes -r"))
		w.Publish(xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, "r")))
	}, "listeners/l waits for routes/r"},
	fleet.CauseSealed: {xdstest.DeltaADS, func(w *xdstest.World, s *xdstest.Client) {
		s.Subscribe(fleet.Secret, "s")
		s.Ack(s.Want("secrets -s"))
		w.Seal("s")
	}, "secrets/s"},
	fleet.CauseTooLarge: {xdstest.SotWADS, func(w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Listener, "l", "1", xdstest.Padding(3<<20)))
		s.Subscribe(fleet.Listener)
		s.Ack(s.Want("listeners l@1"))
		w.Publish(xdstest.Put(fleet.Listener, "m", "1", xdstest.Padding(3<<20)))
	}, "listeners/m"},
}

// TestWhatIsKeptFromAClientIsTold: an event for each cause, once, and none of what is kept back for less than a second.
func TestWhatIsKeptFromAClientIsTold(t *testing.T) {
	for _, cause := range fleet.Causes() {
		t.Run(cause.String(), func(t *testing.T) {
			c, ok := kept[cause]
			if !ok {
				t.Fatal("nothing shows that the fleet is told of this cause: lead to it here")
			}
			bubble(t, func(t *testing.T) {
				var told tellings
				r := metrics.New(metrics.XDS, metrics.Config{})
				w := xdstest.New(t, told.note, func(c *xds.Config) { c.Metrics = r.Streams })
				s := w.Open(c.protocol, "n1")
				c.lead(w, s)
				counted := `fairlead_xds_streams_withheld{reason="` + cause.String() + `"}`
				s.QuietFor(900 * time.Millisecond)
				metricstest.Want(t, r, map[string]float64{counted: 0})
				if len(told.all()) > 0 {
					t.Errorf("told at once: %q", told.all())
				}
				s.QuietFor(time.Minute)
				if want := []string{"withheld_" + cause.String() + " n1: " + c.note}; !slices.Equal(told.all(), want) {
					t.Errorf("told %q, want %q; it waits for %+v", told.all(), want, w.Waits())
				}
				metricstest.Want(t, r, map[string]float64{counted: 1})
				s.Close()
				synctest.Wait()
				metricstest.Want(t, r, map[string]float64{counted: 0})
			})
		})
	}
}

// TestTheOrderOfWritingIsNotTold: what a listener names is written in time.
func TestTheOrderOfWritingIsNotTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told tellings
		w := xdstest.New(t, told.note)
		s := w.Open(xdstest.DeltaADS, "n1")
		kept[fleet.CauseMissing].lead(w, s)
		s.QuietFor(900 * time.Millisecond)
		w.Publish(xdstest.Put(fleet.Route, "r", "1"))
		s.Ack(s.Want("listeners l@1"))
		s.QuietFor(time.Minute)
		if len(told.all()) > 0 {
			t.Errorf("told %q", told.all())
		}
	})
}
