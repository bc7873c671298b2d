package conformance

import (
	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var nonces = []Check{
	{
		Rule: 17, Name: "AStaleRequestIsIgnored", In: sotw,
		Shows: "SotW: a request whose nonce is not the last one sent changes nothing: it gives no name up, and is no ACK.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			first := c.Want("secrets a@1")
			c.Ack(first)
			b.Publish(put(fleet.Secret, "a", "2"))
			second := c.Want("secrets a@2")
			c.Send(xdstest.Request{Type: fleet.Secret, Names: []string{"b"}, Version: first.Version, Nonce: first.Nonce})
			c.Quiet()
			b.Publish(put(fleet.Secret, "a", "3"))
			c.QuietFor(moment) // the second is not answered yet
			c.Ack(second)
			c.Ack(c.Want("secrets a@3"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 17, Name: "AStaleRequestAfterAnAck", In: sotw,
		Shows: "SotW: it is stale as well when the newer response was answered.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			first := c.Want("secrets a@1")
			c.Ack(first)
			c.Quiet()
			b.Publish(put(fleet.Secret, "a", "2"))
			c.Ack(c.Want("secrets a@2"))
			c.Quiet()
			c.Send(xdstest.Request{Type: fleet.Secret, Names: []string{"b"}, Version: first.Version, Nonce: first.Nonce})
			c.Quiet()
			b.Publish(put(fleet.Secret, "a", "3"))
			c.Ack(c.Want("secrets a@3"))
		},
	},
	{
		Rule: 17, Name: "TheNonceIsKeptAcrossAcks", In: sotw, Needs: Together,
		Shows: "SotW: a request with the nonce of a response that was ACKed long ago is not stale, and the same ACK twice does no harm.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			r := c.Want("secrets a@1")
			c.Ack(r)
			c.Ack(r)
			c.QuietFor(moment)
			b.Publish(put(fleet.Listener, "l", "1"), put(fleet.Secret, "b", "1"))
			c.Settle()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners l@1"))
			c.Subscribe(fleet.Secret, "b")
			if rs := c.Settle(); !sent(rs, "b@1") {
				b.Errorf("got %s, want b", rs)
			}
		},
	},
	{
		Rule: 17, Name: "AnUnwatchedTypeAsksForNothing", In: sotw,
		Shows: "SotW: the newest nonce with an old `version_info` and no error is what Envoy sends for a type that it does not watch; it asks for nothing, however often it comes.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			first := c.Want("secrets a@1")
			c.Ack(first)
			b.Publish(put(fleet.Secret, "a", "2"))
			second := c.Want("secrets a@2")
			for _, names := range [][]string{{"a"}, {"a"}, nil, nil} {
				c.Send(xdstest.Request{Type: fleet.Secret, Names: names, Version: first.Version, Nonce: second.Nonce})
				c.QuietFor(moment)
			}
		},
	},
	{
		Rule: 17, Name: "AStaleNonceStillSubscribes", In: delta,
		Shows: "Delta: what a request subscribes to and gives up holds, whatever its nonce.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"), put(fleet.Secret, "b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			first := c.Want("secrets a@1")
			c.Ack(first)
			b.Publish(put(fleet.Secret, "a", "2"))
			second := c.Want("secrets a@2")
			c.Send(xdstest.Request{Type: fleet.Secret, Names: []string{"b"}, Unsubscribe: []string{"a"}, Nonce: first.Nonce})
			c.Ack(second)
			c.Ack(c.Want("secrets b@1"))
			b.Publish(put(fleet.Secret, "a", "3"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 17, Name: "AStaleNonceIsNoAnswer", In: delta,
		Shows: "Delta: an ACK or NACK with a nonce that was never sent settles nothing.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			r := c.Want("secrets a@1")
			b.Publish(put(fleet.Secret, "a", "2"))
			c.Send(xdstest.Request{Type: fleet.Secret, Nonce: "of another stream"})
			c.Send(xdstest.Request{Type: fleet.Secret, Nonce: "of another stream", Error: "no"})
			c.QuietFor(moment)
			c.Ack(r)
			c.Ack(c.Want("secrets a@2"))
		},
	},
}
