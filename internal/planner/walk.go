package planner

import (
	"fairlead/internal/fleet"
)

// step is what to do at a position. It is immutable, and shared by all streams there.
type step struct {
	response *Response // nil: there is nothing to send
	after    Position  // then, or once the response went out; see leadsFrom
	rests    [fleet.NumTypes]rest
	kept     []keeping
	again    []*Response // what would go out, had this stream not refused it
	// warmStays: after has no Warm, as that is still the one of before.
	warmStays bool
}

// leadsFrom is the position to which the step leads from the one that it is for.
func (s *step) leadsFrom(p *Position) Position {
	after := s.after
	if s.warmStays {
		after.Warm = p.Warm
	}
	return after
}

var order = fleet.Types()

// walk looks at the types in the order in which a client is built up, and leaves out those
// whose last response is unanswered. It depends on nothing but its inputs.
func (l *inputs) walk() *step {
	l.in.walks.Add(1)
	s := &step{after: *l.pos}
	l.pos, l.rests = &s.after, [fleet.NumTypes]rest{}
	for _, t := range order {
		if l.visit(s, t, false) {
			return s
		}
	}
	if l.pos.subscribed(fleet.Cluster) && !l.visit(s, fleet.Cluster, true) {
		l.visit(s, fleet.Endpoint, false) // whose clusters may be known to stay by now
	}
	return s
}

// visit plans for a type, and reports whether there is something to send.
func (l *inputs) visit(s *step, t fleet.Type, last bool) bool {
	if !l.pos.subscribed(t) || l.pos.Types[t].InFlight {
		return false
	}
	p := l.plan(t, last)
	s.kept = append(s.kept, p.kept...)
	if p.response != nil && l.rec.refuses(t, p.response.content) {
		s.again = append(s.again, p.response)
		p.response, p.rest = nil, behind
	}
	if p.response != nil {
		s.response = p.response
		l.in.sent(l.pos, p.response)
		return true
	}
	l.rests[t], s.rests[t] = p.rest, p.rest
	if t == fleet.Cluster && p.rest == inStep {
		l.pos.Warm = l.target
	}
	return false
}
