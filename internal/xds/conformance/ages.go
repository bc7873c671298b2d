package conformance

import (
	"errors"
	"io"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

const (
	age   = 10 * time.Minute
	grace = time.Minute
)

var ages = []Check{
	{
		Rule: 25, Name: "StreamsAge", Needs: Aging,
		Config: func(c *xds.Config) { c.MaxAge, c.AgeGrace = age, grace },
		Shows:  "Streams end with OK after the age of their connection and a tenth, spread over the grace: Envoy moves at once and logs nothing.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			var ends []time.Duration
			for range 8 {
				c := xdstest.Open(b, b.Dial(), b.Variant, xdstest.Envoy(Node))
				begun := time.Now()
				c.Subscribe(fleet.Listener)
				c.Ack(c.Want("listeners a@1"))
				time.Sleep(time.Until(begun.Add(age + age/10 - time.Second)))
				c.Quiet()
				_, err := c.EndedWithin(grace + 2*time.Second)
				if !errors.Is(err, io.EOF) {
					b.Errorf("ended with %v, want OK", err)
				}
				ends = append(ends, time.Since(begun))
			}
			if apart(ends) < time.Second {
				b.Errorf("all ended together: %v", ends)
			}
		},
	},
	{
		Rule: 25, Name: "AnyAgeWithoutALimit", Needs: Aging,
		Shows: "Without a limit a stream may be days old, and quiet.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			c.QuietFor(48 * time.Hour)
			b.Publish(put(fleet.Listener, "a", "2"))
			c.Ack(c.Want("listeners a@2"))
		},
	},
	{
		Rule: 25, Name: "QuietClientsMayPing", Needs: Limits,
		Shows: "A client that pings each 10 s on a quiet stream, or without any stream, is not cut off: gRPC's default does after 130 s.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			conn := b.Dial(grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}))
			c := xdstest.Open(b, conn, b.Variant, xdstest.Envoy(Node))
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			c.QuietFor(10 * time.Minute)
			b.Publish(put(fleet.Listener, "a", "2"))
			c.Ack(c.Want("listeners a@2"))
		},
	},
	{
		Rule: 25, Name: "LargeRequests", Needs: Limits,
		Shows: "A request of nearly 4 MiB is taken: 10,000 long names, and a node full of what Envoy says of its extensions.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			n := xdstest.Envoy(Node)
			n.Extensions = []*corev3.Extension{{Name: strings.Repeat("x", 1800<<10)}} //nolint:staticcheck // deprecated, and sent by every Envoy
			c := b.Open(n)
			names := []string{"a"}
			for i := range 9_999 {
				names = append(names, label(strings.Repeat("x", 200), i))
			}
			c.Send(xdstest.Request{Type: fleet.Secret, Names: names})
			if r := c.Next(); r.Item("a") == nil {
				b.Errorf("got %d resources", len(r.Resources))
			}
		},
	},
	{
		Rule: 25, Name: "LargeDeltasAreSplit", In: delta,
		Shows: "Delta: responses are split below 3 MiB: every client but Envoy's own gRPC stops at 4 MiB.",
		Run: func(b *Bed) {
			var changes []xdstest.Change
			for i := range 10 {
				changes = append(changes, xdstest.Put(fleet.Listener, label("l", i), "1", xdstest.Padding(600<<10)))
			}
			b.Publish(changes...)
			c := b.GRPC()
			c.Subscribe(fleet.Listener)
			n := 0
			for _, r := range c.Settle() {
				n += len(r.Resources)
				if r.Size > 3<<20 {
					b.Errorf("a response of %d bytes", r.Size)
				}
			}
			if n != len(changes) {
				b.Errorf("%d resources, want %d", n, len(changes))
			}
		},
	},
	{
		Rule: 25, Name: "LargeSetsAreKeptBack", In: sotw,
		Shows: "SotW: a set above 4 MiB cannot be split, and a client of gRPC's libraries would end its stream over it, for ever: it gets what fits, and the rest when there is room; Envoy gets all.",
		Run: func(b *Bed) {
			var changes []xdstest.Change
			for i := range 9 {
				changes = append(changes, xdstest.Put(fleet.Listener, label("l", i), "1", xdstest.Padding(600<<10)))
			}
			b.Publish(changes...)
			c := b.GRPC()
			c.Send(xdstest.Request{Type: fleet.Listener})
			r := c.Next()
			if n := len(r.Resources); r.Size > 4<<20 || n == 0 || n == len(changes) {
				b.Errorf("it got %d resources in %d bytes", n, r.Size)
			}
			c.Ack(r)
			c.Quiet()
			var small []xdstest.Change
			for i := range 9 {
				small = append(small, put(fleet.Listener, label("l", i), "2"))
			}
			b.Publish(small...)
			if r = c.Next(); len(r.Resources) != len(small) {
				b.Errorf("with room for all it got %d resources", len(r.Resources))
			}
			c.Ack(r)
			b.Publish(changes...)
			// envoy_grpc, which has no limit, does not name itself as a library of gRPC.
			c = xdstest.Open(b, b.Dial(grpc.WithUserAgent("envoy")), b.Variant, xdstest.Envoy(Node))
			c.Subscribe(fleet.Listener)
			if r := c.Next(); len(r.Resources) != len(changes) {
				b.Errorf("Envoy got %d resources", len(r.Resources))
			}
		},
	},
}

func apart(ds []time.Duration) time.Duration {
	lo, hi := ds[0], ds[0]
	for _, d := range ds {
		lo, hi = min(lo, d), max(hi, d)
	}
	return hi - lo
}
