package planner

import (
	"maps"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Record is what is peculiar of a stream: it corrects what its position says. nil: nothing
// is. A stream that has one is planned for alone where it bends the plan, and pays for what is
// peculiar.
type Record struct {
	types [fleet.NumTypes]peculiar
}

// peculiar is a type's part of a record.
type peculiar struct {
	// held are the names in doubt. None of them is in the held set, whatever the client has.
	held map[string]Doubt
	// next are those that will be once the response in flight is ACKed.
	next map[string]Doubt
	// bisection looks for what the client refuses; nil: none goes on.
	bisection *bisection
	// refused are contents that this stream would not take, and what they held.
	refused map[snapshot.Sum]refusedContent
	// late are responses that a newer one has overtaken, oldest first.
	late []*flight
	// unasked: the client has not asked for the type, and was sent it all the same.
	unasked bool
	gone    fleet.Revision // then: up to which deletions were taken for what it may stick on
}

// Certainty is what a client may have of a name in doubt.
type Certainty uint8

// It may have any of the versions that it was sent, or nothing; or it has one of them for
// sure.
const (
	Anything Certainty = iota
	Something
)

// Doubt is a name that stood in a response which the client refused, or of which it is not
// believed what it reports.
type Doubt struct {
	Certainty Certainty
	Last      *snapshot.Resource // the last version that the client confirmed
	Version   string             // as reported, if there is no such
	Refs      []fleet.Ref        // what any of the versions names
	// Supposed: Last is what the client had when it settled. It reports what it is to have now, and may have taken that
	// instead.
	Supposed bool
}

func (p *peculiar) empty() bool {
	return len(p.held)+len(p.next)+len(p.refused)+len(p.late) == 0 && p.bisection == nil && !p.unasked
}

// of returns the type's part, which is not to be changed.
func (r *Record) of(t fleet.Type) *peculiar {
	if r == nil {
		return &none
	}
	return &r.types[t]
}

var none peculiar

// bends reports whether the record changes what is planned. A content that was refused only
// keeps that back.
func (r *Record) bends() bool {
	if r == nil {
		return false
	}
	for i := range r.types {
		p := &r.types[i]
		if len(p.held)+len(p.next) > 0 || p.bisection != nil || p.unasked {
			return true
		}
	}
	return false
}

// bisecting reports whether some culprit is looked for.
func (r *Record) bisecting() bool {
	return r != nil && slices.ContainsFunc(r.types[:], func(p peculiar) bool { return p.bisection != nil })
}

// refuses reports whether the stream refused a content.
func (r *Record) refuses(t fleet.Type, content snapshot.Sum) bool {
	if r == nil {
		return false
	}
	_, refused := r.types[t].refused[content]
	return refused
}

// peculiar returns a type's part to be changed.
func (c *Client) peculiar(t fleet.Type) *peculiar {
	if c.rec == nil {
		c.rec = new(Record)
	}
	return &c.rec.types[t]
}

// heal drops the record if nothing is peculiar any more.
func (c *Client) heal() {
	if c.rec != nil && !slices.ContainsFunc(c.rec.types[:], func(p peculiar) bool { return !p.empty() }) {
		c.rec = nil
	}
}

// doubt puts a name in doubt: what is held of it counts no more.
func (c *Client) doubt(t fleet.Type, name string, d Doubt) {
	p := c.peculiar(t)
	if p.held == nil {
		p.held = make(map[string]Doubt)
	}
	p.held[name] = d
	tr := &c.pos.Types[t]
	if r := tr.Held.Get(name); r != nil {
		tr.Held = c.in.apply(t, tr.Held, []snapshot.Edit{{Old: r}})
	}
}

// doubtChanges puts all that a response changes in doubt.
func (c *Client) doubtChanges(t fleet.Type, changes []change) {
	p, tr := c.peculiar(t), &c.pos.Types[t]
	if p.held == nil && len(changes) > 0 {
		p.held = make(map[string]Doubt, len(changes))
	}
	p.held, tr.Held = c.in.doubted(t, p.held, tr.Held, changes)
}

// doubted returns what is in doubt, and what is held, once changes are in doubt. It writes
// to doubts.
func (in interner) doubted(t fleet.Type, doubts map[string]Doubt, held *snapshot.Set, changes []change) (map[string]Doubt, *snapshot.Set) {
	var edits []snapshot.Edit
	for _, ch := range changes {
		doubts[ch.name] = ch.doubtful()
		if r := held.Get(ch.name); r != nil {
			edits = append(edits, snapshot.Edit{Old: r})
		}
	}
	return doubts, in.apply(t, held, edits)
}

// names are those in doubt, in order.
func names(doubts map[string]Doubt) []string { return slices.Sorted(maps.Keys(doubts)) }
