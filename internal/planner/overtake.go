package planner

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

const (
	// overtakeAfter is how long newer clusters wait for the answer to older ones: a node
	// that warms gets newer content all the same (PROTOCOL rule 15).
	overtakeAfter = 20 * time.Second
	// maxLate is how many overtaken responses are remembered, of a type.
	maxLate = 16
)

// overtake plans newer clusters although older ones were not answered. What is
// unanswered is in doubt from then on, and so stands in the newer response as well. nil
// if there is nothing newer to say.
func (c *Client) overtake(target *snapshot.Target) *step {
	const t = fleet.Cluster
	f := c.inFlight[t]
	if !c.mayOvertake(t) || f.idle.at(&c.pos, target) || !f.presumed && target.Types[t] == f.target.Types[t] {
		return nil
	}
	s := &step{after: c.pos}
	tr := &s.after.Types[t]
	f.doubt(c.in, tr, f.presumed)
	tr.Next, tr.NextDoubts, tr.InFlight = nil, nil, false
	doubting := *c.inputs(target)
	doubting.pos = &s.after
	r := doubting.plan(t, true).response
	switch {
	case r == nil || r.content == f.content, c.rec.refuses(t, r.content):
		f.idle = &idle{c.pos, target}
		return nil
	}
	c.in.sent(&s.after, r)
	s.response = r
	return s
}

// idle is where a client and its target were as there was nothing newer to say beside a response in flight.
type idle struct {
	pos    Position
	target *snapshot.Target
}

func (i *idle) at(p *Position, target *snapshot.Target) bool {
	return i != nil && i.target == target && i.pos == *p
}

// mayOvertake reports whether what is in flight need not be waited for any longer.
func (c *Client) mayOvertake(t fleet.Type) bool {
	f := c.inFlight[t]
	return t == fleet.Cluster && f != nil && (f.presumed || c.now.Sub(f.sentAt) >= overtakeAfter)
}

// overtaken takes in that a response went out beside the one in flight.
func (c *Client) overtaken(r *Response) {
	p := c.edit(r.Type)
	p.late = append(p.late, c.inFlight[r.Type])
	if len(p.late) > maxLate {
		p.late = slices.Delete(p.late, 0, 1)
	}
}
