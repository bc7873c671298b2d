package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// heartbeats are those of one type. There is one time for all that has a TTL, not a
// timer for each.
type heartbeats struct {
	renewed time.Time       // when all that the client holds was surely renewed; zero: unknown
	after   string          // the round that goes on has come to this name; "": it begins
	open    []*sentResponse // heartbeats that were not answered, oldest first
}

const (
	// heartbeatShare: a TTL is renewed when this part of it has run, so that two heartbeats may
	// be lost.
	heartbeatShare = 3
	// leastHeartbeat bounds how often heartbeats go out, whatever the TTL.
	leastHeartbeat = 100 * time.Millisecond
	// maxHeartbeats is how many unanswered heartbeats are remembered, of a type. Envoy answers
	// none while its clusters warm.
	maxHeartbeats = 8
)

func (c *Client) heartbeatsOf(t fleet.Type) *heartbeats {
	if c.heartbeats[t] == nil {
		c.heartbeats[t] = new(heartbeats)
	}
	return c.heartbeats[t]
}

// due is when the next round of heartbeats begins, given the shortest TTL.
func (b *heartbeats) due(shortest time.Duration) time.Time {
	return b.renewed.Add(max(shortest/heartbeatShare, leastHeartbeat))
}

func (b *heartbeats) sent(f *sentResponse) {
	b.open = append(b.open, f)
	if len(b.open) > maxHeartbeats {
		b.open = slices.Delete(b.open, 0, 1)
	}
	if b.after = f.heartbeatAfter; b.after == "" {
		b.renewed = f.sentAt
	}
}

// answered takes the heartbeat of that nonce out, nil if there is none.
func (b *heartbeats) answered(nonce string) *sentResponse {
	if b == nil {
		return nil
	}
	i := slices.IndexFunc(b.open, func(f *sentResponse) bool { return f.nonce == nonce })
	if i < 0 {
		return nil
	}
	f := b.open[i]
	b.open = slices.Delete(b.open, i, i+1)
	return f
}

// expireLate: what ran out while the ACK was held back is not held any more: nobody tells the
// server, so it counts (PROTOCOL rule 23).
func (c *Client) expireLate(t fleet.Type, f *sentResponse, before *snapshot.Set) {
	if !c.pos.Kind.TTL {
		return
	}
	tr := &c.pos.Types[t]
	_, shortest := tr.Held.Expiring()
	if shortest == 0 {
		return
	}
	_, was := before.Expiring()
	b := c.heartbeatsOf(t)
	for _, ch := range f.changes {
		switch {
		case ch.new == nil || ch.new.TTL == 0:
		case c.now.Sub(f.sentAt) > ch.new.TTL:
			tr.Held = c.in.dropped(t, tr.Held, []string{ch.name})
		case was == 0:
			b.renewed = f.sentAt
		case shortest < was || f.sentAt.Before(b.renewed):
			b.renewed = time.Time{} // not with the last round: a new one is due
		}
	}
}

// heartbeat returns the next heartbeat that is due, nil if none is.
func (c *Client) heartbeat(target *snapshot.Target) *Response {
	if !c.pos.Kind.TTL {
		return nil
	}
	for _, t := range order {
		tr := &c.pos.Types[t]
		if tr.Sub == nil {
			continue
		}
		expiring, shortest := tr.Held.Expiring()
		if shortest == 0 || c.now.Before(c.heartbeatsOf(t).due(shortest)) {
			continue
		}
		if !c.pos.Kind.Delta {
			c.renewSotW(t, expiring)
			continue
		}
		if r := c.beat(t, expiring); r != nil {
			r.Revision = target.Revision
			return r
		}
	}
	return nil
}

// beat returns a type's heartbeat: "the resource name, version and TTL" of what the client
// holds, at the version that it ACKed (PROTOCOL rule 21). A name in a response that was not
// answered is left out: which version the client has of it is not known, and the response
// renewed it.
func (c *Client) beat(t fleet.Type, expiring []*snapshot.Resource) *Response {
	b, tr := c.heartbeatsOf(t), &c.pos.Types[t]
	r := &Response{Type: t, Heartbeat: true, kind: c.pos.Kind}
	size := 0
	for _, x := range expiring {
		if x.Name <= b.after {
			continue
		}
		if b.expired(x, c.now) {
			c.lose(t, x)
			continue
		}
		if tr.InFlight && !snapshot.Same(tr.Next.Get(x.Name), x) {
			continue
		}
		if size += len(x.Heartbeat()); size > MaxResponse && len(r.Resources) > 0 {
			r.heartbeatAfter = r.Resources[len(r.Resources)-1].Name
			break
		}
		r.Resources = append(r.Resources, x)
	}
	if len(r.Resources) == 0 {
		b.renewed, b.after = c.now, ""
		return nil
	}
	return r
}

// expired: past its TTL without a heartbeat the client has dropped it.
func (b *heartbeats) expired(r *snapshot.Resource, now time.Time) bool {
	return !b.renewed.IsZero() && now.Sub(b.renewed) > r.TTL
}

// renewSotW owes the client what it holds once more: state of the world knows no heartbeats
// that renew. While a response is unanswered it waits for that.
func (c *Client) renewSotW(t fleet.Type, expiring []*snapshot.Resource) {
	tr := &c.pos.Types[t]
	if tr.InFlight {
		return
	}
	c.heartbeatsOf(t).renewed = c.now
	if t.FullSet() {
		tr.Answer = true
		return
	}
	owed := make([]*snapshot.Resource, 0, len(expiring))
	for _, x := range expiring {
		owed = append(owed, x.NameOnly())
	}
	tr.Pending = c.in.adding(t, tr.Pending, owed...)
}

// lose: the client has dropped a resource, and what is in flight does not bring it back.
func (c *Client) lose(t fleet.Type, r *snapshot.Resource) {
	tr := &c.pos.Types[t]
	if !snapshot.Same(tr.Held.Get(r.Name), r) {
		return
	}
	tr.Held = c.in.dropped(t, tr.Held, []string{r.Name})
	if tr.InFlight && snapshot.Same(tr.Next.Get(r.Name), r) {
		tr.Next = c.in.dropped(t, tr.Next, []string{r.Name})
	}
}
