package snapshot

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// beats are the heartbeats of one type. There is one time for all that has a TTL, not a
// timer for each.
type beats struct {
	renewed time.Time   // when all that the client holds was surely renewed; zero: unknown
	after   string      // the round that goes on has come to this name; "": it begins
	open    []*Response // heartbeats that were not answered, oldest first
}

const (
	// beatShare: a TTL is renewed when this part of it has run, so that two heartbeats may
	// be lost.
	beatShare = 3
	// leastBeat bounds how often heartbeats go out, whatever the TTL.
	leastBeat = 100 * time.Millisecond
	// maxBeats is how many unanswered heartbeats are remembered, of a type. Envoy answers
	// none while its clusters warm.
	maxBeats = 8
)

// due is when the next round of heartbeats begins, given the shortest TTL.
func (b *beats) due(shortest time.Duration) time.Time {
	return b.renewed.Add(max(shortest/beatShare, leastBeat))
}

func (b *beats) sent(r *Response) {
	b.open = append(b.open, r)
	if len(b.open) > maxBeats {
		b.open = slices.Delete(b.open, 0, 1)
	}
	if b.after = r.beatAfter; b.after == "" {
		b.renewed = r.sentAt
	}
}

// answered takes the heartbeat of that nonce out, nil if there is none.
func (b *beats) answered(nonce string) *Response {
	i := slices.IndexFunc(b.open, func(r *Response) bool { return r.Nonce == nonce })
	if i < 0 {
		return nil
	}
	r := b.open[i]
	b.open = slices.Delete(b.open, i, i+1)
	return r
}

// hold takes over what a response left the client with once it was ACKed. What ran out
// while the ACK was held back is not held any more: nobody tells the server, so it
// counts (PROTOCOL rule 23).
func (tr *track) hold(f *Response, now time.Time, ttl bool) {
	_, before := tr.held.expiring()
	tr.held = f.after
	_, shortest := tr.held.expiring()
	if shortest == 0 || !ttl {
		return
	}
	for _, ch := range f.changes {
		switch {
		case ch.new == nil || ch.new.TTL == 0:
		case now.Sub(f.sentAt) > ch.new.TTL:
			tr.held = tr.held.Without(ch.new.Name)
		case before == 0:
			tr.renewed = f.sentAt
		case shortest < before || f.sentAt.Before(tr.renewed):
			tr.renewed = time.Time{} // not with the last round: a new one is due
		}
	}
}

// heartbeat returns the next heartbeat of a type that is due, nil if none is: "the
// resource name, version and TTL" of what the client holds, at the version that it ACKed
// (PROTOCOL rule 21). A name in a response that was not answered is left out: which
// version the client has of it is not known, and the response renewed it.
//
// State of the world knows no heartbeats that renew: there the resource, or the set, is
// owed again.
func (c *Client) heartbeat(t fleet.Type) *Response {
	tr := &c.types[t]
	if !c.TTL {
		return nil
	}
	expiring, shortest := tr.held.expiring()
	if shortest == 0 || c.Now.Before(tr.due(shortest)) {
		return nil
	}
	if !c.Delta {
		c.renewSotW(t, expiring)
		return nil
	}
	r := &Response{Type: t, Heartbeat: true}
	size := 0
	for _, x := range expiring {
		if x.Name <= tr.after {
			continue
		}
		if tr.expired(x, c.Now) {
			tr.lose(x)
			continue
		}
		if tr.inFlight != nil && tr.inFlight.after.Get(x.Name) != x {
			continue
		}
		if size += len(x.Heartbeat()); size > MaxResponse && len(r.Resources) > 0 {
			r.beatAfter = r.Resources[len(r.Resources)-1].Name
			break
		}
		r.Resources = append(r.Resources, x)
	}
	if len(r.Resources) == 0 {
		tr.renewed, tr.after = c.Now, ""
		return nil
	}
	return r
}

// expired: past its TTL without a heartbeat the client has dropped it.
func (tr *track) expired(r *Resource, now time.Time) bool {
	return !tr.renewed.IsZero() && now.Sub(tr.renewed) > r.TTL
}

// renewSotW owes the client what it holds once more. While a response is unanswered it
// waits for that.
func (c *Client) renewSotW(t fleet.Type, expiring []*Resource) {
	tr := &c.types[t]
	if tr.inFlight != nil {
		return
	}
	tr.renewed, tr.inStep = c.Now, false
	if t.FullSet() {
		tr.answer = true
		return
	}
	for _, x := range expiring {
		tr.owe(x.Name, c.Now)
	}
}

// heartbeatRefused: the client does not hold what the heartbeat named, or another
// version of it. It gets the resources in full.
func (tr *track) heartbeatRefused(r *Response) {
	for _, x := range r.Resources {
		tr.lose(x)
	}
}

// lose: the client has dropped a resource, and what is in flight does not bring it back.
func (tr *track) lose(r *Resource) {
	if tr.held.Get(r.Name) != r {
		return
	}
	tr.held, tr.inStep = tr.held.Without(r.Name), false
	if f := tr.inFlight; f != nil && f.after.Get(r.Name) == r {
		f.after = f.after.Without(r.Name)
	}
}
