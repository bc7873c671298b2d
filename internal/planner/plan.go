package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// plan is the work on one response of one type.
type plan struct {
	*inputs
	t       fleet.Type
	tr      *Track
	last    bool // all else was sent: clusters may be taken away
	r       *Response
	pending []change             // may go out now, by name
	given   []snapshot.Edit      // what the response changes of what is held
	doubts  *Doubts              // what is in doubt after it
	kept    []keeping            // what is kept back
	named   *namers              // what names clusters still; nil while nobody has asked
	doubted map[string]struct{}  // names under which clusters in doubt get endpoints; nil while nobody has asked
	used    uses                 // by what the client has of withheld resources
	unsaid  []*snapshot.Resource // names whose asking cannot be answered
	asked   []string             // names whose asking is answered by an error
	waiting bool                 // something has to wait
	lacking bool                 // and nothing stands in for it
	keeps   bool                 // something is kept back, or stays, until somebody writes something
	hold    bool                 // nothing can be sent yet
}

// planned is what came of it.
type planned struct {
	response *Response // nil if there is nothing to send now
	rest     rest      // what is left to do beside it
	kept     []keeping
}

// plan makes the response for one type.
func (l *inputs) plan(t fleet.Type, last bool) planned {
	tr := &l.pos.Types[t]
	p := plan{inputs: l, tr: tr, t: t, last: last, doubts: tr.Doubts}
	p.r = &Response{Type: t, Revision: l.target.Revision, kind: l.pos.Kind, effect: effect{target: l.target, after: tr.Held}}
	p.collect()
	p.keepApart()
	p.leaveTooLarge()
	if t.FullSet() && !l.pos.Kind.Delta {
		p.fullSet()
	} else {
		p.parts()
	}
	if len(p.unsaid) > 0 {
		var edits []snapshot.Edit
		for _, n := range p.unsaid {
			edits = append(edits, snapshot.Edit{Old: n})
		}
		tr.Pending = p.in.apply(t, tr.Pending, edits)
	}
	if p.waiting {
		p.kept = nil
	}
	if p.hold {
		return planned{rest: p.rest(), kept: p.kept}
	}
	p.tell()
	if len(p.r.Resources) == 0 && len(p.r.Removed) == 0 && len(p.r.Nonexistent) == 0 && len(p.r.Errors) == 0 && len(p.r.changes) == 0 && !tr.Answer {
		return planned{rest: p.rest(), kept: p.kept}
	}
	p.r.complete = !p.waiting && !p.rec.bisecting() // else what it brings is not the target's
	p.r.doubts = p.doubts
	return planned{p.r, p.rest(), p.kept}
}

func (p *plan) rest() rest {
	switch {
	case p.waiting:
		return behind
	case p.keeps:
		return keptBack
	}
	return inStep
}

// take puts a change into the response.
func (p *plan) take(ch change) {
	if ch.missing() {
		return // nothing changes for the client
	}
	if p.r.changes == nil {
		p.r.changes, p.given = make([]change, 0, len(p.pending)), make([]snapshot.Edit, 0, len(p.pending))
	}
	p.r.changes = append(p.r.changes, ch)
	if !ch.old.is(ch.new) || ch.old.res == nil {
		p.given = append(p.given, snapshot.Edit{Old: ch.old.res, New: ch.new})
	}
}

// settleAfter works out what the client holds once it took the response, and what is in
// doubt then.
func (p *plan) settleAfter() {
	p.given = slices.DeleteFunc(p.given, func(e snapshot.Edit) bool { return e.Old == nil && e.New == nil })
	p.r.after = p.in.apply(p.t, p.tr.Held, p.given)
	if want, _ := p.wanted(p.t); p.r.after != want && p.r.after.Equal(want) {
		p.r.after = want
	}
	if p.doubts.Len() == 0 {
		return
	}
	told := make([]string, 0, len(p.r.changes))
	for _, ch := range p.r.changes {
		told = append(told, ch.name)
	}
	p.doubts = p.in.without(p.t, p.doubts, told)
}

// parts: what differs and what is owed, as far as it fits. The rest follows the ACK. In state of the world that a resource is no more cannot be said.
func (p *plan) parts() {
	delta, polls := p.pos.Kind.Delta, p.pos.Kind.Polls
	if !delta {
		p.pending = slices.DeleteFunc(p.pending, func(ch change) bool { return ch.new == nil })
	}
	fitting := p.pending
	if !polls {
		fitting = p.fitting()
	}
	for _, ch := range fitting {
		switch {
		case ch.new != nil:
			p.send(ch.new)
		case p.pos.Kind.Errors && ch.missing() && p.tr.Sub.Named(ch.name): // not one that was given up: what is delivered by name may be there
			p.asked = append(p.asked, ch.name) // by an error
		default:
			p.remove(ch.name)
		}
		p.take(ch)
	}
	p.settleAfter()
	if !delta {
		p.r.Version = p.r.after.Sum()
	}
	if polls && (len(p.r.changes) > 0 || p.tr.Answer) {
		p.r.Resources = p.r.after.Sorted()
	}
}

// fitting returns the changes that one response may hold: one at least.
func (p *plan) fitting() []change {
	size := 0
	for _, n := range p.r.Nonexistent {
		size += 2*len(n) + 16
	}
	for i, ch := range p.pending {
		size += len(ch.name) + 4
		for _, a := range p.r.Aliases[ch.name] {
			size += len(a) + 4
		}
		if ch.new != nil {
			size += ch.new.Size()
		}
		if size > MaxResponse && i > 0 {
			p.waiting, p.r.cut = true, true
			return p.pending[:i]
		}
	}
	return p.pending
}

func (p *plan) send(r *snapshot.Resource) {
	p.r.Resources = append(p.r.Resources, r)
	p.r.content = p.r.content.Plus(r.Key())
	for _, a := range p.r.Aliases[r.Name] {
		p.answer(a, r.Version)
	}
}

func (p *plan) remove(name string) {
	p.r.Removed = append(p.r.Removed, name)
	p.answer(name, "\x00removed")
}

// answer notes that the response answers the asking for a name, and how.
func (p *plan) answer(name, how string) {
	p.r.answered = append(p.r.answered, name)
	p.r.content = p.r.content.Plus(snapshot.KeyOf(name, how))
}

// fullSet: "a state-of-the-world response must hold every subscribed resource", so what
// has to wait goes out as the client has it.
func (p *plan) fullSet() {
	taken := make(map[string]struct{}, len(p.pending))
	for _, ch := range p.pending {
		taken[ch.name] = struct{}{}
		p.take(ch)
	}
	for _, name := range p.doubts.names() {
		d := p.doubts.of(name)
		if _, ok := taken[name]; !ok && d.Last != nil {
			p.take(change{name: name, old: has{doubt: d}, new: d.Last})
		}
	}
	p.settleAfter()
	p.doubts = nil // what the set has not the client has not
	if len(p.r.changes) == 0 && !p.tr.Answer {
		return
	}
	if p.tr.Unknown && p.lacking || p.takesLeft() {
		// What the client has is not known: a set without what waits would take it away.
		p.r.changes, p.hold, p.waiting = nil, true, true
		return
	}
	p.r.blind = p.tr.Unknown
	p.r.Resources = p.r.after.Sorted()
	p.r.Version = p.r.after.Sum()
	p.r.content = p.r.Version
}

// takesLeft reports whether the set is without a name that must be left alone.
func (p *plan) takesLeft() bool {
	for n := range p.target.Leaves(p.t) {
		if r := p.target.View[p.t].Get(n); r != nil && p.tr.Sub.Gets(r) && p.r.after.Get(n) == nil {
			return true
		}
	}
	return false
}
