package conformance

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// life is the TTL in these checks.
const life = 9 * time.Second

var mortal = xdstest.TTL(life)

var heartbeats = []Check{
	{
		Rule: 21, Name: "InTime", In: delta, Needs: TTLs,
		Shows: "Heartbeats renew every TTL of a type in one response: name, version and TTL, no body; well in time, and not too often.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Listener, "a", "1", mortal), xdstest.Put(fleet.Listener, "b", "1", mortal), put(fleet.Listener, "c", "1"))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1/9s b@1/9s c@1"))
			heartbeats := b.heartbeats(c, time.Minute)
			for _, r := range heartbeats {
				if got := r.String(); got != "listeners ~a@1/9s ~b@1/9s" {
					b.Errorf("got %s, want a and b renewed", got)
				}
			}
		},
	},
	{
		Rule: 21, Name: "OfEveryType", In: delta, Needs: TTLs,
		Shows: "So it is for every type that acts on TTLs.",
		Run: func(b *Bed) {
			for _, t := range acting {
				b.Publish(xdstest.Put(t, "r/a", "1", mortal))
				c := b.Envoy()
				c.Subscribe(t, "r/a")
				c.Ack(c.Want(text(t, "r/a@1/9s")))
				for _, r := range b.heartbeats(c, 20*time.Second) {
					if got := r.String(); got != text(t, "~r/a@1/9s") {
						b.Errorf("got %s", got)
					}
				}
				c.Close()
			}
		},
	},
	{
		Rule: 21, Name: "NotBehindAnUnansweredResponse", In: delta, Needs: TTLs,
		Shows: "Heartbeats do not wait for the answer to a response, and are for what the client has accepted alone.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Cluster, "a", "1", mortal))
			c := b.GRPC(xdstest.FeatureTTL)
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1/9s"))
			b.Publish(xdstest.Put(fleet.Cluster, "b", "1", mortal))
			open := c.Want("clusters b@1/9s")
			for _, r := range b.heartbeats(c, 6*time.Second) {
				if got := r.String(); got != "clusters ~a@1/9s" {
					b.Errorf("got %s, want a renewed", got)
				}
			}
			c.Ack(open)
			for _, r := range b.heartbeats(c, 15*time.Second) {
				if got := r.String(); got != "clusters ~a@1/9s ~b@1/9s" {
					b.Errorf("got %s, want both renewed", got)
				}
			}
		},
	},
	{
		Rule: 21, Name: "TheirAcksAcknowledgeNothing", In: delta, Needs: TTLs,
		Shows: "A heartbeat changes no version and no subscription: its ACK is not that of a response, and the next change arrives alone.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Listener, "a", "1", mortal))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			c.Ack(c.Want("listeners a@1/9s"))
			b.Publish(put(fleet.Listener, "b", "1"))
			open := c.Want("listeners b@1")
			b.heartbeats(c, 10*time.Second)
			b.Publish(put(fleet.Listener, "b", "2"))
			b.heartbeats(c, 5*time.Second) // and nothing else: b@1 is not answered
			c.Ack(open)
			c.Ack(c.Want("listeners b@2"))
			b.heartbeats(c, 20*time.Second)
		},
	},
	{
		Rule: 21, Name: "UnansweredTheyCauseNothing", In: delta, Needs: TTLs,
		Shows: "Heartbeats that the client does not answer, as Envoy while clusters warm, go on, and nothing is sent again.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Cluster, "a", "1", mortal))
			c := b.Envoy()
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters a@1/9s"))
			for range 20 {
				r := c.Next()
				if got := r.String(); got != "clusters ~a@1/9s" {
					b.Fatalf("got %s", got)
				}
			}
			b.Publish(put(fleet.Cluster, "b", "1"))
			c.Ack(c.Want("clusters b@1"))
		},
	},
	{
		Rule: 21, Name: "TheVersionLastAccepted", In: delta, Needs: TTLs,
		Shows: "A heartbeat carries the version that the client accepted last, not one that is under way or was refused.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Listener, "a", "1", mortal))
			c := b.Envoy()
			c.Subscribe(fleet.Listener)
			first := c.Want("listeners a@1/9s")
			c.Ack(first)
			accepted := first.Item("a").Version
			b.Publish(xdstest.Put(fleet.Listener, "a", "2", mortal))
			open := c.Want("listeners a@2/9s")
			time.Sleep(life)
			for _, r := range c.Settle() {
				if x := r.Item("a"); x == nil || !x.Bare || x.Version != accepted {
					b.Errorf("%s while another version is under way", r)
				}
			}
			c.Ack(open)
			time.Sleep(life)
			rs := c.Settle()
			if !slices.ContainsFunc(rs, func(r *xdstest.Response) bool { return r.String() == "listeners ~a@2/9s" }) {
				b.Errorf("got %s, want the new version renewed", joined(rs))
			}
		},
	},
	{
		Rule: 21, Name: "SotWRenewsInFull", In: sotw, Needs: TTLs,
		Shows: "SotW: TTLs are renewed by the full set or resource under the same `version_info`, in time: clients drop heartbeats there.",
		Run: func(b *Bed) {
			b.Publish(xdstest.Put(fleet.Listener, "a", "1", mortal), put(fleet.Listener, "b", "1"))
			c := b.GRPC(xdstest.FeatureTTL, xdstest.FeatureInSotW)
			c.Subscribe(fleet.Listener)
			first := c.Want("listeners a@1/9s b@1")
			c.Ack(first)
			last := time.Now()
			for end := last.Add(time.Minute); time.Now().Before(end); last = time.Now() {
				r := c.Want("listeners a@1/9s b@1")
				if gap := time.Since(last); gap >= life || r.Version != first.Version {
					b.Errorf("after %s, as version %q", gap, r.Version)
				}
				c.Ack(r)
			}
		},
	},
}

// heartbeats accepts responses for some time and fails unless they are heartbeats, well in
// time, within half a TTL of each other, and not more than one in a second.
func (b *Bed) heartbeats(c *xdstest.Client, d time.Duration) []*xdstest.Response {
	b.Helper()
	const tick = 250 * time.Millisecond
	var all []*xdstest.Response
	last := time.Now()
	for end := last.Add(d); time.Now().Before(end); {
		time.Sleep(tick)
		rs := c.Settle()
		for _, r := range rs {
			if !r.Heartbeat() {
				b.Fatalf("got %s, want heartbeats alone", r)
			}
		}
		if len(rs) > 0 {
			last = time.Now()
		}
		if gap := time.Since(last); gap > life/2 {
			b.Fatalf("no heartbeat came for %s", gap)
		}
		all = append(all, rs...)
	}
	if most := int(d / time.Second); len(all) > most {
		b.Errorf("%d heartbeats in %s", len(all), d)
	}
	return all
}
