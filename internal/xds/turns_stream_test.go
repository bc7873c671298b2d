package xds_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// A stream plans when it has its turn, what comes from its client and what comes from its fleet.
func TestT44_StreamsPlanInTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		xds.Turns(w.Server, 1)
		w.Publish(xdstest.Put(fleet.Listener, "a", "1"))
		s := w.Open(xdstest.DeltaADS, "n1")
		leave := xds.TakeTurn(w.Server)
		s.Subscribe(fleet.Listener)
		s.QuietFor(time.Second)
		leave()
		s.Ack(s.Want("listeners a@1"))
		s.Quiet()
		leave = xds.TakeTurn(w.Server)
		w.Publish(xdstest.Put(fleet.Listener, "a", "2"))
		s.QuietFor(time.Second)
		leave()
		s.Ack(s.Want("listeners a@2"))
		s.Quiet()
		leave = xds.TakeTurn(w.Server)
		s.Send(xdstest.Request{TypeURL: "nobody.knows.it"})
		s.QuietFor(time.Second)
		leave()
		s.End()
	})
}

// A stream whose refusal waits for the database keeps nobody from planning.
func TestT44_WhoWaitsForTheRecordHasNoTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		xds.Turns(w.Server, 1)
		w.Publish(xdstest.Put(fleet.Listener, "a", "1"))
		one, other := w.Open(xdstest.DeltaADS, "n1"), w.Open(xdstest.DeltaADS, "n2")
		one.Subscribe(fleet.Listener)
		recorded := make(chan struct{})
		w.Record(func() { <-recorded })
		one.Nack(one.Want("listeners a@1"), "Error adding/updating listener(s) a: no\n")
		one.Quiet()
		other.Subscribe(fleet.Listener)
		other.Ack(other.Want("listeners a@1"))
		close(recorded)
		one.Ack(one.Want("listeners -a"))
		one.Quiet()
	})
}
