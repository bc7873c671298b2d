package snapshot

import (
	"maps"
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// missingAfter is when an Envoy is told that a route or an extension does not exist.
// Told before its own 15 s are over it keeps the listener warming for ever; afterwards it
// serves, and the answer changes nothing for it (PROTOCOL rule 5).
const missingAfter = 20 * time.Second

// patient reports whether the client has to wait for the word that a name of the type
// does not exist.
func (c *Client) patient(t fleet.Type) bool {
	return c.Delta && c.Envoy && (t == fleet.Route || t == fleet.Extension)
}

// collectOwed puts what is owed an answer, and is not pending anyway, in its place among
// the changes: the resource, or, by a change from nothing to nothing, that there is none.
func (p *plan) collectOwed() {
	if len(p.tr.owed) == 0 {
		return
	}
	pending := make(map[string]struct{}, len(p.pending))
	for _, ch := range p.pending {
		pending[ch.name()] = struct{}{}
	}
	nonexistent := 0
	for _, n := range slices.Sorted(maps.Keys(p.tr.owed)) {
		ch := change{new: p.c.lookup(p.t, n, p.target), asked: n}
		ch.old = p.tr.held.Get(ch.name())
		if ch.new == nil && !p.c.Delta && p.t == fleet.Endpoint && ch.old != nil && ch.old.lastGood() == ch.old {
			ch.new = ch.old // its cluster changed, and waits for it, whether or not the fleet still has it
		}
		switch {
		case ch.new != nil && (p.withholds(ch) || p.c.waitsForCluster(p.t, ch, p.target)), ch.new == nil && ch.old != nil && ch.old.settledOn() && p.stays(ch.old.Name):
			p.wait(ch)
			continue
		case ch.new == nil && p.t == fleet.VirtualHost && p.tr.sub.Named(n):
			if ch.old != nil {
				continue // its removal is the answer: no name stands twice in a response
			}
			if nonexistent += 2*len(n) + 16; nonexistent > MaxResponse/2 {
				p.waiting, p.r.cut = true, true
				continue
			}
			p.r.Nonexistent = append(p.r.Nonexistent, n)
			p.r.answered = append(p.r.answered, n)
			p.r.content = p.r.content.plus(keyOf(n, "\x00nonexistent"))
			continue
		case ch.new == nil && p.c.patient(p.t) && p.c.Now.Before(p.tr.owed[n].Add(missingAfter)):
			continue
		case ch.new == nil && !p.c.Delta:
			delete(p.tr.owed, n) // it cannot be said; if it comes into being it is sent
			continue
		case ch.new != nil:
			p.r.alias(ch.new.Name, n)
		}
		if _, ok := pending[ch.name()]; !ok {
			pending[ch.name()] = struct{}{}
			p.pending = append(p.pending, ch)
		} else if ch.new == ch.old && ch.new != nil {
			p.keep(ch)
		}
	}
	p.sortPending()
}

// keep puts a resource that the client holds in the place of its removal.
func (p *plan) keep(ch change) {
	for i := range p.pending {
		if p.pending[i].name() == ch.name() && p.pending[i].new == nil {
			p.pending[i] = ch
		}
	}
}
