package conformance

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

func tenNames(c *xds.Config) { c.Limits.Names = 10 }

var limits = []Check{
	{
		Rule: 24, Name: "Names", Needs: Limits, Config: tenNames,
		Shows: "The names that a stream may subscribe to are bounded, and so is their length: ResourceExhausted, with the limit, before the first response.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "1", "1"))
			for _, names := range [][]string{many(11), {strings.Repeat("x", 513)}} {
				c := b.Envoy()
				c.Send(xdstest.Request{Type: fleet.Secret, Names: names})
				if r, err := c.Ended(); r != nil || status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "limit") {
					b.Errorf("got %v, %v", r, err)
				}
			}
			c := b.Envoy()
			c.Subscribe(fleet.Secret, many(10)...)
			c.Settle()
			c.Subscribe(fleet.Secret, "one more")
			b.ends(c, codes.ResourceExhausted, "10 names is the limit")
		},
	},
	{
		Rule: 24, Name: "AnEmptyName",
		Shows: "An empty name does no harm: whatever else is asked for is sent.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Listener, "", "a")
			if rs := c.Settle(); !sent(rs, "a@1") {
				b.Errorf("got %s", joined(rs))
			}
			c.Unsubscribe(fleet.Listener, "")
			c.Settle()
			b.Publish(put(fleet.Listener, "a", "2"))
			c.Ack(c.Want("listeners a@2"))
		},
	},
	{
		Rule: 24, Name: "AnEmptyNameOfEndpoints", In: ads, Needs: Together,
		Shows: "Nor does one of endpoints, which is not that of clusters that have none.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			c := b.GRPC()
			c.Subscribe(fleet.Cluster)
			clusters := c.Want("clusters a@1")
			c.Subscribe(fleet.Endpoint, "")
			for {
				r, more := c.NextOrQuiet()
				if !more {
					break
				}
				if len(r.Resources) > 0 {
					b.Errorf("got %s", r)
				}
				c.Nack(r, "what is that")
			}
			c.Ack(clusters)
			c.QuietFor(moment)
		},
	},
	{
		Rule: 24, Name: "ReportedVersions", In: delta, Needs: Limits, Config: tenNames,
		Shows: "Delta: what a client may report to hold, or give up, in one request is bounded.",
		Run: func(b *Bed) {
			versions := map[string]string{}
			for _, n := range many(11) {
				versions[n] = "1"
			}
			for _, r := range []xdstest.Request{{Type: fleet.Cluster, Versions: versions}, {Type: fleet.Cluster, Unsubscribe: many(11)}} {
				c := b.Envoy()
				c.Send(r)
				b.ends(c, codes.ResourceExhausted, "10 is the limit")
			}
		},
	},
	{
		Rule: 24, Name: "RequestSize", Needs: Limits,
		Shows: "A request of 17 MB is refused.",
		Run: func(b *Bed) {
			c := b.Envoy()
			c.Send(xdstest.Request{Type: fleet.Secret, Names: []string{strings.Repeat("x", 17<<20)}})
			b.ends(c, codes.ResourceExhausted, "")
		},
	},
	{
		Rule: 24, Name: "RequestRate", Needs: Limits,
		Shows: "A client that sends hundreds of requests at once is slowed down or refused, and nobody else is.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			flood, other := b.Envoy(), b.Open(xdstest.Envoy(OtherNode))
			flood.Subscribe(fleet.Secret, "a")
			r := flood.Want("secrets a@1")
			flood.Ack(r)
			for range 400 {
				flood.Ack(r)
			}
			b.Publish(put(fleet.Secret, "b", "1"))
			flood.Subscribe(fleet.Secret, "b")
			other.Subscribe(fleet.Secret, "a", "b")
			begun := time.Now()
			other.Ack(other.Want("secrets a@1 b@1"))
			if d := time.Since(begun); d > 0 {
				b.Errorf("another client waited %s", d)
			}
			r, err := flood.Ended()
			if d := time.Since(begun); d < 2*time.Second && status.Code(err) != codes.ResourceExhausted {
				b.Errorf("after 400 requests another was answered within %s: %v, %v", d, r, err)
			}
		},
	},
	{
		Rule: 24, Name: "AClientThatDoesNotRead", In: ads, Needs: Limits,
		Shows: "A client that reads nothing is ended after a minute, and delays no one.",
		Run: func(b *Bed) {
			deaf, other := b.narrow(), b.Open(xdstest.Envoy(OtherNode))
			for _, c := range []*xdstest.Client{deaf, other} {
				c.Subscribe(fleet.Listener)
				c.Ack(c.Want("listeners"))
				c.Subscribe(fleet.Secret, "s")
				c.Settle()
			}
			b.deafen(deaf)
			other.Settle()
			for i := range 70 {
				b.Publish(put(fleet.Secret, "s", strconv.Itoa(i)))
				begun := time.Now()
				other.Ack(other.Want("secrets s@" + strconv.Itoa(i)))
				if d := time.Since(begun); d > 0 {
					b.Fatalf("another client waited %s", d)
				}
				time.Sleep(moment)
			}
			if n := b.World().Streams(); n != 1 {
				b.Errorf("%d streams, want that of the other client alone", n)
			}
		},
	},
}

func many(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
