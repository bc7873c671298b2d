package conformance

import (
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var names = []Check{
	{
		Rule: 5, Name: "MissingIsSaidOnce", In: delta, Needs: Together,
		Shows: "A name that does not exist is answered in `removed_resources` once, stays subscribed and is sent when it springs into existence.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range []fleet.Type{fleet.Cluster, fleet.Endpoint, fleet.Secret, fleet.Listener, fleet.ScopedRoute, fleet.Runtime} {
				c.Subscribe(t, "a")
				c.Ack(c.Want(text(t, "-a")))
				b.Publish(put(t, "another", "1"))
				c.QuietFor(moment)
				b.Publish(put(t, "a", "1"))
				c.Ack(c.Want(text(t, "a@1")))
				c.Quiet()
			}
		},
	},
	{
		Rule: 5, Name: "SpringsIntoExistence", In: sotw, Needs: Together,
		Shows: "A subscribed name that did not exist is sent when it springs into existence.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range byName {
				c.Subscribe(t, "a", "b")
				if rs := c.Settle(); t != fleet.Runtime { // see AnEmptyRuntime
					b.none(rs, "nothing exists yet")
				}
				b.Publish(put(t, "a", "1"))
				c.Ack(c.Want(text(t, "a@1")))
				b.Publish(put(t, "b", "1"))
				if rs := c.Settle(); !sent(rs, "b@1") {
					b.Fatalf("got %s, want b", joined(rs))
				}
			}
		},
	},
	{
		Rule: 5, Name: "AnEmptyRuntime", In: sotw, Needs: Together,
		Shows: "SotW: a runtime that does not exist is answered by an empty one, and so is one that was deleted: nothing else takes its entries away.",
		Run: func(b *Bed) {
			c := b.Envoy()
			c.Subscribe(fleet.Runtime, "a")
			if r := c.Next(); len(r.Resources) != 1 || r.Item("a") == nil {
				b.Errorf("got %s, want an empty runtime", r)
			} else {
				c.Ack(r)
			}
			b.Publish(put(fleet.Runtime, "a", "1"))
			c.Ack(c.Want("runtimes a@1"))
			b.Publish(xdstest.Delete(fleet.Runtime, "a"))
			if r := c.Next(); len(r.Resources) != 1 || r.Item("a") == nil || r.String() == "runtimes a@1" {
				b.Errorf("got %s, want an empty runtime", r)
			} else {
				c.Ack(r)
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 5, Name: "AnEmptyAssignment", In: sotw, Needs: Together,
		Shows: "Endpoints that nobody wrote, of a cluster that exists, are answered by an empty ClusterLoadAssignment: the cluster does not warm for 15 s.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Cluster, "a", "1", xdstest.EDS))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Endpoint, "a", "of no cluster")
			c.Ack(c.Want("endpoints a@empty"))
			c.QuietFor(moment)
			b.Publish(put(fleet.Endpoint, "a", "1"))
			c.Ack(c.Want("endpoints a@1"))
			c.Quiet()
		},
	},
	{
		Rule: 5, Name: "EnvoyIsToldLate", In: delta, Needs: Together,
		Shows: "Of a route or extension that does not exist Envoy is told after 20 s, and not before: told early, its listener warms for ever.",
		Run: func(b *Bed) {
			for _, t := range []fleet.Type{fleet.Route, fleet.Extension} {
				c := b.Envoy()
				c.Subscribe(t, "a")
				b.nothing(c, 19*time.Second, "Envoy still waits")
				c.Ack(c.Want(text(t, "-a")))
				c.QuietFor(time.Minute)
				b.Publish(put(t, "a", "1"))
				c.Ack(c.Want(text(t, "a@1")))
				c.Quiet()
				c.Close()
			}
		},
	},
	{
		Rule: 5, Name: "EnvoyIsNotToldOfWhatCame", In: delta, Needs: Together,
		Shows: "If the route or extension comes within the 20 s it is sent, and nothing else is said.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range []fleet.Type{fleet.Route, fleet.Extension} {
				c.Subscribe(t, "a")
				b.nothing(c, 10*time.Second, "Envoy still waits")
				b.Publish(put(t, "a", "1"))
				c.Ack(c.Want(text(t, "a@1")))
				c.QuietFor(time.Minute)
			}
		},
	},
	{
		Rule: 5, Name: "OthersAreToldAtOnce", In: delta, Needs: Together,
		Shows: "Other clients are told at once that a route or extension does not exist.",
		Run: func(b *Bed) {
			c := b.GRPC()
			for _, t := range []fleet.Type{fleet.Route, fleet.Extension} {
				c.Subscribe(t, "a")
				r, ok := c.NextOrQuiet()
				if !ok {
					b.Fatalf("%s: no answer", t)
				}
				if got := r.String(); got != text(t, "-a") {
					b.Errorf("got %s", got)
				}
				c.Ack(r)
			}
			c.QuietFor(time.Minute)
		},
	},
	{
		Rule: 7, Name: "NewlyNamedIsSent", In: sotw, Needs: Together,
		Shows: "A newly named resource is sent though its version is an old one.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range byName {
				b.Publish(put(t, "a", "1"), put(t, "b", "1"))
				c.Subscribe(t, "a")
				c.Ack(c.Want(text(t, "a@1")))
				c.Subscribe(t, "b")
				r := c.Next()
				if r.Type != t || !sent([]*xdstest.Response{r}, "b@1") {
					b.Fatalf("got %s, want b", r)
				}
				c.Ack(r)
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 7, Name: "AskedForAgain", In: sotw,
		Shows: "What was given up and is asked for again is sent again.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"), put(fleet.Secret, "b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a", "b")
			c.Ack(c.Want("secrets a@1 b@1"))
			c.Unsubscribe(fleet.Secret, "b")
			c.Settle()
			c.Subscribe(fleet.Secret, "b")
			if rs := c.Settle(); !sent(rs, "b@1") {
				b.Errorf("got %s, want b again", rs)
			}
		},
	},
	{
		Rule: 7, Name: "AnAckSubscribes", In: sotw,
		Shows: "Subscriptions follow from every request that is not stale, ACKs included.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"), put(fleet.Listener, "b", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Listener, "a")
			c.AckAs(c.Want("listeners a@1"), "a", "b")
			c.Ack(c.Want("listeners a@1 b@1"))
			b.Publish(put(fleet.Listener, "b", "2"))
			c.AckAs(c.Want("listeners a@1 b@2"), "a")
			c.Settle()
			b.Publish(put(fleet.Listener, "b", "3"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 9, Name: "NoNameTwice", Needs: Together,
		Shows: "A name that is asked for twice, as a name and by `*`, or by name and alias, stands once in a response.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
			c := b.GRPC()
			c.Send(xdstest.Request{Type: fleet.Cluster, Names: []string{"*", "a", "a"}})
			c.Ack(c.Want("clusters a@1 b@1"))
			c.Settle()
			if !b.Variant.Delta {
				return
			}
			b.Publish(xdstest.Put(fleet.VirtualHost, "r/shop", "1", xdstest.Domains("shop.example")))
			c.Subscribe(fleet.VirtualHost, "r/shop", "r/shop.example")
			if rs := c.Settle(); len(rs) == 0 {
				b.Error("the virtual host was not sent")
			}
		},
	},
	{
		Rule: 9, Name: "NoNameTwiceOfWhatIsGone", In: delta,
		Shows: "A virtual host that vanished while it was asked for again stands once in a response: as gone, or as one that is not there.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.VirtualHost, "r/a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.VirtualHost, "r/a")
			open := c.Want("virtual-hosts r/a@1")
			b.Publish(xdstest.Delete(fleet.VirtualHost, "r/a"))
			c.Subscribe(fleet.VirtualHost, "r/a")
			wait()
			c.Ack(open)
			if rs := c.Settle(); len(rs) == 0 {
				b.Error("nothing was said of it")
			}
		},
	},
	{
		Rule: 9, Name: "NamesAreThoseWithin", In: delta, Needs: Together,
		Shows: "`Resource.name` is the name within the body.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, t := range fleet.Types() {
				b.Publish(put(t, "r/a", "1"))
				c.Subscribe(t, "r/a")
				r := c.Want(text(t, "r/a@1"))
				if x := r.Item("r/a"); x == nil || x.Inner != "r/a" {
					b.Errorf("%s: %+v", t, x)
				}
				c.Ack(r)
			}
		},
	},
}
