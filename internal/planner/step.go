package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Outcome is all that the owner of a stream has to do.
type Outcome struct {
	// Findings are to be passed on first: then the target is about to be another one.
	Findings
	// Response is to be sent next, nil while there is nothing to send. Sent says that it was.
	Response *Response
}

// Step returns the response that brings the client one step nearer to the target. A newer
// target in the middle of a plan simply is the target. A step that was worked out before, for
// this stream or another one, costs nothing.
func (c *Client) Step(now time.Time, target *snapshot.Target) Outcome {
	c.now, c.planned = now, nil
	c.enter(target.History)
	c.retry(target)
	if c.doubtTaken(target); c.found.Any() {
		return Outcome{Findings: c.report()} // the target is about to be another one
	}
	c.overlay.base = target
	c.ripen()
	c.pushUnasked(target)
	c.presumeStuck(target)
	c.giveUpUnasked()
	for !c.found.Any() {
		effective := c.effective(target)
		if r := c.heartbeat(effective); r != nil {
			return Outcome{Response: r}
		}
		c.offerAgain(target)
		if s := c.overtake(effective); s != nil {
			return c.offer(s)
		}
		c.in.steps.Add(1)
		s := c.in.remembered(&c.pos, c.rec, effective)
		if s == nil {
			s = c.in.step(c.inputs(effective))
		}
		c.note(s, effective)
		c.accuseAgain(s.again)
		if s.response != nil || !c.advance(target) {
			return c.offer(s)
		}
	}
	return Outcome{Findings: c.report()}
}

func (c *Client) offer(s *step) Outcome {
	if s.response != nil {
		c.planned = s
	}
	return Outcome{Findings: c.report(), Response: s.response}
}

// note takes in what a step found of the types that are at rest.
func (c *Client) note(s *step, target *snapshot.Target) {
	for i, r := range s.rests {
		if r >= keptBack {
			c.confirm(fleet.Type(i), target.Revision) //nolint:gosec // one of nine
		}
	}
	if c.settled.confirmed[fleet.Listener] > 0 && !c.settled.followed {
		c.settled.followed = !c.lacksRoutes()
	}
	for _, k := range s.kept {
		if before, ok := c.settled.kept[k.Ref]; ok {
			k.since = min(k.since, before.since)
		}
		if c.settled.kept == nil {
			c.settled.kept = make(map[fleet.Ref]keeping)
		}
		c.settled.kept[k.Ref] = k
	}
	if s.response == nil {
		c.pos = s.leadsFrom(&c.pos)
	}
}

// Sent takes in that the response of the last step went out under a nonce.
func (c *Client) Sent(now time.Time, r *Response, nonce string) {
	c.now, c.counts.sent = now, true
	f := &sentResponse{Response: r, nonce: nonce, sentAt: now, refusals: c.counts.refusals}
	if r.Heartbeat {
		c.heartbeatsOf(r.Type).sent(f)
		return
	}
	if c.planned == nil || c.planned.response != r {
		return // of another step
	}
	if c.inFlight[r.Type] != nil {
		c.overtaken(r)
	}
	c.pos, c.planned = c.planned.leadsFrom(&c.pos), nil
	c.inFlight[r.Type] = f
	c.follow(f)
	if r.Type == fleet.Cluster && c.counts.last != r.content {
		c.counts.last, c.counts.refused, c.counts.words = r.content, false, ""
	}
	c.heal()
}

// asking is that names were asked for, and when.
type asking struct {
	typ   fleet.Type
	names *snapshot.Set
	at    time.Time
}

// missingAfter is when an Envoy is told that a route or an extension does not exist.
// Told before its own 15 s are over it keeps the listener warming for ever; afterwards it
// serves, and the answer changes nothing for it (PROTOCOL rule 5).
const missingAfter = 20 * time.Second

// pastFor is how long a stream that says nothing of clusters keeps what its client held before, which may be a whole fleet. One that may be stuck is sent
// clusters by then.
const pastFor = time.Minute

// pastUntil is when that is over, the zero time if nothing is kept.
func (c *Client) pastUntil() time.Time {
	if c.origin.Before == nil && c.origin.Between == nil || c.times.opened.IsZero() {
		return time.Time{}
	}
	return c.times.opened.Add(pastFor)
}

// ripen flips what the clock decides of the position.
func (c *Client) ripen() {
	if at := c.pastUntil(); !at.IsZero() && !c.now.Before(at) {
		c.origin.Before, c.origin.Between = nil, nil
	}
	c.pos.Warming = c.mayWarm()
	for len(c.times.asked) > 0 {
		a := c.times.asked[0]
		tr := &c.pos.Types[a.typ]
		if tr.Pending.Len() > 0 && c.now.Before(a.at.Add(missingAfter)) {
			return
		}
		c.times.asked = c.times.asked[1:]
		var late []*snapshot.Resource
		for asked := range a.names.All() { // they may be few of many that wait
			n := tr.Pending.Get(asked.Name)
			if n == nil || n.IsOverdue() {
				continue
			}
			if !slices.ContainsFunc(c.times.asked, func(b asking) bool { return b.typ == a.typ && b.names.Get(n.Name) != nil }) {
				late = append(late, snapshot.Overdue(n.Name))
			}
		}
		tr.Pending = c.in.adding(a.typ, tr.Pending, late...)
	}
	c.times.asked = nil
}

// mayWarm: see Position.Warming.
func (c *Client) mayWarm() bool {
	return !c.times.lost.IsZero() && !c.pos.subscribed(fleet.Cluster) && c.now.Before(c.times.lost.Add(overtakeAfter))
}

// Due returns when Step may have something to say although nothing happened, the zero
// time if only an event can bring that about.
func (c *Client) Due(now time.Time) time.Time {
	c.now = now
	var due time.Time
	sooner := func(t time.Time) {
		if t.After(c.now) && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	if base := c.overlay.base; base != nil && c.origin.Past.Unclean {
		sooner(c.unaskedAt(base))
	}
	if c.pos.Kind.TTL {
		for i := range c.pos.Types {
			if _, shortest := c.pos.Types[i].Held.Expiring(); shortest > 0 {
				sooner(c.heartbeatsOf(fleet.Type(i)).due(shortest)) //nolint:gosec // one of nine
			}
		}
	}
	if f := c.inFlight[fleet.Cluster]; f != nil {
		sooner(f.sentAt.Add(overtakeAfter))
		sooner(c.stuckAt())
	}
	sooner(c.deafAt())
	sooner(c.pastUntil())
	if c.mayWarm() {
		sooner(c.times.lost.Add(overtakeAfter))
	}
	for _, a := range c.times.asked {
		if c.pos.Types[a.typ].Pending.Len() > 0 {
			sooner(a.at.Add(missingAfter))
		}
	}
	return due
}
