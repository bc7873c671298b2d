package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

var refusals = []Check{
	{
		Rule: 16, Name: "APoisonIsTakenAway",
		Shows: "A new resource that is refused by name is taken away, and the others of the response are sent without it: the client may have applied any of them.",
		Run: func(b *Bed) {
			c := b.poisoned()
			c.Ack(c.Want(b.Says("listeners good@2 -bad", "listeners good@2")))
			c.QuietFor(time.Minute)
		},
	},
	{
		Rule: 16, Name: "OthersGoOn",
		Shows: "Beside a refused resource the changes of others go on.",
		Run: func(b *Bed) {
			c := b.poisoned()
			c.Settle()
			b.Publish(put(fleet.Listener, "good", "3"))
			c.Ack(c.Want("listeners good@3"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 16, Name: "FixedItIsOfferedAgain",
		Shows: "A refused resource that was fixed is offered again.",
		Run: func(b *Bed) {
			c := b.poisoned()
			c.Settle()
			b.Publish(put(fleet.Listener, "bad", "2"))
			c.Ack(c.Want(b.Says("listeners bad@2", "listeners bad@2 good@2")))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 16, Name: "BackToTheLastGood", Needs: Together,
		Shows: "A change that is refused goes back to the last known good version, also when the text names nobody and it was the only change.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Runtime, "a", "1"), put(fleet.Listener, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Runtime, "a")
			c.Ack(c.Want("runtimes a@1"))
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1"))
			b.Publish(put(fleet.Runtime, "a", "2"), put(fleet.Listener, "a", "2"))
			for _, r := range []*xdstest.Response{c.Next(), c.Next()} {
				c.Nack(r, "Proto constraint validation failed")
			}
			for range 2 {
				r := c.Next()
				if got := r.String(); got != text(r.Type, "a@1") {
					b.Errorf("got %s, want a@1 again", got)
				}
				c.Ack(r)
			}
			c.QuietFor(time.Minute)
		},
	},
	{
		Rule: 16, Name: "NoContentTwice",
		Shows: "A client that refuses everything gets no content twice, and soon nothing at all.",
		Run: func(b *Bed) {
			for _, n := range []string{"a", "b", "c", "d"} {
				b.Publish(put(fleet.Listener, n, "1"))
			}
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			refuser := Refuse(b, c)
			refuser.For(time.Minute)
			if n := refuser.For(time.Minute); n > 0 {
				b.Errorf("%d responses in the second minute", n)
			}
		},
	},
	{
		Rule: 16, Name: "NoContentTwiceOfAnyType", Needs: Together,
		Shows: "Nor does one that takes clusters and refuses what it names: endpoints, secrets, routes, runtimes, extensions.",
		Run: func(b *Bed) {
			b.Publish(both(cluster("a"), cluster("b"))...)
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1 b@1"))
			for _, t := range byName {
				b.Publish(put(t, "a", "2"), put(t, "b", "2"))
				c.Subscribe(t, "a", "b")
			}
			refuser := Refuse(b, c)
			refuser.For(time.Minute)
			if n := refuser.For(time.Minute); n > 0 {
				b.Errorf("%d responses in the second minute", n)
			}
		},
	},
	{
		Rule: 16, Name: "AnOldErrorIsAnAck", In: sotw,
		Shows: "SotW: with the `version_info` that was sent under its nonce, `error_detail` is about an older response: an ACK.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Cluster, "a", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			r := c.Want("clusters a@1")
			c.Send(xdstest.Request{Type: fleet.Cluster, Version: r.Version, Nonce: r.Nonce, Error: "Error adding/updating cluster(s) a: of an older response\n"})
			c.QuietFor(moment)
			b.Publish(put(fleet.Cluster, "a", "2"))
			c.Ack(c.Want("clusters a@2"))
			c.QuietFor(moment)
		},
	},
	{
		Rule: 16, Name: "TheWordsAreKept", Needs: Records,
		Shows: "The client's words are recorded with the resource that they are about, cut at 4 KiB and without control characters.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Listener, "bad", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Nack(c.Want("listeners bad@1"), "Error adding/updating listener(s) bad: \x1b[31m"+strings.Repeat("ä", 4<<10)+"\n")
			c.Settle()
			rs := b.World().Refusals()
			if len(rs) != 1 || len(rs[0].Blame) != 1 {
				b.Fatalf("%d refusals, want one of one resource", len(rs))
			}
			if x := rs[0].Blame[0]; x.Refused.Name != "bad" || x.Good != nil {
				b.Errorf("refused %s, good %v", x.Refused.Name, x.Good)
			}
			if d := rs[0].Detail; len(d) > 4<<10 || len(d) < 4<<9 || strings.Contains(d, "\x1b") || !strings.HasPrefix(d, "Error adding/updating listener(s) bad: ") {
				b.Errorf("kept %d bytes: %.60q", len(d), d)
			}
		},
	},
	{
		Rule: 16, Name: "NoKeyIsKept", Needs: Records,
		Shows: "Of the refusal of a Secret only the reason is kept: Envoy's text can hold the private key.",
		Run: func(b *Bed) {
			b.Publish(put(fleet.Secret, "s", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Secret, "s")
			c.Nack(c.Want("secrets s@1"), `goo.gle/debugstr name: "s" private_key { inline_string: "-----BEGIN EC PRIVATE KEY-----canary" }: Proto constraint validation failed (no)`)
			c.Settle()
			rs := b.World().Refusals()
			if len(rs) != 1 || strings.Contains(rs[0].Detail, "canary") || !strings.Contains(rs[0].Detail, "Proto constraint validation failed (no)") {
				b.Errorf("refusals %+v", rs)
			}
		},
	},
}

// poisoned returns a client that has a listener, and refused one beside its next version.
func (b *Bed) poisoned() *xdstest.Client {
	b.Helper()
	b.Publish(put(fleet.Listener, "good", "1"))
	c := b.Envoy()
	c.Subscribe(fleet.Listener)
	c.Ack(c.Want("listeners good@1"))
	b.Publish(put(fleet.Listener, "bad", "1"), put(fleet.Listener, "good", "2"))
	c.Nack(c.Want("listeners bad@1 good@2"), "Error adding/updating listener(s) bad: no such extension\n")
	return c
}

// Refuser refuses whatever it is sent.
type Refuser struct {
	t    failer
	c    *xdstest.Client
	seen map[string]*xdstest.Response // by content
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Refuse makes a refuser of a client.
func Refuse(t failer, c *xdstest.Client) *Refuser {
	return &Refuser{t: t, c: c, seen: map[string]*xdstest.Response{}}
}

// Changed says that every resource of the fleet has another version. What takes the
// refused ones away, in case that the client applied half of them, may come once more.
func (r *Refuser) Changed() {
	maps.DeleteFunc(r.seen, func(_ string, x *xdstest.Response) bool {
		return !slices.ContainsFunc(x.Resources, func(i xdstest.Item) bool { return i.Label != "empty" && !i.Bare })
	})
}

// For refuses for some time what the server has to send, fails if some content came
// before, and returns how much there was.
func (r *Refuser) For(d time.Duration) int {
	r.t.Helper()
	n := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		x, err := r.c.EndedWithin(time.Until(end))
		if err != nil {
			r.t.Fatalf("the stream ended: %v", err)
		}
		if x == nil {
			break
		}
		content := x.String()
		if r.seen[content] != nil && content != x.Type.Slug() {
			r.t.Fatalf("%s came twice", content)
		}
		r.seen[content] = x
		if n++; n > 1000 {
			r.t.Fatalf("%d responses, and no end: %s", n, x)
		}
		r.c.Nack(x, fmt.Sprintf("refused for the %d. time", len(r.seen)))
	}
	return n
}
