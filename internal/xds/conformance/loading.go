package conformance

import (
	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
)

var loading = []Check{
	{
		Rule: 26, Name: "RefusedUntilLoaded", Needs: Loading,
		Shows: "A stream of a fleet that is not loaded is refused with Unavailable, before any response: the client keeps what it has and tries again.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			w := b.World()
			w.Away(fleet.ErrUnavailable)
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			r, err := c.Ended()
			if r != nil {
				b.Fatalf("got %s", r)
			}
			b.is(err, codes.Unavailable, "")
			w.Away(nil)
			c = b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
		},
	},
	{
		Rule: 26, Name: "NoEmptySet", Needs: Nobody,
		Shows: "Before there is any content no empty set is sent: a client that has some would drop it.",
		Run: func(b *Bed) {
			if w, ok := b.Server.(ours); ok {
				w.Away(fleet.ErrUnavailable)
			}
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			if r, _ := c.EndedWithin(moment); r != nil {
				b.Errorf("got %s", r)
			}
		},
	},
	{
		Rule: 26, Name: "ADeletedFleetSaysNothing", Needs: Loading,
		Shows: "When a fleet is deleted, or a credential revoked, the stream ends with PermissionDenied and no empty set is sent.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			c.Quiet()
			b.World().End(fleet.ErrForbidden)
			r, err := c.Ended()
			if r != nil {
				b.Errorf("got %s", r)
			}
			b.is(err, codes.PermissionDenied, "")
		},
	},
}
