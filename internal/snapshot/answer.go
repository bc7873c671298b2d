package snapshot

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
)

const (
	// overtakeAfter is how long newer clusters wait for the answer to older ones: a node
	// that warms gets newer content all the same (PROTOCOL rule 15).
	overtakeAfter = 20 * time.Second
	// maxLate is how many overtaken responses are remembered, of a type.
	maxLate = 16
)

// Sent takes in that a response went out under a nonce.
func (c *Client) Sent(r *Response, nonce string) {
	tr := &c.types[r.Type]
	r.Nonce, r.sentAt, r.refusals = nonce, c.Now, c.refusals
	c.sent = true
	if r.Heartbeat {
		tr.beats.sent(r)
		return
	}
	tr.inFlight = r
	if tr.last.content != r.content {
		tr.last = last{content: r.content}
	}
	tr.answer, tr.inStep, tr.unknown = false, false, false
	for _, x := range r.Resources {
		delete(tr.owed, x.Name)
	}
	for _, n := range r.answered {
		delete(tr.owed, n)
	}
	switch r.Type {
	case fleet.Cluster:
		c.oweEndpoints(r)
	case fleet.Route:
		c.oweEntries(r)
	}
}

// oweEndpoints: after a cluster was added or changed its endpoints are sent again,
// unasked, behind it. Delta Envoy never asks for them and waits 15 s (PROTOCOL rule 14).
func (c *Client) oweEndpoints(r *Response) {
	c.oweEndpointsOf(&c.types[fleet.Endpoint], r)
}

// oweWarming: the first request for endpoints crossed clusters on their way. What it says
// of them the client has, and waits for all the same.
func (c *Client) oweWarming(tr *track) {
	if f := c.types[fleet.Cluster].inFlight; f != nil {
		c.oweEndpointsOf(tr, f)
	}
}

func (c *Client) oweEndpointsOf(tr *track, r *Response) {
	for _, ch := range r.changes {
		if ch.new != nil && ch.new.EDSName != "" && tr.sub.Named(ch.new.EDSName) {
			tr.owe(ch.new.EDSName, c.Now)
			tr.inStep = false
		}
	}
}

// last is the content that was sent last, and whether the client would not take it. Sent
// again with nothing in between, an Envoy ACKs a set with a cluster that sticks, and goes
// without that (SEMANTICS 3.8d).
type last struct {
	content Sum
	refused bool
	text    string
}

// Acknowledge takes in an ACK. It reports false for a nonce that is not that of the
// response in flight: such an answer is late, or a heartbeat's, and settles nothing.
func (c *Client) Acknowledge(t fleet.Type, nonce string) bool {
	tr := &c.types[t]
	defer func() { tr.explained = "" }()
	f := tr.inFlight
	if f == nil || f.Nonce != nonce {
		if late := tr.overtaken(nonce); late != nil && late.presumed {
			c.acquit(t, late, "")
		}
		tr.beats.answered(nonce)
		return false
	}
	if tr.last.refused && tr.last.content == f.content && t == fleet.Cluster && c.Envoy && !c.Delta {
		c.Refuse(t, nonce, tr.last.text)
		return true
	}
	c.acquitUnsaid(t)
	tr.inFlight, tr.inStep = nil, false
	tr.late = nil // whatever they brought, this one came after them
	tr.hold(f, c.Now, c.TTL)
	tr.confirmedAt = c.Now
	if t == fleet.Cluster && !f.cut {
		c.warm = f.target
		if f.refusals != c.refusals || f.target.History != c.history {
			c.warm = nil
		}
	}
	if try := tr.trial; try != nil && try.offered != nil && f.brought(try.offered) {
		try.taken()
		c.trialMoves++
	}
	if f.complete && f.target.History == c.history && len(tr.owed) == 0 {
		tr.confirm(f.target.Revision)
	}
	return true
}

// brought reports whether the client has all suspects of a group once it took the response.
func (r *Response) brought(g *group) bool {
	return !slices.ContainsFunc(g.suspects, func(s suspect) bool { return !Same(r.after.Get(s.refused.Name), s.refused) })
}

// Answerable returns the response that an answer with this nonce is about: the one in
// flight, or one that it has overtaken. nil if there is none.
func (c *Client) Answerable(t fleet.Type, nonce string) *Response {
	tr := &c.types[t]
	if f := tr.inFlight; f != nil && f.Nonce == nonce {
		return f
	}
	if i := tr.lateIndex(nonce); i >= 0 {
		return tr.late[i]
	}
	return nil
}

func (tr *track) lateIndex(nonce string) int {
	return slices.IndexFunc(tr.late, func(r *Response) bool { return r.Nonce == nonce })
}

// overtaken takes the overtaken response of that nonce out, nil if there is none.
func (tr *track) overtaken(nonce string) *Response {
	i := tr.lateIndex(nonce)
	if i < 0 {
		return nil
	}
	r := tr.late[i]
	tr.late = slices.Delete(tr.late, i, i+1)
	return r
}

// overtake plans newer clusters although older ones were not answered. What is
// unanswered is in doubt from then on, and so stands in the newer response as well. nil
// if there is nothing newer to say.
func (c *Client) overtake(t fleet.Type, target *Target) *Response {
	tr := &c.types[t]
	f := tr.inFlight
	if t != fleet.Cluster || !f.presumed && c.Now.Sub(f.sentAt) < overtakeAfter || target.Types[t] == f.target.Types[t] {
		return nil
	}
	held := tr.held
	for _, ch := range f.changes {
		tr.held = tr.held.With(doubtful(ch))
	}
	tr.inFlight = nil
	r, _ := c.plan(t, target, true)
	if r != nil && r.content != f.content && !tr.wouldRepeat(r) {
		tr.late = append(tr.late, f)
		if len(tr.late) > maxLate {
			tr.late = slices.Delete(tr.late, 0, 1)
		}
		return r
	}
	tr.held, tr.inFlight = held, f
	return nil
}

// wouldRepeat reports whether the stream refused this content before.
func (tr *track) wouldRepeat(r *Response) bool {
	_, refused := tr.refused[r.content]
	return refused
}

// Due returns when Next may have something to say although nothing happened, the zero
// time if only an event can bring that about.
func (c *Client) Due() time.Time {
	var due time.Time
	sooner := func(t time.Time) {
		if t.After(c.Now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	if c.base != nil {
		if at := c.unaskedAt(c.base); !at.IsZero() {
			sooner(at)
		}
	}
	for i := range c.types {
		tr := &c.types[i]
		if !tr.subscribed {
			continue
		}
		if c.TTL {
			if _, shortest := tr.held.expiring(); shortest > 0 {
				sooner(tr.beats.due(shortest))
			}
		}
		if f := tr.inFlight; f != nil && fleet.Type(i) == fleet.Cluster {
			sooner(f.sentAt.Add(overtakeAfter))
			if at := c.stuckAt(); !at.IsZero() {
				sooner(at)
			}
		}
		if c.mayWarm() {
			sooner(c.lostAt.Add(overtakeAfter))
		}
		if c.patient(fleet.Type(i)) {
			for _, since := range tr.owed {
				sooner(since.Add(missingAfter))
			}
		}
	}
	return due
}
