package planner

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// What becomes of each difference between a client and its target: all order is decided here (docs/planner.md has the table).

// blocker is why a change may not go out as it is.
type blocker uint8

const (
	unblocked         blocker = iota
	missingDependency         // it names what is not there for this node (SEMANTICS 3.3, 4.3)
	pendingCluster            // it names a cluster that the client is to have, and does not surely have yet, or whose endpoints it awaits (3.9)
	referenced                // a cluster is to go that something in the client names
	inUse                     // what is to go is needed by what the client goes on with (4.5)
	retained                  // what is to go is named by what stands in for a refused version, or is left alone (3.3)
	notDue                    // that there is none may not be said yet (PROTOCOL rule 5)
)

// knowledge is what is known of what a client has of a name.
type knowledge uint8

const (
	certain   knowledge = iota // a version, or nothing
	lastKnown                  // it is in doubt, and there is a version that it confirmed last
	someKnown                  // it has some version, and none is known
	unknown                    // it may have some version, or nothing
)

// situation is all that decides what becomes of a change.
type situation struct {
	blocker
	knowledge
	write    bool // only a write ends what blocks it; else what is under way does
	earlier  bool // there is a version from when the client had all clusters, which may go out
	listener bool
}

// action is what becomes of a change.
type action uint8

const (
	send       action = iota
	substitute        // something else goes out in its place: the earlier version, or the last good one, the one that was offered last or, without any, its removal
	wait              // for what is under way
	keep              // the client keeps what it has
)

// decision is an action, and what it leaves to do.
type decision struct {
	action
	rest
}

// decide is the only place where order is decided.
func decide(s situation) decision {
	d := decision{wait, behind}
	if s.write {
		d = decision{keep, keptBack}
	}
	replace := false
	switch s.blocker {
	case unblocked:
		return decision{send, inStep}
	case retained:
		if s.knowledge == unknown { // a set without it might take it away
			return decision{substitute, inStep}
		}
		return decision{keep, inStep}
	case notDue:
		return decision{wait, inStep}
	case missingDependency: // of a listener the client may have half of what it refused
		replace = s.knowledge == lastKnown || s.knowledge == unknown && s.listener
	case pendingCluster: // else what the client may have would keep clusters that nobody names any more
		replace = s.earlier || s.write && (s.knowledge == lastKnown || s.knowledge == unknown)
	case inUse: // endpoints of a cluster that leaves, which the client may wait for
		replace = s.knowledge == unknown
	case referenced:
		replace = s.knowledge == lastKnown || s.knowledge == unknown // then a set without it might take it away
	}
	if replace {
		d.action = substitute
	}
	return d
}

// collect finds what goes out now: of what differs, and of what is owed an answer.
func (p *plan) collect() {
	want, _ := p.wanted(p.t)
	p.pending = make([]change, 0, max(0, want.Len()-p.tr.Held.Len())) // at least so many differ
	for ch := range p.differences(p.t) {
		if ch, goes := p.judge(ch, nil); goes {
			p.pending = append(p.pending, ch)
		}
	}
	if p.tr.Pending.Len() > 0 && (p.pos.Kind.Delta || !p.t.FullSet()) {
		p.collectOwed()
	}
	slices.SortFunc(p.pending, func(a, b change) int { return strings.Compare(a.name, b.name) })
}

// judge has it decided what becomes of a change, notes what is left to do of it, and returns what goes out for it, if anything does. owed is the
// name whose asking it answers, nil if it is a difference. An answer has no substitute: what differs besides has one.
func (p *plan) judge(ch change, owed *snapshot.Resource) (_ change, goes bool) {
	var s situation
	var by fleet.Ref
	var earlier *snapshot.Resource
	if s.blocker, s.write = p.blocker(ch, owed); s.blocker != unblocked {
		if ch.new != nil {
			by, s.write = p.lacks(p.t, ch)
			s.write = s.write && !(p.tr.Unknown && p.t.FullSet()) // a set would take away what waits
		}
		if owed == nil {
			s.knowledge, s.listener = ch.old.knowledge(), p.t == fleet.Listener
			if s.blocker == pendingCluster {
				earlier = p.earlier(p.t, ch)
				s.earlier = earlier != nil
			}
		}
	}
	d := decide(s)
	p.waiting, p.keeps = p.waiting || d.rest == behind, p.keeps || d.rest == keptBack
	p.lacking = p.lacking || d == decision{wait, behind}
	if d.rest == keptBack && ch.new != nil {
		p.kept = append(p.kept, keeping{Ref: fleet.Ref{Type: p.t, Name: ch.name}, by: by, since: ch.new.Revision})
	}
	if d.action == substitute {
		if ch.new = earlier; earlier == nil {
			ch.new = cmp.Or(ch.old.doubt.Last, ch.old.doubt.Offered)
		}
	}
	return ch, d.action == send || d.action == substitute
}

// blocker finds what blocks a change, and whether only a write ends that where it takes something away.
func (p *plan) blocker(ch change, owed *snapshot.Resource) (b blocker, write bool) {
	switch {
	case ch.new == nil && owed == nil:
		return p.blocksRemoval(ch)
	case ch.new == nil && !ch.old.nothing() && ch.old.knowledge() != unknown && p.stays(ch.name):
		return inUse, !p.rec.bisecting()
	case ch.new == nil && p.pos.Kind.patient(p.t) && !owed.IsOverdue():
		return notDue, false
	case ch.new == nil:
		return unblocked, false
	}
	if _, lacks := lacking(p.t, ch, p.target); lacks && !p.tr.Unknown { // a set without it would take away what is not known
		return missingDependency, false
	}
	if p.waitsForCluster(p.t, ch) {
		return pendingCluster, false
	}
	return unblocked, false
}

// blocksRemoval is what blocks that something is taken away which the client surely has, or had.
func (p *plan) blocksRemoval(ch change) (b blocker, write bool) {
	switch {
	case ch.old.knowledge() == unknown && ch.old.doubt.Offered == nil:
		return unblocked, false
	case p.target.Keeps(fleet.Ref{Type: p.t, Name: ch.name}):
		return retained, false
	case p.t == fleet.Cluster:
		return p.stillReferenced(ch.name)
	case p.stays(ch.name):
		return inUse, !p.rec.bisecting()
	case p.t != fleet.Endpoint:
		return unblocked, false
	case p.pos.Kind.SingleType && p.pos.Kind.Envoy:
		return inUse, true // it ends the stream with the cluster, and does nothing else for a removal
	case p.leavesWithCluster(ch.name):
		return inUse, p.rested(fleet.Cluster) // then the cluster stays
	}
	return unblocked, false
}

// stillReferenced: only when all else was sent it is worked out what names a cluster still.
func (p *plan) stillReferenced(cluster string) (b blocker, write bool) {
	by := byMoving
	if p.last {
		if p.named == nil {
			p.named = p.stillNamed()
		}
		by = p.named.of(cluster)
	}
	if by == byNone {
		return unblocked, false
	}
	return referenced, by == byKept
}
