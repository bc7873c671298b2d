package conformance

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var types = []Check{
	{
		Rule: 0, Name: "EveryTypeIsServed", Needs: Together,
		Shows: "A resource of each type is sent to who names it, over its own service and over ADS.",
		Run: func(b *Bed) {
			for _, t := range fleet.Types() {
				b.Publish(put(t, "r/a", "1"))
			}
			c := b.Envoy()
			for _, t := range fleet.Types() {
				if b.Variant.Serves(t) {
					c.Subscribe(t, "r/a")
					c.Ack(c.Want(text(t, "r/a@1")))
				}
			}
			c.QuietFor(moment)
		},
	},
	{
		Rule: 0, Name: "AServiceServesItsTypeAlone", In: single,
		Shows: "A stream of one service refuses requests of another type; without a type URL its own is meant.",
		Run: func(b *Bed) {
			b.Publish(cluster("a")...)
			c := b.Envoy()
			c.Send(xdstest.Request{Type: fleet.Cluster, TypeURL: "none"})
			c.Ack(c.Want("clusters a@1"))
			c.Send(xdstest.Request{Type: fleet.Cluster, TypeURL: fleet.Endpoint.URL(), Names: []string{"a"}})
			b.ends(c, codes.InvalidArgument, "")
		},
	},
	{
		Rule: 0, Name: "UnservedTypesCostThemselves", In: ads,
		Shows: "A type URL that is not of the closed set gets no answer, and all else goes on: content can make an Envoy ask for one.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Send(xdstest.Request{TypeURL: "type.googleapis.com/example.Unknown", Names: []string{"x"}})
			c.Subscribe(fleet.Secret, "a")
			c.Ack(c.Want("secrets a@1"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 0, Name: "FewTypesAreUnserved", In: ads, Needs: Limits,
		Shows: "A stream that asks for more than 16 such types ends with ResourceExhausted, one that asks for none, \"\", with InvalidArgument.",
		Run: func(b *Bed) {
			c := b.Envoy()
			for _, n := range many(17) {
				c.Send(xdstest.Request{TypeURL: "type.googleapis.com/example.Unknown" + n})
			}
			b.ends(c, codes.ResourceExhausted, "16")
			c = b.Envoy()
			c.Send(xdstest.Request{TypeURL: "none"})
			b.ends(c, codes.InvalidArgument, "")
		},
	},
	{
		Rule: 0, Name: "V2IsRefusedByName",
		Shows: "A type URL or a service of v2 is refused with a text that names v3.",
		Run: func(b *Bed) {
			c := b.Envoy()
			c.Send(xdstest.Request{TypeURL: "type.googleapis.com/envoy.api.v2.Cluster"})
			b.ends(c, codes.InvalidArgument, "v3")
			for _, method := range []string{
				"/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources",
				"/envoy.api.v2.ClusterDiscoveryService/StreamClusters",
				"/envoy.service.discovery.v2.RuntimeDiscoveryService/StreamRuntime",
			} {
				if err := xdstest.Call(b, b.Conn(), method); !strings.Contains(strings.ToLower(err.Error()), "v3") {
					b.Errorf("%s ended with %q, which does not name v3", method, err)
				}
			}
		},
	},
	{
		Rule: 0, Name: "AStreamPerName", In: single,
		Shows: "A node may have a stream for each of its endpoints, as Envoy does; each gets its own.",
		Run: func(b *Bed) {
			b.Publish(both(cluster("a"), cluster("b"))...)
			one, two := b.Envoy(), b.Envoy()
			one.Subscribe(fleet.Endpoint, "a")
			one.Ack(one.Want("endpoints a@1"))
			two.Subscribe(fleet.Endpoint, "b")
			two.Ack(two.Want("endpoints b@1"))
			b.Publish(put(fleet.Endpoint, "b", "2"))
			two.Ack(two.Want("endpoints b@2"))
			for _, r := range one.Settle() {
				if r.Item("b") != nil {
					b.Errorf("the other stream got %s", r)
				}
			}
		},
	},
}

// ends fails unless a stream of the client ends with the code and a text that has says
// in it, in any case.
func (b *Bed) ends(c *xdstest.Client, code codes.Code, says string) {
	b.Helper()
	b.is(c.End(), code, says)
}

// is fails unless a stream ended so.
func (b *Bed) is(err error, code codes.Code, says string) {
	b.Helper()
	if got := status.Code(err); got != code {
		b.Errorf("the stream ended with %v, want %s", err, code)
	}
	if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(says)) {
		b.Errorf("the stream ended with %q, want a text with %q", err, says)
	}
}
