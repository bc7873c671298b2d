package conformance

import (
	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// byName are the types that have no legacy wildcard.
var byName = []fleet.Type{fleet.Endpoint, fleet.Route, fleet.Secret, fleet.Runtime, fleet.Extension}

var subscriptions = []Check{
	{
		Rule: 1, Name: "EverythingWithoutNames", Needs: Together,
		Shows: "An empty first list of Listener, Cluster, ScopedRoute and (delta) VirtualHost is answered by all, and by what is added later.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Route, "r", "1", xdstest.VHDS))
			c := b.Envoy()
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute, fleet.VirtualHost} {
				if !b.Variant.Serves(t) {
					continue
				}
				b.Publish(put(t, "r/a", "1"))
				c.Subscribe(t)
				c.Ack(c.Want(text(t, "r/a@1")))
				b.Publish(put(t, "r/b", "1"))
				if b.Variant.Delta {
					c.Ack(c.Want(text(t, "r/b@1")))
				} else {
					c.Ack(c.Want(text(t, "r/a@1", "r/b@1")))
				}
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 1, Name: "NothingForOtherTypes", Needs: Together,
		Shows: "An empty first list of any other type means nothing.",
		Run:   func(b *Bed) { nothingForOtherTypes(b, "") },
	},
	{
		Rule: 1, Name: "NothingForOtherTypesOnReturn", In: sotw, Needs: Together,
		Shows: "It means nothing with a `version_info` either, which Envoy sends after its last subscription of a type ended.",
		Run:   func(b *Bed) { nothingForOtherTypes(b, "of another stream") },
	},
	{
		Rule: 1, Name: "NothingAfterNames",
		Shows: "Once a name was sent an empty list means nothing.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Cluster, "a")
			c.Ack(c.Want("clusters a@1"))
			c.Unsubscribe(fleet.Cluster, "a")
			b.none(c.Settle(), "nothing is asked for any more")
			b.Publish(put(fleet.Cluster, "a", "2"), put(fleet.Cluster, "b", "2"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 1, Name: "ExplicitWildcard", Needs: Together,
		Shows: "An explicit `*` is honoured for every type but Secret.",
		Run: func(b *Bed) {
			c := b.GRPC()
			for _, t := range fleet.Types() {
				if !b.Variant.Serves(t) {
					continue
				}
				b.Publish(put(t, "r/a", "1"))
				c.Subscribe(t, "*")
				if t == fleet.Secret {
					for _, r := range c.Settle() {
						if len(r.Resources) > 0 {
							b.Errorf("got %s: nobody may have all secrets", r)
						}
					}
					continue
				}
				c.Ack(c.Want(text(t, "r/a@1")))
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 2, Name: "TheDocumentsExample",
		Shows: "All, then all and A, then A alone, then nothing: as the document's example has it.",
		Run:   wildcardBesideNames,
	},
	{
		Rule: 3, Name: "NothingIsSubscribedTo", In: delta,
		Shows: "A first request with only `unsubscribe *` subscribes to nothing; names that follow are answered.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			c := b.Envoy()
			c.Send(xdstest.Request{Type: fleet.Cluster, Unsubscribe: []string{"*"}})
			b.nothing(c, moment, "nothing was asked for")
			b.Publish(put(fleet.Cluster, "a", "2"))
			c.QuietFor(moment)
			c.Subscribe(fleet.Cluster, "a")
			c.Ack(c.Want("clusters a@2"))
			c.Quiet()
		},
	},
	{
		Rule: 4, Name: "AnsweredAgain", In: delta,
		Shows: "A name that is subscribed to again is answered, though the client has that version.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"), put(fleet.Listener, "b", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Listener, "a", "b")
			c.Ack(c.Want("listeners a@1 b@1"))
			c.Subscribe(fleet.Listener, "a")
			c.Ack(c.Want("listeners a@1"))
			c.Quiet()
		},
	},
	{
		Rule: 4, Name: "VersionsOfTheFirstRequestWin", In: delta,
		Shows: "On a type's first request a name whose version the client reports is not answered, the others are.",
		Run: func(b *Bed) {
			b.Publish(route("a", "1"), route("b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Route, "a", "b")
			c.Ack(c.Want("routes a@1 b@1"))
			version := c.Held(fleet.Route)["a"]
			c = c.Again()
			c.Send(xdstest.Request{Type: fleet.Route, Names: []string{"a", "b"}, Versions: map[string]string{"a": version}})
			c.Ack(c.Want("routes b@1"))
			c.QuietFor(moment)
		},
	},
}

func nothingForOtherTypes(b *Bed, version string) {
	c := b.Envoy()
	for _, t := range byName {
		b.Publish(put(t, "a", "1"))
		c.Send(xdstest.Request{Type: t, Version: version})
	}
	b.nothing(c, moment, "nothing was asked for")
	for _, t := range byName {
		b.Publish(put(t, "a", "2"))
	}
	c.QuietFor(moment)
}

func wildcardBesideNames(b *Bed) {
	b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
	c := b.GRPC()
	c.Subscribe(fleet.Cluster)
	c.Ack(c.Want("clusters a@1 b@1"))

	if b.Variant.Delta {
		c.Subscribe(fleet.Cluster, "a") // the wildcard stays
	} else {
		c.Subscribe(fleet.Cluster, "*", "a")
	}
	c.Settle()
	b.Publish(put(fleet.Cluster, "b", "2"))
	c.Ack(c.Want(b.Says("clusters b@2", "clusters a@1 b@2")))

	c.Unsubscribe(fleet.Cluster, "*")
	c.Settle()
	b.Publish(put(fleet.Cluster, "b", "3"))
	if rs := c.Settle(); sent(rs, "b@3") {
		b.Errorf("after the wildcard was given up: %s", rs)
	}
	b.Publish(put(fleet.Cluster, "a", "2"))
	c.Ack(c.Want("clusters a@2"))

	c.Unsubscribe(fleet.Cluster, "a")
	b.none(c.Settle(), "everything was given up")
	b.Publish(put(fleet.Cluster, "a", "3"), put(fleet.Cluster, "b", "4"))
	c.QuietFor(moment)
}
