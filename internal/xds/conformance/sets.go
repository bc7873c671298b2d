package conformance

import (
	"strconv"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var sets = []Check{
	{
		Rule: 10, Name: "TheFullSet", In: sotw, Needs: Together,
		Shows: "SotW: a change of one Listener, Cluster or ScopedRoute is sent with all the others; what is left out is removed.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute} {
				b.Publish(put(t, "a", "1"), put(t, "b", "1"))
				c.Subscribe(t)
				c.Ack(c.Want(text(t, "a@1", "b@1")))
				b.Publish(put(t, "a", "2"))
				c.Ack(c.Want(text(t, "a@2", "b@1")))
				c.QuietFor(moment) // a cluster leaves when the client had time to say what names it
				b.Publish(xdstest.Delete(t, "b"))
				c.Ack(c.Want(text(t, "a@2")))
				b.Publish(xdstest.Delete(t, "a"))
				c.Ack(c.Want(text(t)))
			}
			c.Settle() // behind an empty set of scoped routes listeners may follow
			c.QuietFor(moment)
		},
	},
	{
		Rule: 10, Name: "TheFullSetOfNames", In: sotw,
		Shows: "SotW: a client that names listeners gets all that it names, and no other.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"), put(fleet.Listener, "b", "1"), put(fleet.Listener, "c", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Listener, "a", "b")
			c.Ack(c.Want("listeners a@1 b@1"))
			b.Publish(put(fleet.Listener, "a", "2"))
			c.Ack(c.Want("listeners a@2 b@1"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 10, Name: "OnlyWhatChanged", In: sotw, Needs: Together,
		Shows: "SotW: of the other types only what changed is sent, and nothing when a resource is deleted, runtimes apart.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range byName {
				b.Publish(put(t, "a", "1"), put(t, "b", "1"))
				c.Subscribe(t, "a", "b")
				c.Ack(c.Want(text(t, "a@1", "b@1")))
				b.Publish(put(t, "a", "2"))
				c.Ack(c.Want(text(t, "a@2")))
				b.Publish(xdstest.Delete(t, "b"))
				if t == fleet.Runtime {
					c.Settle() // see AnEmptyRuntime
				}
				c.QuietFor(moment)
			}
		},
	},
	{
		Rule: 10, Name: "OnlyTheDifference", In: delta, Needs: Together,
		Shows: "Delta: only what changed is sent, only what is gone is removed.",
		Run: func(b *Bed) {
			c := b.GRPC()
			for _, t := range fleet.Types() {
				b.Publish(put(t, "r/a", "1"), put(t, "r/b", "1"), put(t, "r/c", "1"))
				c.Subscribe(t, "r/a", "r/b", "r/c")
				c.Ack(c.Want(text(t, "r/a@1", "r/b@1", "r/c@1")))
				c.QuietFor(moment)
				b.Publish(put(t, "r/a", "2"), xdstest.Delete(t, "r/b"))
				c.Settle()
				c.Holds(t, "r/a@2 r/c@1")
				b.Publish(put(t, "r/c", "2"))
				c.Ack(c.Want(text(t, "r/c@2")))
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 11, Name: "OtherTypesChange", Needs: Together,
		Shows: "A set is not sent again because another type changed.",
		Run: func(b *Bed) {
			b.Publish(both(cluster("a"), []xdstest.Change{put(fleet.Listener, "l", "1"), route("r", "1")})...)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Endpoint, "a")
			c.Ack(c.Want("endpoints a@1"))
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners l@1"))
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			for i := range 10 {
				b.Publish(put(fleet.Runtime, "layer", strconv.Itoa(i)), put(fleet.Secret, "s", strconv.Itoa(i)))
				c.QuietFor(moment)
			}
		},
	},
	{
		Rule: 11, Name: "OtherNamesChange",
		Shows: "What a client named is not sent again because another resource of the type changed, was added or removed.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			c.Ack(c.Want("secrets a@1"))
			b.Publish(put(fleet.Secret, "b", "1"))
			c.QuietFor(moment)
			b.Publish(put(fleet.Secret, "b", "2"))
			c.QuietFor(moment)
			b.Publish(xdstest.Delete(fleet.Secret, "b"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 11, Name: "TheSameAgain",
		Shows: "What is written again with the same content is not sent again.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			b.Publish(put(fleet.Listener, "a", "1"))
			c.QuietFor(moment)
		},
	},
}
