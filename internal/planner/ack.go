package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// Answerable returns the response that an answer with this nonce is about: the one in
// flight, or one that it has overtaken. nil if there is none.
func (c *Client) Answerable(t fleet.Type, nonce string) *Response {
	if f := c.inFlight[t]; f != nil && f.nonce == nonce {
		return f.Response
	}
	if i := c.rec.of(t).lateIndex(nonce); i >= 0 {
		return c.rec.of(t).late[i].Response
	}
	return nil
}

// Ack takes in an ACK. A nonce that is not that of the response in flight is late, or a
// heartbeat's, and settles nothing. words stand beside an ACK in state of the world: they are
// about an earlier response that was held back (PROTOCOL rule 16).
func (c *Client) Ack(now time.Time, t fleet.Type, nonce, words string) Findings {
	c.now = now
	if words != "" {
		c.explain(t, words)
	}
	f := c.inFlight[t]
	if f == nil || f.nonce != nonce {
		late := c.takeLate(t, nonce)
		if late != nil && late.presumed {
			c.clear(t, late, "")
		}
		if c.heartbeats[t].answered(nonce) == nil && late == nil && f == nil {
			c.askedAgain(t)
		}
		return c.report()
	}
	if c.counts.refused && c.counts.last == f.content && t == fleet.Cluster && c.pos.Kind.Envoy && !c.pos.Kind.Delta {
		c.refuse(t, nonce, c.counts.words)
		return c.report()
	}
	c.clearUnsaid(t, words)
	c.take(t, f)
	return c.report()
}

// askedAgain takes in a second ACK of one response. In state of the world it is how an Envoy asks for its scoped routes again, of
// which it forgot all when the last listener went that used them: it did not say so then, and its listener waits for an answer.
func (c *Client) askedAgain(t fleet.Type) {
	if tr := &c.pos.Types[t]; t == fleet.ScopedRoute && c.pos.Kind.Envoy && !c.pos.Kind.Delta && tr.Sub != nil {
		tr.Answer = true
	}
}

// take takes in that the client has what a response brought.
func (c *Client) take(t fleet.Type, f *sentResponse) {
	tr := &c.pos.Types[t]
	c.rec.of(t).search.Taken(tr.Next)
	before := tr.Held
	tr.Held, tr.Next, tr.InFlight = tr.Next, nil, false
	tr.Doubts, tr.NextDoubts = tr.NextDoubts, nil
	c.reports[t] = f.after
	c.inFlight[t] = nil
	if c.rec != nil {
		c.rec.types[t].late = nil // whatever they brought, this one came after them
	}
	c.passed(f)
	c.expireLate(t, f, before)
	c.times.confirmed[t] = c.now
	if t == fleet.Cluster && !f.cut {
		c.pos.Warm = f.target
		if f.refusals != c.counts.refusals || f.target.History != c.settled.history {
			c.pos.Warm = nil
		}
	}
	if f.complete && f.target.History == c.settled.history && tr.Pending.Len() == 0 {
		c.confirm(t, f.target.Revision)
	}
}

func (p *typeRecord) lateIndex(nonce string) int {
	return slices.IndexFunc(p.late, func(f *sentResponse) bool { return f.nonce == nonce })
}

// takeLate takes the overtaken response of that nonce out, nil if there is none.
func (c *Client) takeLate(t fleet.Type, nonce string) *sentResponse {
	i := c.rec.of(t).lateIndex(nonce)
	if i < 0 {
		return nil
	}
	p := c.edit(t)
	f := p.late[i]
	p.late = slices.Delete(p.late, i, i+1)
	return f
}
