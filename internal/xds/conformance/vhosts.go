package conformance

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// deltaADS: virtual hosts are incremental alone, and what belongs to a route can only be
// known on the stream that has the route.
var deltaADS = []xdstest.Protocol{xdstest.DeltaADS}

var virtualHosts = []Check{
	{
		Rule: 8, Name: "TheFirstEntryUnasked", In: deltaADS, Needs: Together,
		Shows: "For each route that fetches virtual hosts one is sent unasked, or one removed name `<route>/...`: Envoy's request names no route, and comes once.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Route, "r", "1", xdstest.VHDS), xdstest.Put(fleet.Route, "s", "1", xdstest.VHDS), route("plain", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Route, "r", "plain")
			c.Ack(c.Want("routes plain@1 r@1"))
			c.Subscribe(fleet.VirtualHost)
			rs := c.Settle()
			if !entry(rs, "r/") || entry(rs, "plain/") {
				b.Errorf("for the first route: %s", rs)
			}
			c.Subscribe(fleet.Route, "s")
			if rs = c.Settle(); !entry(rs, "s/") || entry(rs, "r/") {
				b.Errorf("for the second route: %s", rs)
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 8, Name: "TheFirstEntryIsWhatThereIs", In: deltaADS, Needs: Together,
		Shows: "A route's virtual hosts that exist are that first entry, and come when the route is sent, not before.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Route, "r", "1", xdstest.VHDS), put(fleet.VirtualHost, "r/a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			c.Subscribe(fleet.VirtualHost)
			c.Ack(c.Want("virtual-hosts r/a@1"))
			b.Publish(xdstest.Put(fleet.Route, "s", "1", xdstest.VHDS), put(fleet.VirtualHost, "s/a", "1"))
			c.Settle()
			c.Subscribe(fleet.Route, "s")
			c.Settle()
			c.Holds(fleet.VirtualHost, "r/a@1 s/a@1")
			c.QuietFor(moment)
		},
	},
	{
		Rule: 8, Name: "FoundByAlias", In: delta,
		Shows: "`<route>/<host>` is resolved through the domains of the route's virtual hosts, wildcards too, and the answer carries what was asked for as an alias.",
		Run: func(b *Bed) {
			b.Publish(
				xdstest.Put(fleet.VirtualHost, "r/shop", "1", xdstest.Domains("shop.example", "*.wild.example")),
				xdstest.Put(fleet.VirtualHost, "s/shop", "1", xdstest.Domains("shop.example")),
			)
			c := b.Envoy()
			for _, alias := range []string{"r/shop.example", "r/a.wild.example"} {
				c.Subscribe(fleet.VirtualHost, alias)
				r := c.Next()
				if x := r.Item("r/shop"); len(r.Resources) != 1 || x == nil || !slices.Contains(x.Aliases, alias) {
					b.Fatalf("asked for %s: got %s", alias, r)
				}
				c.Ack(r)
			}
			b.Publish(xdstest.Put(fleet.VirtualHost, "r/shop", "2", xdstest.Domains("shop.example")))
			if rs := c.Settle(); len(rs) != 1 || rs[0].Item("r/shop") == nil {
				b.Errorf("after a change: %s", rs)
			}
		},
	},
	{
		Rule: 8, Name: "NothingIsThere", In: delta,
		Shows: "A host that resolves to nothing is answered by a resource of that name, with the name as its alias and without a body; anything else hangs the client's request.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.VirtualHost, "r/shop", "1", xdstest.Domains("shop.example")))
			c := b.Envoy()
			c.Subscribe(fleet.VirtualHost, "r/none.example")
			c.Ack(c.Want("virtual-hosts !r/none.example"))
			c.QuietFor(moment)
			b.Publish(xdstest.Put(fleet.VirtualHost, "r/none", "1", xdstest.Domains("none.example")))
			r := c.Next()
			if x := r.Item("r/none"); x == nil || x.Bare {
				b.Errorf("when it came into being: %s", r)
			}
		},
	},
}

// entry looks for a name with the prefix, sent or removed.
func entry(rs []*xdstest.Response, prefix string) bool {
	for _, r := range rs {
		for _, x := range r.Resources {
			if strings.HasPrefix(x.Name, prefix) {
				return true
			}
		}
		for _, n := range r.Removed {
			if strings.HasPrefix(n, prefix) {
				return true
			}
		}
	}
	return false
}
