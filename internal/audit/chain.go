package audit

import (
	"fmt"
	"slices"
	"time"
)

// What can be wrong with a chain.
const (
	EventChanged  = "event_changed"   // an event is not what was hashed, or the hash was changed
	EventMissing  = "event_missing"   // a link has no event
	EventInserted = "event_inserted"  // an event has no link
	LinkMissing   = "link_missing"    // a number is missing
	HeadMovedBack = "head_moved_back" // the chain goes on behind its head
	Truncated     = "truncated"       // the chain ends before a head that it had
	Rewritten     = "rewritten"       // the chain is sound and another one than a head is of
	BadSignature  = "signature"       // a stored head was signed by no API server
	RemovedEarly  = "removed_early"   // events went before their time
)

// leastKept is for how long every tenant's events are kept at least (the limit audit_days), and clocks what clocks may differ by.
const (
	leastKept = 30 * 24 * time.Hour
	clocks    = time.Hour
)

// Fault is the first thing that is wrong with a chain.
type Fault struct {
	What   string
	Seq    int64 // 0: it is about no number
	Detail string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s at %d: %s", f.What, f.Seq, f.Detail) }

// Chain verifies a tenant's chain link by link, from its anchor to its head. After a fault it is of no use.
type Chain struct {
	tenant string
	seq    int64 // of the last link that was sound
	hash   Hash
	heads  []Head // that the chain is to go through, the lowest number first
}

// NewChain begins behind the anchor.
func NewChain(tenant string, a Anchor) *Chain {
	return &Chain{tenant: tenant, seq: a.Seq, hash: a.Hash}
}

// Seq is how far it has come.
func (c *Chain) Seq() int64 { return c.seq }

// Hash is the one there.
func (c *Chain) Hash() Hash { return c.hash }

// Expect names heads that the chain once had. Those of other tenants, and of what is behind, do not count.
func (c *Chain) Expect(heads ...Head) {
	for _, h := range heads {
		if h.Tenant == c.tenant && h.Seq > c.seq {
			c.heads = append(c.heads, h)
		}
	}
	slices.SortFunc(c.heads, func(a, b Head) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
}

// Removed goes on behind the anchor a where that has moved beyond what was verified: what is in between was removed meanwhile.
func (c *Chain) Removed(a Anchor) {
	if a.Seq <= c.seq {
		return
	}
	c.seq, c.hash = a.Seq, a.Hash
	c.heads = slices.DeleteFunc(c.heads, func(h Head) bool { return h.Seq < a.Seq })
}

// Add verifies the next link.
func (c *Chain) Add(l Link) *Fault {
	if f := c.known(c.seq); f != nil { // of an anchor
		return f
	}
	switch {
	case l.Seq != c.seq+1:
		return &Fault{LinkMissing, c.seq + 1, fmt.Sprintf("number %d is missing, %d follows", c.seq+1, l.Seq)}
	case l.Event == nil:
		return &Fault{EventMissing, l.Seq, "the event of this number is gone"}
	}
	hash := c.hash.next(c.tenant, l.Seq, l.Event)
	if hash != l.Hash {
		return &Fault{EventChanged, l.Seq, fmt.Sprintf("the event %s of %s has the hash %s, and %s is stored: the event, the hash, or what is before was changed",
			l.Event.Kind, l.Event.At.UTC().Format(time.RFC3339), hash, l.Hash)}
	}
	c.seq, c.hash = l.Seq, hash
	return c.known(l.Seq)
}

// known compares the chain with the heads of this number.
func (c *Chain) known(seq int64) *Fault {
	for len(c.heads) > 0 && c.heads[0].Seq <= seq {
		h := c.heads[0]
		c.heads = c.heads[1:]
		if h.Seq == seq && h.Hash != c.hash {
			return &Fault{Rewritten, seq, fmt.Sprintf("the head of %s had the hash %s, and now the chain has %s there: it was rewritten", h.At.UTC().Format(time.RFC3339), h.Hash, c.hash)}
		}
	}
	return nil
}

// End verifies that the chain ends where its head is, which was read together with the last links.
func (c *Chain) End(seq int64, hash Hash) *Fault {
	if f := c.known(c.seq); f != nil {
		return f
	}
	switch {
	case seq > c.seq:
		return &Fault{Truncated, c.seq + 1, fmt.Sprintf("the chain ends at %d, and its head is %d", c.seq, seq)}
	case seq < c.seq:
		return &Fault{HeadMovedBack, seq, fmt.Sprintf("the head is %d, and the chain goes on to %d", seq, c.seq)}
	case hash != c.hash:
		return &Fault{EventChanged, seq, "the head has another hash than the last link"}
	case len(c.heads) > 0:
		h := c.heads[len(c.heads)-1]
		return &Fault{Truncated, c.seq + 1, fmt.Sprintf("the chain ends at %d, and on %s its head was %d", c.seq, h.At.UTC().Format(time.RFC3339), h.Seq)}
	}
	return nil
}

// Unlinked judges how many events have no link, of which so many were there before the chain.
func Unlinked(n, unchained int64) *Fault {
	if n <= unchained {
		return nil
	}
	return &Fault{EventInserted, 0, fmt.Sprintf("%d events are in no chain, and %d were there when it began", n, unchained)}
}

// Early judges whether the anchor's events were old enough to go: those behind a head's number came after the head.
func Early(a Anchor, heads ...Head) *Fault {
	for _, h := range heads {
		if h.Seq < a.Seq && h.At.After(a.At.Add(clocks-leastKept)) {
			return &Fault{RemovedEarly, h.Seq + 1, fmt.Sprintf("events up to %d are removed, and on %s, less than 30 days before, the head was %d", a.Seq, h.At.UTC().Format(time.RFC3339), h.Seq)}
		}
	}
	return nil
}
