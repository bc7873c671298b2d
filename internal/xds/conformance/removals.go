package conformance

import (
	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var removals = []Check{
	{
		Rule: 6, Name: "UnsubscribeAlone", In: delta,
		Shows: "An unsubscription alone is not answered, and what was given up is not sent any more.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"), put(fleet.Secret, "b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a", "b")
			c.Ack(c.Want("secrets a@1 b@1"))
			c.Unsubscribe(fleet.Secret, "a")
			c.QuietFor(moment)
			b.Publish(put(fleet.Secret, "a", "2"), put(fleet.Secret, "b", "2"))
			c.Ack(c.Want("secrets b@2"))
			c.Quiet()
		},
	},
	{
		Rule: 6, Name: "UnderAWildcard", In: delta,
		Shows: "A name that is given up under a wildcard is answered: by the resource, or in `removed_resources`.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Cluster, "a", "gone")
			c.Settle()
			c.Unsubscribe(fleet.Cluster, "a", "gone")
			c.Ack(c.Want("clusters a@1 -gone"))
			c.Quiet()
		},
	},
	{
		Rule: 6, Name: "PhantomsAreIgnored", In: delta,
		Shows: "The unsubscription of a name that was never asked for changes nothing.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			c.Ack(c.Want("secrets a@1"))
			c.Unsubscribe(fleet.Secret, "phantom")
			c.QuietFor(moment)
			b.Publish(put(fleet.Secret, "a", "2"))
			c.Ack(c.Want("secrets a@2"))
			c.Quiet()
		},
	},
	{
		Rule: 6, Name: "TheEmptyWildcard", In: delta, Needs: Together,
		Shows: "The first request of a wildcard that reports no version is answered even if there is nothing: unanswered it costs Envoy 15 s of its start.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute, fleet.VirtualHost} {
				c.Subscribe(t)
				c.Ack(c.Want(text(t)))
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 6, Name: "TheEmptySet", In: sotw, Needs: Together,
		Shows: "In state of the world the first request of a wildcard is answered by the empty set.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute} {
				c.Subscribe(t)
				r := c.Want(text(t))
				if r.Version == "" {
					b.Errorf("%s: version_info is empty", t)
				}
				c.Ack(r)
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 6, Name: "NoOtherEmptyAnswer", In: delta, Needs: Together,
		Shows: "No other request gets an empty answer: not an ACK, not an empty list of another type, not a wildcard that reports what it holds.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Listener, "a", "1"), put(fleet.ScopedRoute, "a", "1"), put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.ScopedRoute)
			c.Ack(c.Want("scoped-routes a@1"))
			c.Subscribe(fleet.Secret, "a")
			c.Ack(c.Want("secrets a@1"))
			if !b.Variant.PerType {
				c.Send(xdstest.Request{Type: fleet.Route})
			}
			c.QuietFor(moment)

			// Of a stream on which all is known one request is answered (rule 13).
			c = c.Again()
			streams := 1
			for _, t := range []fleet.Type{fleet.Cluster, fleet.ScopedRoute, fleet.Secret} {
				c.Return(t)
				wait()
				rs := c.Settle()
				if b.none(rs, "the client has it"); len(rs) > streams {
					b.Errorf("%s: %d empty answers on one stream", t, len(rs))
				}
				if !b.Variant.PerType {
					streams -= len(rs)
				}
			}
		},
	},
}
