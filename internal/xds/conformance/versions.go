package conformance

import (
	"maps"
	"strconv"

	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var versions = []Check{
	{
		Rule: 12, Name: "TheSameOnEveryReplica",
		Shows: "Two servers that came to the same content by different steps send the same versions; so does one that was started again.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "a", "1"), put(fleet.Listener, "b", "1"))
			other := b.Replica()
			other.Publish(put(fleet.Listener, "b", "0"))
			other.Publish(put(fleet.Listener, "a", "1"), put(fleet.Listener, "c", "1"))
			other.Publish(put(fleet.Listener, "b", "1"), xdstest.Delete(fleet.Listener, "c"))

			version, each := b.listeners(b.Conn())
			version2, each2 := b.listeners(other.Conn())
			if !b.Variant.Delta && version != version2 {
				b.Errorf("version_info %q and %q", version, version2)
			}
			if !maps.Equal(each, each2) {
				b.Errorf("versions %q and %q", each, each2)
			}
		},
	},
	{
		Rule: 12, Name: "TheSameAfterARollback",
		Shows: "Content that comes back has its old version, and another one in between.",
		Run: func(b *Bed) {
			var versions []string
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			for _, v := range []string{"1", "2", "1"} {
				b.Publish(put(fleet.Listener, "a", v))
				c.Settle()
				c.Holds(fleet.Listener, "a@"+v)
				versions = append(versions, b.Says(c.Held(fleet.Listener)["a"], c.Version(fleet.Listener)))
			}
			if versions[0] != versions[2] || versions[0] == versions[1] {
				b.Errorf("versions %q, want the first and the last alike", versions)
			}
		},
	},
	{
		Rule: 12, Name: "TheSameMovingOn", In: sotw,
		Shows: "`version_info` covers what the client has of its subscription, not only what the last response carried.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "a", "1"), put(fleet.Secret, "b", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "a", "b")
			c.Ack(c.Want("secrets a@1 b@1"))
			b.Publish(put(fleet.Secret, "a", "2"))
			c.Settle()
			first := c.Version(fleet.Secret)

			c = b.Open(xdstest.Envoy(Node))
			c.Subscribe(fleet.Secret, "a", "b")
			c.Ack(c.Want("secrets a@2 b@1"))
			if v := c.Version(fleet.Secret); v != first {
				b.Errorf("version_info %q after a change, %q in one response", first, v)
			}
		},
	},
	{
		Rule: 12, Name: "TheRevisionIsShown", In: delta, Needs: Revisions,
		Shows: "`system_version_info` is the fleet's revision.",
		Run: func(b *Bed) {
			w := b.World()
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Settle()
			for i := range 3 {
				r := w.Publish(put(fleet.Listener, "a", strconv.Itoa(i)))
				got := c.Next()
				if want := strconv.FormatInt(int64(r), 10); got.Version != want {
					b.Errorf("system_version_info %q, want %q", got.Version, want)
				}
				c.Ack(got)
			}
		},
	},
}

// listeners returns what a new client gets: version_info and the resources' versions.
func (b *Bed) listeners(conn *grpc.ClientConn) (version string, each map[string]string) {
	b.Helper()
	c := xdstest.Open(b, conn, b.Variant, xdstest.Envoy(Node))
	c.Subscribe(fleet.Listener)
	r := c.Want("listeners a@1 b@1")
	c.Ack(r)
	return r.Version, c.Held(fleet.Listener)
}
