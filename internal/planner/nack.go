package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
	"fairlead/internal/snapshot"
)

// ProbablyRefused stands for the words of a client that polls: it cannot refuse.
const ProbablyRefused = repair.ProbablyRefused

// Nack takes in the NACK of the response that is in flight, or of one that it has
// overtaken, and finds out who is to blame (SEMANTICS 3.5): the changed name that the
// words put first, as that client quotes names; else the only changed one; else those
// that a bisection finds. It reports false for any other nonce: such an answer is late, or a heartbeat's, and
// nobody is to blame.
//
// From here on the client may hold any of the response's resources, old or new: Envoy
// applies half of what it refuses (PROTOCOL rule 16). They are in doubt until a later
// response about them is ACKed, and so they are sent again, the blamed at their last
// good version.
func (c *Client) Nack(now time.Time, t fleet.Type, nonce, words string) (Findings, bool) {
	c.now = now
	ok := c.refuse(t, nonce, words)
	return c.report(), ok
}

func (c *Client) refuse(t fleet.Type, nonce, words string) bool {
	if beat := c.heartbeats[t].answered(nonce); beat != nil {
		for _, x := range beat.Resources {
			c.lose(t, x)
		}
		return false
	}
	tr := &c.pos.Types[t]
	f := c.takeLate(t, nonce)
	if f == nil {
		if f = c.inFlight[t]; f == nil || f.nonce != nonce {
			return false
		}
		c.inFlight[t], tr.Next, tr.NextDoubts, tr.InFlight = nil, nil, nil, false
		c.passed(f)
	}
	tr.Unknown = f.blind // what it held is no better known than before
	c.counts.refusals++
	if rev := f.target.Revision; c.settled.confirmed[t] >= rev { // with what it was to have there before it was offered this
		c.settled.confirmed[t] = max(rev, 1) - 1
	}
	c.pos.Warm = nil
	c.remember(t, f.Response, words)
	if t == fleet.Cluster && c.counts.last == f.content {
		c.counts.refused, c.counts.words = true, words
	}
	f.doubt(c.in, tr, f.presumed) // of an overtaken one they are already
	c.accuse(t, f.Response, words)
	return true
}

// refusedContent is a content that this stream would not take: what it changed or, if it was
// only an answer, the set that it was given out of.
type refusedContent struct {
	changes []change
	set     *snapshot.Set
	then    []*snapshot.Resource // what the node's view had under the changes' names
	lacked  []snapshot.Lack      // clusters that the changes name and that the client was not given
	words   string
	at      fleet.Revision // the target's
	// again is where it was looked into once more.
	again repair.Place
}

// maxRefused is how many refused contents of a type are remembered.
const maxRefused = 1_000

func (c *Client) remember(t fleet.Type, r *Response, words string) {
	p, l := c.edit(t), c.inputs(c.overlay.base)
	if p.refused == nil {
		p.refused = make(map[snapshot.Sum]refusedContent)
	}
	for content := range p.refused {
		if len(p.refused) < maxRefused {
			break
		}
		delete(p.refused, content)
	}
	p.checkedAt = nil
	x := refusedContent{words: words, at: l.target.Revision, changes: r.changes, set: r.target.Types[t]}
	for _, ch := range r.changes {
		x.then = append(x.then, l.target.View[t].Get(ch.name))
		if ch.new != nil && len(x.lacked) < mostLackedOfContent {
			x.lacked = append(x.lacked, l.lacked(r.target.Lacked(ch.new))...)
		}
	}
	p.refused[r.content] = x
}

// accuseAgain looks into contents that were refused, and would go out again: the bisection of
// that time ended early, because the client gave the names up.
func (c *Client) accuseAgain(again []*Response) {
	for _, r := range again {
		t := r.Type
		p, all, at := c.edit(t), c.candidates(r), c.place()
		x := p.refused[r.content]
		if p.search == nil {
			if x.again == at || len(all) == 0 || r.blind && t.FullSet() {
				continue
			}
			x.again, p.checkedAt = at, nil
			p.refused[r.content] = x
		}
		c.refusedBy(repair.Refusal{Type: t, Words: x.words, Candidates: all, Again: true, After: r.after})
	}
}

// offerAgain forgets the refused contents of which the node's view has something else by now, or a cluster that they lacked: a
// later revision that brings a refused version back asks again, once (SEMANTICS 3.6a). That an
// exception came or went is no reason, but for mere answers, which changed nothing.
func (c *Client) offerAgain(target *snapshot.Target) {
	if c.rec == nil {
		return
	}
	l := c.inputs(target)
	for _, t := range order {
		if c.pos.subscribed(t) && (!c.pos.Types[t].InFlight || c.mayOvertake(t)) {
			c.rec.types[t].offerAgain(l, t)
		}
	}
}

func (p *typeRecord) offerAgain(l *inputs, t fleet.Type) {
	if p.checkedAt == l.target {
		return
	}
	p.checkedAt = l.target
	for content, x := range p.refused {
		switch {
		case x.over(l, t):
			delete(p.refused, content)
		case x.excepted(l, t): // when that ends, somebody has to be found anew
			x.again = repair.Place{}
			p.refused[content] = x
		}
	}
}

// excepted reports whether the node's target keeps back something that the content brought.
func (x *refusedContent) excepted(l *inputs, t fleet.Type) bool {
	return slices.ContainsFunc(x.changes, func(ch change) bool { return ch.new != nil && l.target.Excepts(t, ch.new) })
}

func (x *refusedContent) over(l *inputs, t fleet.Type) bool {
	if len(x.changes) == 0 {
		return x.set != l.target.Types[t]
	}
	if snapshot.AnyCame(x.lacked, l.target.View) {
		return true
	}
	for i, ch := range x.changes {
		now := l.target.View[t].Get(ch.name)
		if !snapshot.Same(x.then[i], now) {
			return true
		}
		if ch.new != nil && snapshot.Same(ch.new, now) && now.Revision > x.at { // or a later revision brought it back
			return true
		}
	}
	return false
}
