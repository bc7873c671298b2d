package xds_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestAGRPCClientThatAsksForItsListenerAlone has settled no more than before: it hears of no change of what the listener leads to. An Envoy, and a client whose
// listener leads nowhere, have all that they ask for.
func TestAGRPCClientThatAsksForItsListenerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		envoy   bool
		names   []string // routes of the listener
		settles fleet.Revision
	}{
		"a gRPC client":          {false, []string{"r"}, 1},
		"one without routes":     {false, nil, 3},
		"an Envoy that has them": {true, []string{"r"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				w.Left(xds.LastStream{Known: true, Clean: true, Settled: 1})
				w.Publish(xdstest.Put(fleet.Route, "r", "1"), xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, c.names...)))
				w.Publish(xdstest.Put(fleet.Listener, "l", "2", xdstest.Needing(fleet.Route, c.names...)))
				node := xdstest.GRPC("n1")
				if c.envoy {
					node = xdstest.Envoy("n1")
				}
				s := xdstest.Open(t, w.Conn(), xdstest.SotWADS, node)
				s.Subscribe(fleet.Listener, "l")
				s.Ack(s.Want("listeners l@2"))
				w.Publish(xdstest.Put(fleet.Route, "r", "2"))
				time.Sleep(time.Minute)
				w.AwaitSettled(t, c.settles)
				if c.envoy || c.names == nil {
					return
				}
				s.Subscribe(fleet.Route, "r")
				s.Ack(s.Want("routes r@2"))
				w.AwaitSettled(t, 3)
			})
		})
	}
}

// TestAGRPCClientThatFollowsIsNeverBehindForIt: one that was in step stays where it was when its listener moves to a route.
func TestAGRPCClientThatFollowsIsNeverBehindForIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(xdstest.Put(fleet.Listener, "l", "1"))
		s := xdstest.Open(t, w.Conn(), xdstest.SotWADS, xdstest.GRPC("n1"))
		s.Subscribe(fleet.Listener, "l")
		s.Ack(s.Want("listeners l@1"))
		time.Sleep(time.Minute)
		w.AwaitSettled(t, 1)
		w.Publish(xdstest.Put(fleet.Route, "r", "1"), xdstest.Put(fleet.Listener, "l", "2", xdstest.Needing(fleet.Route, "r")))
		s.Ack(s.Want("listeners l@2"))
		if got := w.Settled(); got < 1 {
			t.Errorf("it settled 1, and then %d", got)
		}
		s.Subscribe(fleet.Route, "r")
		s.Ack(s.Want("routes r@1"))
		w.AwaitSettled(t, 2)
	})
}
