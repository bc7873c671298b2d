package conformance

import (
	"time"

	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// acting are the types whose resources expire with a client.
var acting = []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute, fleet.VirtualHost, fleet.Runtime, fleet.Extension}

// lasting are the types of which Envoy only forgets the version.
var lasting = []fleet.Type{fleet.Route, fleet.Endpoint, fleet.Secret}

var expiry = []Check{
	{
		Rule: 20, Name: "EnvoyInDelta", In: delta, Needs: TTLs,
		Shows: "Delta: Envoy gets TTLs although it advertises no feature, of the six types that act on them and no other.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range acting {
				b.wantTTL(c, t, "r/a@1/30s")
			}
			for _, t := range lasting {
				b.wantTTL(c, t, "r/a@1")
			}
		},
	},
	{
		Rule: 20, Name: "OthersInDelta", In: delta, Needs: TTLs,
		Shows: "Delta: other clients get a TTL only with `xds.config.supports-resource-ttl`.",
		Run: func(b *Bed) {
			without, with := b.GRPC(), b.Open(xdstest.GRPC(OtherNode, xdstest.FeatureTTL))
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Runtime} {
				b.wantTTL(without, t, "r/a@1")
				b.wantTTL(with, t, "r/a@1/30s")
			}
		},
	},
	{
		Rule: 20, Name: "OthersInSotW", In: sotw, Needs: TTLs,
		Shows: "SotW: the `Resource` wrapper, and a TTL in it, goes to clients with both features alone.",
		Run: func(b *Bed) {
			for i, features := range [][]string{nil, {xdstest.FeatureTTL}, {xdstest.FeatureInSotW}} {
				c := b.Open(xdstest.GRPC(Node, features...))
				for _, t := range []fleet.Type{fleet.Listener, fleet.Runtime} {
					if x := b.wantTTL(c, t, "r/a@1"); x != nil && x.Wrapped {
						b.Errorf("client %d: %s is wrapped", i, t)
					}
				}
				c.Close()
			}
			c := b.GRPC(xdstest.FeatureTTL, xdstest.FeatureInSotW)
			for _, t := range []fleet.Type{fleet.Listener, fleet.Runtime} {
				if x := b.wantTTL(c, t, "r/a@1/30s"); x != nil && !x.Wrapped {
					b.Errorf("%s is not wrapped", t)
				}
			}
		},
	},
	{
		Rule: 20, Name: "NeverEnvoyInSotW", In: sotw, Needs: TTLs,
		Shows: "SotW: Envoy never gets a TTL, whatever features it advertises: it crashes when one expires.",
		Run: func(b *Bed) {
			n := xdstest.Envoy(Node)
			n.ClientFeatures = []string{xdstest.FeatureTTL, xdstest.FeatureInSotW}
			c := b.Open(n)
			for _, t := range fleet.Types() {
				if !b.Variant.Serves(t) {
					continue
				}
				if x := b.wantTTL(c, t, "r/a@1"); x != nil && x.Wrapped {
					b.Errorf("%s is wrapped", t)
				}
			}
		},
	},
	{
		Rule: 22, Name: "AChangeIsSent", In: delta, Needs: TTLs,
		Shows: "Another TTL is sent with the resource; none any more is sent by the resource without one.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Runtime, "a", "1", xdstest.TTL(30*time.Second)))
			c := b.Envoy()
			c.Subscribe(fleet.Runtime, "a")
			c.Ack(c.Want("runtimes a@1/30s"))
			b.Publish(xdstest.Put(fleet.Runtime, "a", "1", xdstest.TTL(time.Minute)))
			c.Ack(c.Want("runtimes a@1/1m0s"))
			b.Publish(put(fleet.Runtime, "a", "1"))
			c.Ack(c.Want("runtimes a@1"))
			c.QuietFor(5 * time.Minute)
		},
	},
	{
		Rule: 22, Name: "AChangeIsSentInSotW", In: sotw, Needs: TTLs,
		Shows: "SotW: the same, to clients with both features.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Runtime, "a", "1", xdstest.TTL(30*time.Second)))
			c := b.GRPC(xdstest.FeatureTTL, xdstest.FeatureInSotW)
			c.Subscribe(fleet.Runtime, "a")
			c.Ack(c.Want("runtimes a@1/30s"))
			b.Publish(xdstest.Put(fleet.Runtime, "a", "1", xdstest.TTL(time.Minute)))
			c.Ack(c.Want("runtimes a@1/1m0s"))
			b.Publish(put(fleet.Runtime, "a", "1"))
			c.Ack(c.Want("runtimes a@1"))
			c.QuietFor(5 * time.Minute)
		},
	},
	{
		Rule: 23, Name: "WhatExpiredBetweenStreams", In: delta, Needs: TTLs,
		Shows: "What a client let expire while it had no server, and does not report, is sent in full.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Cluster, "a", "1", xdstest.TTL(9*time.Second)), put(fleet.Cluster, "b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Settle()
			held := c.Held(fleet.Cluster)
			c = c.Again()
			time.Sleep(time.Minute)
			delete(held, "a")
			c.Send(xdstest.Request{Type: fleet.Cluster, Versions: held})
			rs := c.Settle()
			if len(rs) != 1 || rs[0].Item("a") == nil || rs[0].Item("a").Bare || rs[0].Item("b") != nil {
				b.Errorf("got %s, want a in full and nothing else", joined(rs))
			}
		},
	},
	{
		Rule: 23, Name: "WhatTheClientDoesNotKnow", In: delta, Needs: TTLs,
		Shows: "A heartbeat that is refused was for something that the client does not hold: it is sent in full.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Listener, "a", "1", mortal))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1/9s"))
			c.Nack(c.Want("listeners ~a@1/9s"), "type URL  embedded in an individual Any does not match the message-wide type URL")
			c.Ack(c.Want("listeners a@1/9s"))
			b.heartbeats(c, 20*time.Second)
		},
	},
	{
		Rule: 23, Name: "WhatExpiredUnheard", In: deltaADS, Needs: TTLs,
		Shows: "A client that could not be reached for longer than the TTL has let the resource expire: it is sent in full.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Cluster, "a", "1", xdstest.TTL(9*time.Second)))
			c := b.narrow()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners"))
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1/9s"))
			b.deafen(c)
			time.Sleep(20 * time.Second)
			c.Resume()
			for range 10 {
				rs := b.unheard(c)
				if sent(rs, "a@1/9s") {
					return
				}
				wait()
			}
			b.Error("the cluster was not sent again")
		},
	},
}

// narrow opens an Envoy whose windows are small and do not grow: what it does not read
// soon blocks the server.
func (b *Bed) narrow() *xdstest.Client {
	b.Helper()
	const window = 64 << 10
	conn := b.Dial(grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(16*window))
	return xdstest.Open(b, conn, b.Variant, xdstest.Envoy(Node))
}

// deafen makes the client read no more, while the server has more to write to it than
// lies in buffers.
func (b *Bed) deafen(c *xdstest.Client) {
	b.Helper()
	c.Pause()
	b.Publish(put(fleet.Listener, "small", "1")) // the one that is still read
	c.Ack(c.Want("listeners small@1"))
	b.Publish(xdstest.Put(fleet.Listener, "large", "1", xdstest.Padding(1<<20)))
}

// unheard answers what comes but heartbeats, of which an Envoy answers none while its
// clusters warm.
func (b *Bed) unheard(c *xdstest.Client) []*xdstest.Response {
	b.Helper()
	var all []*xdstest.Response
	for {
		r, more := c.NextOrQuiet()
		if !more {
			return all
		}
		if all = append(all, r); !r.Heartbeat() {
			c.Ack(r)
		}
	}
}

// wantTTL publishes a resource with a TTL of 30 s and subscribes to it.
func (b *Bed) wantTTL(c *xdstest.Client, t fleet.Type, want string) *xdstest.Item {
	b.Helper()
	b.Publish(xdstest.Put(t, "r/a", "1", xdstest.TTL(30*time.Second)))
	c.Subscribe(t, "r/a")
	r := c.Want(text(t, want))
	c.Ack(r)
	return r.Item("r/a")
}
