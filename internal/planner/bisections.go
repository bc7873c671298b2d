package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// How the bisections of a stream go on: from what it holds, and from what its target says.

// overlay is the node's target as last seen, and the one that was made of it for what
// bisections keep back.
type overlay struct {
	base     *snapshot.Target
	of       *snapshot.Target // nil: none was made
	withheld []snapshot.Exception
	target   *snapshot.Target
}

// effective is the target with what bisections keep back.
func (c *Client) effective(target *snapshot.Target) *snapshot.Target {
	c.overlay.base = target
	if !c.rec.bisecting() {
		c.overlay = overlay{base: target}
		return target
	}
	c.endBisections(target)
	var es []snapshot.Exception
	for t := range c.rec.types {
		if b := c.rec.types[t].bisection; b != nil {
			es = append(es, b.withheld()...)
		}
	}
	if len(es) == 0 { // the last one has just ended: its stream takes remembered steps again
		c.overlay = overlay{base: target}
		return target
	}
	if c.overlay.of != target || !slices.EqualFunc(es, c.overlay.withheld, sameException) {
		c.overlay = overlay{base: target, of: target, withheld: es, target: target.Except(es)}
	}
	return c.overlay.target
}

// sameException: nothing else of them makes another target.
func sameException(a, b snapshot.Exception) bool {
	return a.Type == b.Type && a.Refused == b.Refused && a.Good == b.Good && a.Leave == b.Leave
}

// endBisections drops the candidates that the target has left, and ends a bisection of
// which nothing is left.
func (c *Client) endBisections(target *snapshot.Target) {
	l := c.look(target)
	for i := range c.rec.types {
		t, p := fleet.Type(i), &c.rec.types[i] //nolint:gosec // one of nine
		if p.bisection == nil {
			continue
		}
		gone := func(x snapshot.Exception) bool { // or back, by a later revision: then it is offered once more
			now := l.lookup(t, x.Refused.Name)
			if x.Rival != nil && !snapshot.Same(x.Rival, target.View[t].Get(x.Rival.Name)) || snapshot.AnyCame(x.Lacked, target.View) {
				return true
			}
			return !c.pos.Types[t].Sub.Has(x.Refused.Name) || !snapshot.Same(now, x.Refused) || x.At > 0 && now.Revision > x.At
		}
		if slices.ContainsFunc(p.bisection.all(), gone) {
			p.bisection.drop(gone)
		}
		if p.bisection.over() {
			p.bisection = nil
		}
	}
}

// advance offers the next group of a bisection whose client has taken what went before, or
// where what was offered has to wait. It reports whether anything moved.
func (c *Client) advance(target *snapshot.Target) (moved bool) {
	if !c.rec.bisecting() {
		return false
	}
	at := c.place()
	for i := range c.rec.types {
		t := fleet.Type(i) //nolint:gosec // one of nine
		b := c.rec.types[i].bisection
		if b == nil || c.pos.Types[i].InFlight {
			continue
		}
		if c.release(t, target) || c.hasOffered(t) {
			moved = true
			continue
		}
		if !slices.ContainsFunc(b.waiting, func(g *group) bool { return g.parked != at }) {
			continue
		}
		if b.offered != nil {
			b.park(at)
		}
		if !c.repaired(t) {
			continue
		}
		if culprits := b.offer(at); len(culprits) > 0 {
			c.verdict(t, b.words, culprits)
		}
		moved = true
	}
	return moved
}

// repaired reports whether the client has confirmed what stands in for the candidates. That
// nothing does cannot be said of every type.
func (c *Client) repaired(t fleet.Type) bool {
	removable := c.pos.Kind.Delta || t.FullSet()
	doubts := c.pos.Types[t].Doubts
	return !slices.ContainsFunc(c.rec.of(t).bisection.all(), func(x snapshot.Exception) bool {
		return doubts.of(x.Refused.Name) != nil && !x.Leave && (removable || x.Good != nil)
	})
}

// hasOffered takes in that the client has all that is offered, by an earlier response: nothing
// goes out that could be ACKed.
func (c *Client) hasOffered(t fleet.Type) bool {
	b := c.rec.of(t).bisection
	if b.offered == nil || slices.ContainsFunc(b.offered.candidates, func(x snapshot.Exception) bool {
		return !snapshot.Same(c.pos.Types[t].Held.Get(x.Refused.Name), x.Refused)
	}) {
		return false
	}
	b.taken()
	return true
}

// release drops the candidates that are offered and lack something: they are withheld whether
// or not they are candidates, and offered when that is there.
func (c *Client) release(t fleet.Type, target *snapshot.Target) (any bool) {
	b := c.rec.of(t).bisection
	if b.offered == nil {
		return false
	}
	l := c.look(target)
	lacks := func(x snapshot.Exception) bool {
		_, ok := l.waitsFor(t, change{name: x.Refused.Name, old: l.held(t, x.Refused.Name), new: x.Refused})
		return ok
	}
	if any = slices.ContainsFunc(b.offered.candidates, lacks); any {
		offered := among(b.offered.candidates)
		b.drop(func(x snapshot.Exception) bool { return offered(x) && lacks(x) })
	}
	return any
}

// correct takes in what the client holds of the candidates by its own account: what it was
// thought never to have had is not taken away, and what it has taken it does not refuse.
func (b *bisection) correct(held func(name string) has) {
	b.drop(func(x snapshot.Exception) bool { return snapshot.Same(held(x.Refused.Name).lastGood(), x.Refused) })
	for _, all := range b.groups() {
		for i := range all {
			x := &all[i]
			h := held(x.Refused.Name)
			if x.Good != nil || !h.surely() {
				continue
			}
			if x.Good = h.lastGood(); x.Good == nil {
				x.Leave = true
			}
		}
	}
}
