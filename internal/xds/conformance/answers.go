package conformance

import (
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var answers = []Check{
	{
		Rule: 15, Name: "TypesDoNotWait", In: ads, Needs: Together,
		Shows: "Endpoints, secrets and routes are answered while the response with clusters is unanswered: Envoy answers it when they are warm.",
		Run: func(b *Bed) {
			b.Publish(append(cluster("a"), put(fleet.Secret, "s", "1"), route("r", "1"))...)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			clusters := c.Want("clusters a@1")
			c.Subscribe(fleet.Endpoint, "a")
			c.Ack(c.Want("endpoints a@1"))
			c.Subscribe(fleet.Secret, "s")
			c.Ack(c.Want("secrets s@1"))
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			c.Ack(clusters)
			c.QuietFor(moment)
		},
	},
	{
		Rule: 15, Name: "OneInFlight",
		Shows: "While a response is unanswered no other of its type is sent; then the newest content, once.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			first := c.Want("listeners a@1")
			b.Publish(put(fleet.Listener, "a", "2"))
			b.Publish(put(fleet.Listener, "a", "3"))
			c.QuietFor(moment)
			c.Ack(first)
			c.Ack(c.Want("listeners a@3"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 15, Name: "ThereAndBackInFlight",
		Shows: "Content that changed there and back while a response was unanswered ends at what it is.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			b.Publish(put(fleet.Listener, "a", "2"))
			r := c.Want("listeners a@2")
			b.Publish(put(fleet.Listener, "a", "1"))
			c.Quiet()
			c.Ack(r)
			c.Ack(c.Want("listeners a@1"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 15, Name: "NewerContentAfter20s", In: ads, Needs: Together,
		Shows: "A client whose clusters warm for 20 s is sent newer clusters all the same, and not before.",
		Run: func(b *Bed) {
			c, _, second := b.warming()
			c.Ack(second)
			c.Settle()
			c.QuietFor(moment)
		},
	},
	{
		Rule: 15, Name: "LateAnswersCount", In: deltaADS, Needs: Records,
		Shows: "An answer to an older nonce is recorded against what that response carried.",
		Run: func(b *Bed) {
			c, first, _ := b.warming()
			c.Nack(first, "Error adding/updating cluster(s) a: no\n")
			c.NextOrQuiet()
			rs := b.World().Refusals()
			if len(rs) != 1 || len(rs[0].Blame) != 1 || rs[0].Blame[0].Refused.Name != "a" {
				b.Errorf("refusals %+v, want one of a", rs)
			}
		},
	},
}

// warming returns a client that has two responses with clusters unanswered: the second
// was sent because the first had been warming for 20 s.
func (b *Bed) warming() (c *xdstest.Client, first, second *xdstest.Response) {
	b.Helper()
	b.Publish(cluster("a")...)
	c = b.Envoy()
	c.Subscribe(fleet.Cluster)
	first = c.Want("clusters a@1")
	c.Subscribe(fleet.Endpoint, "a")
	c.Want("endpoints a@1") // not accepted yet
	b.Publish(put(fleet.Cluster, "b", "1"))
	c.QuietFor(19 * time.Second)
	second = c.Next()
	if s := second.String(); second.Type != fleet.Cluster || !strings.Contains(s, "b@1") {
		b.Fatalf("got %s, want clusters with b", s)
	}
	return c, first, second
}

// wait passes the time in which a new stream may say what it holds.
func wait() { time.Sleep(moment) }
