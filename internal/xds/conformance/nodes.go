package conformance

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var nodes = []Check{
	{
		Rule: 18, Name: "TheFirstRequestCarriesIt",
		Shows: "A first request without a node, or with one that has no id, is refused.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			for _, n := range []*corev3.Node{nil, {}, {Cluster: "edge"}} {
				c := b.Open(n)
				c.Send(xdstest.Request{Type: fleet.Listener})
				b.ends(c, codes.InvalidArgument, "node")
			}
		},
	},
	{
		Rule: 18, Name: "OthersNeedNot",
		Shows: "Later requests need not carry it, and may carry the same one: Envoy repeats 61 kB by default.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			n := xdstest.Envoy(Node)
			for i := range 516 {
				n.Extensions = append(n.Extensions, &corev3.Extension{ //nolint:staticcheck // deprecated, and sent by every Envoy
					Name: fmt.Sprintf("envoy.filters.http.example_%d", i), Category: "envoy.filters.http", TypeUrls: []string{"envoy.extensions.filters.http.example.v3.Example"},
				})
			}
			c := b.Open(n)
			c.Subscribe(fleet.Secret, "a")
			r := c.Want("secrets a@1")
			c.Send(xdstest.Request{Type: fleet.Secret, Names: b.listed("a"), Version: r.Version, Nonce: r.Nonce, Node: n})
			c.Quiet()
			b.Publish(put(fleet.Secret, "a", "2"))
			c.Ack(c.Want("secrets a@2"))
		},
	},
	{
		Rule: 18, Name: "ItIsPinned",
		Shows: "A later node that is another one ends the stream.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a")
			r := c.Want("secrets a@1")
			c.Send(xdstest.Request{Type: fleet.Secret, Names: b.listed("a"), Version: r.Version, Nonce: r.Nonce, Node: xdstest.Envoy(OtherNode)})
			b.ends(c, codes.PermissionDenied, "node")
		},
	},
	{
		Rule: 18, Name: "TheCredentialDecides", Needs: Tokens,
		Shows: "A node id that the credential does not admit is refused, and so is a client without a credential or with an unknown one.",
		Run: func(b *Bed) {
			for token, code := range map[xdstest.Token]codes.Code{
				"": codes.Unauthenticated, "bad": codes.Unauthenticated, "edge-*": codes.PermissionDenied, "n": codes.PermissionDenied,
			} {
				c := xdstest.Open(b, b.Conn(), b.Variant, xdstest.Envoy(Node), token)
				c.Send(xdstest.Request{Type: fleet.Listener})
				b.ends(c, code, "")
			}
			c := xdstest.Open(b, b.Conn(), b.Variant, xdstest.Envoy("edge-7"), "edge-*")
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners"))
		},
	},
}

// listed are the names that an ACK repeats.
func (b *Bed) listed(names ...string) []string {
	if b.Variant.Delta {
		return nil
	}
	return names
}
