package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// How many clusters that versions lacked are remembered of all candidates of a response, and of a content that was refused: of any stream, and for as
// long as it refuses.
const (
	mostLacked          = 10_000
	mostLackedOfContent = 1_000
)

// lacked are those of some clusters, which its target leaves out, that the client may be without: it still has what was deleted meanwhile and goes last.
func (l *inputs) lacked(all []snapshot.Lack) (some []snapshot.Lack) {
	for _, x := range all {
		if !l.surelyHas(x.Name) {
			some = append(some, x)
		}
	}
	return some
}

// candidates are the versions of a response that the client did not have before. They are shared, and must not be written to.
func (r *Response) candidates() []snapshot.Exception {
	r.refused.candidatesOnce.Do(func() { r.refused.candidates = r.findCandidates() })
	return r.refused.candidates
}

func (r *Response) findCandidates() (all []snapshot.Exception) {
	room := mostLacked
	for _, ch := range r.changes {
		good := ch.old.lastGood()
		if ch.new != nil && !ch.new.Empty && (good == nil || !snapshot.Same(ch.new, good)) && ch.old.version() != ch.new.Version {
			x := snapshot.Exception{Type: r.Type, Refused: ch.new, Good: good, Leave: ch.old.leftAlone() || r.blind}
			if lacked := r.target.Lacked(ch.new); len(lacked) <= room {
				x.Lacked, room = lacked, room-len(lacked)
			}
			all = append(all, x)
		}
	}
	return all
}

// candidates are those of a response. What they lacked is this client's own: others that were sent the response may have other clusters by now.
func (c *Client) candidates(r *Response) []snapshot.Exception {
	all, own := r.candidates(), false
	l := c.inputs(c.overlay.base)
	for i, x := range all {
		lacked := l.lacked(x.Lacked)
		if len(lacked) == len(x.Lacked) {
			continue
		}
		if !own {
			all, own = slices.Clone(all), true
		}
		all[i].Lacked = lacked
	}
	return all
}

// accuse finds who is to blame for a refusal, or begins the search for that. What was offered and the target has no more is not blamed: it goes if the words name it,
// or name nothing. What is left is refused again, or ACKed.
func (c *Client) accuse(t fleet.Type, r *Response, words string) {
	all, gone := c.candidates(r), c.gone(t, r)
	if len(gone) > 0 {
		lists := repair.Lists(t, words)
		named := slices.DeleteFunc(slices.Clone(gone), func(name string) bool { return !lists(name) })
		all = slices.DeleteFunc(slices.Clone(all), func(x snapshot.Exception) bool { return slices.Contains(gone, x.Refused.Name) })
		switch {
		case len(named) > 0:
			c.withdraw(t, named)
			return
		case !slices.ContainsFunc(all, func(x snapshot.Exception) bool { return lists(x.Refused.Name) }):
			c.withdraw(t, gone)
			return
		}
	}
	x := repair.Refusal{Type: t, Words: words, Target: c.overlay.base, Candidates: all, Sent: r.Resources, Whole: r.blind && t.FullSet()}
	for _, ch := range r.changes {
		if len(x.Candidates) == 0 && ch.new != nil {
			x.PutBack = append(x.PutBack, snapshot.Exception{Type: t, Refused: ch.new, Good: ch.old.lastGood(), Leave: ch.old.leftAlone()})
		}
	}
	c.refusedBy(x)
}

// gone are the names of a response that were offered as the client may have them, and that the target has no more.
func (c *Client) gone(t fleet.Type, r *Response) (names []string) {
	doubts, l := c.pos.Types[t].Doubts, c.inputs(c.overlay.base)
	for _, x := range r.Resources {
		if d := doubts.of(x.Name); d != nil && d.Offered != nil && l.lookup(t, x.Name) == nil {
			names = append(names, x.Name)
		}
	}
	return names
}

// withdraw offers names no more.
func (c *Client) withdraw(t fleet.Type, names []string) {
	tr := &c.pos.Types[t]
	edits := make([]doubtEdit, 0, len(names))
	for _, name := range names {
		withdrawn := *tr.Doubts.of(name)
		withdrawn.Offered = nil
		edits = append(edits, doubtEdit{name, &withdrawn})
	}
	c.in.cast(t, tr, edits)
}

// refusedBy passes on what is found out of a refusal. Until the node's target leaves out what is to blame the search keeps it back.
func (c *Client) refusedBy(x repair.Refusal) {
	next, vs := c.rec.of(x.Type).search.Refused(x)
	if next != nil {
		c.edit(x.Type).search = next
	}
	c.find(vs)
}

// find takes in verdicts. What is to blame, or may be where nobody can be told, is not offered again in the place of what the client may have.
func (c *Client) find(vs []snapshot.Verdict) {
	c.found.Verdicts = append(c.found.Verdicts, vs...)
	for _, v := range vs {
		tr := &c.pos.Types[v.Type]
		var edits []doubtEdit
		for _, name := range tr.Doubts.names() {
			d := tr.Doubts.of(name)
			if d.Offered == nil || len(v.Blame) > 0 && !slices.ContainsFunc(v.Blame, func(x snapshot.Exception) bool { return snapshot.Same(d.Offered, x.Refused) }) {
				continue
			}
			blamed := *d
			blamed.Offered = nil
			edits = append(edits, doubtEdit{name, &blamed})
		}
		c.in.cast(v.Type, tr, edits)
	}
}

// How the searches of a stream go on: from what it holds, and from what its target says.

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
		for x, offered := range c.rec.types[t].search.All() {
			if !offered {
				es = append(es, x)
			}
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
	l := c.inputs(target)
	for i := range c.rec.types {
		t, p := fleet.Type(i), &c.rec.types[i]                                   //nolint:gosec // one of nine
		p.search, _ = p.search.Revise(func(x *snapshot.Exception, _ bool) bool { // or back, by a later revision: then it is offered once more
			now := l.lookup(t, x.Refused.Name)
			if x.Rival != nil && !snapshot.Same(x.Rival, target.View[t].Get(x.Rival.Name)) || snapshot.AnyCame(x.Lacked, target.View) {
				return false
			}
			return c.pos.Types[t].Sub.Has(x.Refused.Name) && snapshot.Same(now, x.Refused) && (x.At == 0 || now.Revision <= x.At)
		})
	}
}

func (c *Client) place() repair.Place {
	clusters := &c.pos.Types[fleet.Cluster]
	return repair.Place{Target: c.overlay.base, Clusters: clusters.Held, Doubts: clusters.Doubts.Len()}
}

// advance offers what is next of a bisection whose client has taken what went before, or
// where what was offered has to wait. It reports whether anything moved.
func (c *Client) advance(target *snapshot.Target) (moved bool) {
	if !c.rec.bisecting() {
		return false
	}
	at, l := c.place(), c.inputs(target)
	for i := range c.rec.types {
		t, b := fleet.Type(i), c.rec.types[i].search //nolint:gosec // one of nine
		if b == nil || c.pos.Types[i].InFlight {
			continue
		}
		// What lacks something is withheld whether or not it is a candidate, and offered when that is there.
		_, released := b.Revise(func(x *snapshot.Exception, offered bool) bool {
			if !offered {
				return true
			}
			_, lacks := l.waitsFor(t, change{name: x.Refused.Name, old: l.held(t, x.Refused.Name), new: x.Refused})
			return !lacks
		})
		if released || b.Taken(c.pos.Types[i].Held) { // by an earlier response: nothing goes out that could be ACKed
			moved = true
			continue
		}
		vs, on := b.Next(at, func() bool { return c.repaired(t) })
		c.find(vs)
		moved = moved || on
	}
	return moved
}

// repaired reports whether the client has confirmed what stands in for the candidates. That
// nothing does cannot be said of every type.
func (c *Client) repaired(t fleet.Type) bool {
	removable := c.pos.Kind.Delta || t.FullSet()
	doubts := c.pos.Types[t].Doubts
	for x := range c.rec.of(t).search.All() {
		if doubts.of(x.Refused.Name) != nil && !x.Leave && (removable || x.Good != nil) {
			return false
		}
	}
	return true
}

// correct takes in what the client holds of the candidates by its own account: what it was
// thought never to have had is not taken away, and what it has taken it does not refuse.
func (c *Client) correct(t fleet.Type, target *snapshot.Target) {
	l := c.inputs(target)
	c.rec.of(t).search.Revise(func(x *snapshot.Exception, _ bool) bool {
		h := l.held(t, x.Refused.Name)
		if x.Good == nil && h.surely() {
			x.Good = h.lastGood()
			x.Leave = x.Leave || x.Good == nil
		}
		return !snapshot.Same(h.lastGood(), x.Refused)
	})
}
