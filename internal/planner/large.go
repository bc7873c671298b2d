package planner

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// A client that takes so many bytes at once, and no more, would end its stream over a larger response and come back for it for
// ever (PROTOCOL rule 25). What makes it too large is kept back: the client goes on with what it has of that, and with all else.

// envelope is what a response takes besides its resources, at most.
const envelope = 512

// leaveTooLarge takes out of the changes what the client could not take.
func (p *plan) leaveTooLarge() {
	most := p.pos.Kind.MaxSet - envelope
	if p.pos.Kind.MaxSet == 0 {
		return
	}
	if p.pos.Kind.Delta || !p.t.FullSet() { // these go out in parts
		p.leave(func(ch change) bool { return p.takes(ch) > most })
		return
	}
	size := p.heldSize()
	grows := func(ch change) int { return p.takes(ch) - ch.old.last().Takes(p.pos.Kind.Delta, p.pos.Kind.TTL) }
	all := 0
	for _, ch := range p.pending {
		all += grows(ch)
	}
	if size+all <= most {
		return
	}
	if p.tr.Unknown { // a set without some of it might take away what the client has
		p.leave(func(ch change) bool { return ch.new != nil })
		p.hold = true
		return
	}
	// What makes room goes first, then what is there the longest.
	inOrder := slices.Clone(p.pending)
	slices.SortFunc(inOrder, func(a, b change) int {
		return cmp.Or(cmp.Compare(max(0, min(1, grows(a))), max(0, min(1, grows(b)))), cmp.Compare(revisionOf(a), revisionOf(b)), strings.Compare(a.name, b.name))
	})
	over := make(map[string]struct{})
	for _, ch := range inOrder {
		if n := grows(ch); n <= 0 || size+n <= most {
			size += n
		} else {
			over[ch.name] = struct{}{}
		}
	}
	p.leave(func(ch change) bool { _, is := over[ch.name]; return is })
}

// leave keeps changes back, each until it is smaller, or something else is.
func (p *plan) leave(tooLarge func(change) bool) {
	p.pending = slices.DeleteFunc(p.pending, func(ch change) bool {
		if !tooLarge(ch) {
			return false
		}
		ref := fleet.Ref{Type: p.t, Name: ch.name}
		p.kept, p.keeps = append(p.kept, keeping{Ref: ref, by: ref, since: ch.new.Revision}), true
		return true
	})
}

func (p *plan) takes(ch change) int { return ch.new.Takes(p.pos.Kind.Delta, p.pos.Kind.TTL) }

// heldSize is what a set of what the client has takes.
func (p *plan) heldSize() (n int) {
	for r := range p.tr.Held.All() {
		n += r.Takes(false, p.pos.Kind.TTL)
	}
	for _, name := range p.doubts.names() {
		n += p.doubts.of(name).Last.Takes(false, p.pos.Kind.TTL)
	}
	return n
}

func revisionOf(ch change) fleet.Revision {
	if ch.new == nil {
		return 0
	}
	return ch.new.Revision
}
