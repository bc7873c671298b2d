package conformance

import (
	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var returns = []Check{
	{
		Rule: 13, Name: "NothingKnownIsSent", In: delta, Needs: Together,
		Shows: "Delta: what the client reports on a new stream is not sent again; the next change arrives alone.",
		Run: func(b *Bed) {
			c := b.settled()
			c = c.Again()
			c.Return(fleet.Cluster)
			b.none(c.Settle(), "the client has it") // one type is answered
			c.Return(fleet.Endpoint)
			c.Return(fleet.Listener)
			c.Return(fleet.Route)
			wait()
			b.none(c.Settle(), "the client has it")
			b.Publish(route("r", "2", "a"))
			c.Ack(c.Want("routes r@2"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 13, Name: "WhatIsGoneIsRemoved", In: delta, Needs: Together,
		Shows: "Delta: what changed meanwhile is sent, what is gone is removed.",
		Run: func(b *Bed) {
			b.Publish(cluster("gone")...)
			c := b.settled()
			b.Publish(append(cluster("new"), xdstest.Put(fleet.Cluster, "a", "2", xdstest.EDS), xdstest.Delete(fleet.Cluster, "gone"))...)
			c = c.Again()
			c.Return(fleet.Cluster)
			c.Return(fleet.Route)
			c.Settle()
			wait()
			c.Settle()
			c.Holds(fleet.Cluster, "a@2 new@1")
			c.Holds(fleet.Route, "r@1")
		},
	},
	{
		Rule: 13, Name: "OneSetAtMost", In: sotw, Needs: Together,
		Shows: "SotW: a client that is in step is sent one set at most; the next change arrives as if it had never been away.",
		Run: func(b *Bed) {
			c := b.settled()
			c = c.Again()
			c.Return(fleet.Cluster)
			c.Return(fleet.Endpoint)
			c.Return(fleet.Listener)
			c.Return(fleet.Route)
			wait()
			most := 1
			if b.Variant.PerType {
				most = 4 // one on each stream
			}
			if rs := c.Settle(); len(rs) > most {
				b.Errorf("got %s", joined(rs))
			}
			b.Publish(route("r", "2", "a"))
			c.Ack(c.Want("routes r@2"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 13, Name: "OneAnswerAtLeast", Needs: Together,
		Shows: "A stream on which the client has everything is answered once within a second: without any response Envoy's backoff grows to half a minute.",
		Run: func(b *Bed) {
			c := b.settled()
			c = c.Again()
			c.Return(fleet.Cluster)
			if !b.Variant.PerType {
				c.Return(fleet.Endpoint)
				c.Return(fleet.Listener)
				c.Return(fleet.Route)
			}
			wait()
			if rs := c.Settle(); len(rs) == 0 {
				b.Error("the stream was left unanswered")
			}
		},
	},
	{
		Rule: 13, Name: "OneAnswerWithoutClusters",
		Shows: "So is a stream of listeners alone.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "l", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners l@1"))
			c = c.Again()
			c.Return(fleet.Listener)
			wait()
			if rs := c.Settle(); len(rs) != 1 {
				b.Errorf("got %s, want one answer", rs)
			}
		},
	},
	{
		Rule: 13, Name: "ASetThatBecameEmpty", Needs: Together,
		Shows: "A set that became empty meanwhile is still sent.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			b.Publish(xdstest.Delete(fleet.Cluster, "a"), xdstest.Delete(fleet.Listener, "a"))
			c = c.Again()
			c.Return(fleet.Cluster)
			c.Return(fleet.Listener)
			c.Settle()
			wait()
			c.Settle()
			c.Holds(fleet.Cluster, "")
			c.Holds(fleet.Listener, "")
		},
	},
	{
		Rule: 13, Name: "ComingAndGoing", Needs: Together,
		Shows: "Over random changes, late ACKs, names taken up and given up and lost streams a client ends with what it asked for, and nothing else.",
		Run: func(b *Bed) {
			for seed := range uint64(20) {
				roam(b, seed)
			}
		},
	},
	{
		Rule: 13, Name: "EnvoyAsksForEndpointsFirst", In: deltaADS, Needs: Together,
		Shows: "Delta ADS: endpoints that an Envoy asks for before the clusters are sent whatever versions it reports: its stream was lost while clusters warmed.",
		Run: func(b *Bed) {
			c := b.settled()
			c = c.Again()
			c.Return(fleet.Endpoint)
			c.Ack(c.Want("endpoints a@1"))
			c.Return(fleet.Cluster)
			b.none(c.Settle(), "the client has it")
		},
	},
	{
		Rule: 13, Name: "OthersAskInAnyOrder", In: deltaADS, Needs: Together,
		Shows: "Of other clients, which ask in any order, the reported versions count.",
		Run: func(b *Bed) {
			c := b.settledAs(b.GRPC())
			c = c.Again()
			c.Return(fleet.Endpoint)
			wait()
			b.none(c.Settle(), "the client has it")
		},
	},
}

// settled returns an Envoy that holds a cluster with endpoints, a listener and a route.
func (b *Bed) settled() *xdstest.Client {
	b.Helper()
	return b.settledAs(b.Envoy())
}

func (b *Bed) settledAs(c *xdstest.Client) *xdstest.Client {
	b.Helper()
	b.Publish(append(cluster("a"), put(fleet.Listener, "l", "1"), route("r", "1", "a"))...)
	c.Subscribe(fleet.Cluster)
	c.Settle()
	c.Subscribe(fleet.Endpoint, "a")
	c.Ack(c.Want("endpoints a@1"))
	c.Subscribe(fleet.Listener)
	c.Ack(c.Want("listeners l@1"))
	c.Subscribe(fleet.Route, "r")
	c.Ack(c.Want("routes r@1"))
	c.QuietFor(moment)
	return c
}
