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
		Shows: "The names that a stream may subscribe to beside those that there are are bounded, and so is their length: what is over does not exist, is forgotten, and costs the stream nothing else.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "1", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, append(many(30), strings.Repeat("x", 513))...)
			if rs := c.Settle(); !sent(rs, "1@1") {
				b.Errorf("got %s", joined(rs))
			}
			b.Publish(put(fleet.Secret, "2", "1"), put(fleet.Secret, "29", "1"))
			// In state of the world each ACK names all of them again.
			if rs := c.Settle(); !sent(rs, "2@1") || sent(rs, "29@1") == c.Protocol().Delta {
				b.Errorf("got %s, want that which was within the limit", joined(rs))
			}
			c.Subscribe(fleet.Secret, "30")
			c.Settle()
			b.Publish(put(fleet.Secret, "1", "2"))
			c.Ack(c.Want("secrets 1@2"))
		},
	},
	{
		Rule: 24, Name: "MoreClustersThanNames", In: ads, Needs: Limits, Config: tenNames,
		Shows: "What the fleet's clusters need does not count, whether or not it is there.",
		Run: func(b *Bed) {
			var changes []xdstest.Change
			for _, name := range many(30) {
				changes = append(changes, xdstest.Put(fleet.Cluster, name, "1", xdstest.EDS))
			}
			b.Publish(append(changes, put(fleet.Endpoint, "1", "1"))...)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Subscribe(fleet.Endpoint, many(30)...)
			c.Settle()
			b.Publish(put(fleet.Endpoint, "29", "1"))
			c.Ack(c.Want("endpoints 29@1"))
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
		Shows: "Delta: of what a client reports to hold no more is believed than there can be, and what it gives up may be anything; neither costs the stream.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "1", "1"))
			versions := map[string]string{strings.Repeat("x", 513): "1"}
			for _, n := range many(100) {
				versions[n] = "1"
			}
			for _, r := range []xdstest.Request{{Type: fleet.Cluster, Versions: versions}, {Type: fleet.Cluster, Unsubscribe: append(many(100), strings.Repeat("x", 513))}} {
				c := b.Envoy()
				c.Send(r)
				c.Settle()
				c.Subscribe(fleet.Cluster, "new")
				c.Settle()
				b.Publish(put(fleet.Cluster, "new", "2"))
				if rs := c.Settle(); !sent(rs, "new@2") {
					b.Errorf("got %s", joined(rs))
				}
				b.Publish(xdstest.Delete(fleet.Cluster, "new"))
				c.Settle()
			}
		},
	},
	{
		Rule: 24, Name: "RequestSize", Needs: Limits,
		Config: func(c *xds.Config) { c.Limits.Message = 16 << 20 },
		Shows:  "A request is refused that has more bytes than it may, here 17 MB with 16 MiB.",
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
		Rule: 24, Name: "LookUpsAndAnswers", In: delta, Needs: Limits,
		Shows: "Delta: names that there are not, as a proxy asks for on demand, are looked up in turn, and neither a change nor its ACK waits for that.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			c.Ack(c.Want("secrets a@1"))
			for _, name := range many(1500) {
				c.Send(xdstest.Request{Type: fleet.Secret, Names: []string{name}})
			}
			begun, waited := time.Now(), 0
			for v := 2; v < 5; v++ {
				b.Publish(put(fleet.Secret, "a", strconv.Itoa(v)))
				for {
					r := c.Next()
					waited += len(r.Removed)
					c.Ack(r)
					if r.Item("a") != nil {
						break
					}
				}
			}
			if d := time.Since(begun); d > moment || waited == 1500 {
				b.Errorf("three changes took %s, and %d look-ups", d, waited)
			}
			c.Settle()
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
