package conformance

import (
	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var endpoints = []Check{
	{
		Rule: 14, Name: "BehindAChangedCluster", In: ads, Needs: Together,
		Shows: "When a cluster changed its endpoints follow directly, without waiting for the ACK, which Envoy gives when the cluster is warm; unsent they cost 15 s.",
		Run: func(b *Bed) {
			c := b.settled()
			b.Publish(xdstest.Put(fleet.Cluster, "a", "2", xdstest.EDS))
			clusters := c.Want("clusters a@2")
			b.askAgain(c, "a")
			c.Ack(c.Want("endpoints a@1"))
			c.Ack(clusters)
			c.QuietFor(moment)
		},
	},
	{
		Rule: 14, Name: "BehindEachOfTwoChanges", In: ads, Needs: Together,
		Shows: "They follow the last of several changes.",
		Run: func(b *Bed) {
			c := b.settled()
			for _, v := range []string{"2", "3", "4"} {
				b.Publish(xdstest.Put(fleet.Cluster, "a", v, xdstest.EDS))
				clusters := c.Want("clusters a@" + v)
				b.askAgain(c, "a")
				c.Ack(c.Want("endpoints a@1"))
				c.Ack(clusters)
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 14, Name: "SharedEndpoints", In: ads, Needs: Together,
		Shows: "Of clusters that share one assignment each that changes has it sent again.",
		Run: func(b *Bed) {
			b.Publish(
				xdstest.Put(fleet.Cluster, "a", "1", xdstest.EDSName("pool")), xdstest.Put(fleet.Cluster, "b", "1", xdstest.EDSName("pool")),
				put(fleet.Endpoint, "pool", "1"),
			)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			clusters := c.Want("clusters a@1 b@1")
			c.Subscribe(fleet.Endpoint, "pool")
			c.Ack(c.Want("endpoints pool@1"))
			c.Ack(clusters)
			b.Publish(xdstest.Put(fleet.Cluster, "b", "2", xdstest.EDSName("pool")))
			clusters = c.Want(b.Says("clusters b@2", "clusters a@1 b@2"))
			b.askAgain(c, "pool")
			c.Ack(c.Want("endpoints pool@1"))
			c.Ack(clusters)
			c.QuietFor(moment)
		},
	},
	{
		Rule: 14, Name: "ANewStreamIsAnswered", In: single, Needs: Together,
		Shows: "With a stream per resource Envoy asks for a changed cluster's endpoints on a new stream beside the old one, and is answered there.",
		Run: func(b *Bed) {
			c := b.settled()
			b.Publish(xdstest.Put(fleet.Cluster, "a", "2", xdstest.EDS))
			c.Ack(c.Want("clusters a@2"))
			fresh := b.Envoy()
			fresh.Subscribe(fleet.Endpoint, "a")
			fresh.Ack(fresh.Want("endpoints a@1"))
		},
	},
	{
		Rule: 14, Name: "SecretsAreNotSentAgain", Needs: Together,
		Shows: "A rotated secret is sent alone; a changed cluster brings neither its secret nor a route again.",
		Run: func(b *Bed) {
			b.Publish(
				xdstest.Put(fleet.Cluster, "a", "1", xdstest.Needing(fleet.Secret, "s")),
				put(fleet.Secret, "s", "1"), route("r", "1", "a"),
			)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			clusters := c.Want("clusters a@1")
			c.Subscribe(fleet.Secret, "s")
			c.Ack(c.Want("secrets s@1"))
			c.Ack(clusters)
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			b.Publish(put(fleet.Secret, "s", "2"))
			c.Ack(c.Want("secrets s@2"))
			c.QuietFor(moment)
			b.Publish(xdstest.Put(fleet.Cluster, "a", "2", xdstest.Needing(fleet.Secret, "s")))
			c.Ack(c.Want("clusters a@2"))
			c.QuietFor(moment)
		},
	},
}

// askAgain asks for endpoints as a SotW Envoy does when their cluster changed, by a
// request that equals its last ACK. Delta Envoy does not ask.
func (b *Bed) askAgain(c *xdstest.Client, name string) {
	b.Helper()
	if !b.Variant.Delta {
		c.Subscribe(fleet.Endpoint, name)
	}
}
