package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var order = []Check{
	{
		Rule: 19, Name: "ASwap", In: ads, Needs: Together,
		Shows: "A route that moves to a new cluster waits for that cluster's ACK, and the old cluster leaves after the route's ACK.",
		Run: func(b *Bed) {
			c := b.settled()
			b.Publish(append(cluster("b"), route("r", "2", "b"), xdstest.Delete(fleet.Cluster, "a"))...)
			clusters := c.Want(b.Says("clusters b@1", "clusters a@1 b@1"))
			c.Quiet() // the route waits: b is not warm yet
			c.Subscribe(fleet.Endpoint, "b")
			c.Ack(c.Want("endpoints b@1"))
			c.Quiet()
			c.Ack(clusters)
			r := c.Want("routes r@2")
			c.QuietFor(moment) // a stays until the route that left it is ACKed
			c.Ack(r)
			c.Ack(c.Want(b.Says("clusters -a", "clusters b@1")))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 19, Name: "TheUnionHasItsOwnVersion", In: []xdstest.Protocol{xdstest.SotWADS}, Needs: Together,
		Shows: "SotW: the union of old and new clusters goes out under a version of its own, then the final set under the one that every client in step has.",
		Run: func(b *Bed) {
			c := b.settled()
			before := c.Version(fleet.Cluster)
			b.Publish(append(cluster("b"), route("r", "2", "b"), xdstest.Delete(fleet.Cluster, "a"))...)
			union := c.Want("clusters a@1 b@1")
			c.Ack(union)
			c.Ack(c.Want("routes r@2"))
			final := c.Want("clusters b@1")
			c.Ack(final)
			c.Settle()
			fresh := b.Envoy()
			fresh.Subscribe(fleet.Cluster)
			fresh.Ack(fresh.Want("clusters b@1"))
			if v := fresh.Version(fleet.Cluster); v != final.Version || v == union.Version || union.Version == before {
				b.Errorf("versions %q, %q, %q; of a new stream %q", before, union.Version, final.Version, v)
			}
		},
	},
	{
		Rule: 19, Name: "ListenersBeforeRoutes", In: ads, Needs: Together,
		Shows: "What changes at once is sent in order: clusters, listeners, routes and scopes, runtimes and extensions.",
		Run: func(b *Bed) {
			types := []fleet.Type{fleet.Cluster, fleet.Listener, fleet.Route, fleet.ScopedRoute, fleet.Runtime, fleet.Extension}
			all := func(version string) (changes []xdstest.Change) {
				for _, t := range types {
					changes = append(changes, put(t, "a", version))
				}
				return changes
			}
			b.Publish(all("1")...)
			c := b.Envoy()
			for _, t := range types {
				c.Subscribe(t, b.wild(t)...)
				c.Ack(c.Want(text(t, "a@1")))
			}
			b.Publish(all("2")...)
			for _, t := range types {
				c.Ack(c.Want(text(t, "a@2")))
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 19, Name: "ARefusedRouteKeepsItsCluster", In: ads, Needs: Together,
		Shows: "If the route that left a cluster is refused, the cluster that it goes back to stays.",
		Run: func(b *Bed) {
			c := b.settled()
			b.Publish(append(cluster("b"), route("r", "2", "b"), xdstest.Delete(fleet.Cluster, "a"))...)
			c.Ack(c.Want(b.Says("clusters b@1", "clusters a@1 b@1")))
			c.Nack(c.Want("routes r@2"), "Only a single wildcard domain is permitted in route r")
			c.Ack(c.Want("routes r@1"))
			c.QuietFor(time.Minute)
		},
	},
	{
		Rule: 19, Name: "AChangedClusterHoldsNothingUp", In: ads, Needs: Together,
		Shows: "A cluster that only changes holds up nothing that names it: the old one serves.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"), route("r", "1", "a"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			b.Publish(put(fleet.Cluster, "a", "2"), route("r", "2", "a"))
			clusters := c.Want("clusters a@2")
			c.Ack(c.Want("routes r@2"))
			c.Ack(clusters)
			c.QuietFor(moment)
		},
	},
	{
		Rule: 19, Name: "AForeignClusterHoldsNothingUp", In: ads, Needs: Together,
		Shows: "Nor does a cluster that the client does not ask for, or that does not exist: a gRPC client asks for clusters after routes.",
		Run: func(b *Bed) {
			b.Publish(append(cluster("a"), route("r", "1", "a", "nowhere"))...)
			c := b.GRPC()
			c.Subscribe(fleet.Route, "r")
			c.Ack(c.Want("routes r@1"))
			c.Subscribe(fleet.Cluster, "a")
			c.Ack(c.Want("clusters a@1"))
			c.Subscribe(fleet.Endpoint, "a")
			c.Ack(c.Want("endpoints a@1"))
			b.Publish(append(cluster("b"), route("r", "2", "b"))...)
			c.Ack(c.Want("routes r@2"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 19, Name: "UnderEndlessChanges", In: ads, Needs: Together,
		Shows: "While clusters change without end a route that names a new one still arrives within two ACKs of clusters.",
		Run: func(b *Bed) {
			c := b.settled()
			n := 0
			more := func() {
				n++
				b.Publish(put(fleet.Cluster, "x"+strconv.Itoa(n), "1"))
			}
			more()
			clusters := c.Next()
			b.Publish(append(cluster("b"), route("r", "2", "b"))...)
			for range 2 {
				more()
				c.Ack(clusters)
				r, ok := c.NextOrQuiet()
				for ok {
					if r.Type == fleet.Route {
						return
					}
					clusters = r
					r, ok = c.NextOrQuiet()
				}
			}
			b.Error("the route did not arrive")
		},
	},
	{
		Rule: 19, Name: "NoPrefixLeavesAGap", In: ads, Needs: Together,
		Shows: "Over random changes, ACKs, refusals and delays no prefix of what was sent leaves a route naming a cluster that the client does not have, and the end is the newest.",
		Run: func(b *Bed) {
			for seed := range uint64(20) {
				walk(b, seed)
			}
		},
	},
}

// wild is the wildcard, where the type has one.
func (b *Bed) wild(t fleet.Type) []string {
	if t.LegacyWildcard(b.Variant.Delta) {
		return nil
	}
	return []string{"a"}
}

func label(prefix string, i int) string { return fmt.Sprintf("%s%d", prefix, i) }

func joined(rs []*xdstest.Response) string {
	var s []string
	for _, r := range rs {
		s = append(s, r.String())
	}
	return strings.Join(s, "; ")
}
