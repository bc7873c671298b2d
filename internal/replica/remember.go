package replica

import (
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// mostRefusals is how many the database tells of a node: with so many there may be more.
const mostRefusals = 1_000

// remember takes in what a node left behind, when its first stream comes: what it refuses
// becomes exceptions again. A later stream beside it shares that past; one of the same
// kind, or one of all types, finds the node in the midst of something.
func (ns *nodes) remember(a *attachment, asked *nodePast) (revised []fleet.Refusal, resolved []fleet.Refusal) {
	n := a.node
	if len(n.streams) > 0 {
		a.last, a.held = n.last, n.held
		if n.overlaps(a) {
			a.last = xds.LastStream{Known: true, Settled: a.last.Settled}
			if settled, held := n.confirmed(); settled >= a.last.Settled {
				a.last.Settled, a.held = settled, held
			}
		}
		for x := range n.streams {
			if x.subscriber.view.id != a.subscriber.view.id {
				a.last.Settled, a.held = 0, fleet.Held{} // the other one's labels are others
			}
		}
		return nil, nil
	}
	n.last, n.held = xds.LastStream{}, fleet.Held{}
	if n.ofEnded != nil {
		n.ofEnded.lost, n.ofEnded.ahead = nil, nil
	}
	if asked == nil || asked.missed {
		n.offer = max(n.offer, refusal.UnknownOffer(ns.views.content.revision))
		ns.missed[n] = struct{}{}
		signal(ns.missing)
	}
	switch {
	case asked == nil || asked.missed && !asked.Known: // it may have left anything behind
		n.last.Known = asked == nil || a.resumed // nil: it had a stream a moment ago
		a.last = n.last
		return nil, nil
	case !asked.Known:
		return nil, nil
	}
	n.offer = max(n.offer, asked.Offer+1)
	snap := a.subscriber.view.snap
	n.last, n.held = xds.LastStream{Known: true, Settled: asked.Settled, Clean: asked.Clean}, asked.Held
	if n.last.Settled > snap.Revision || asked.View != a.subscriber.view.id {
		n.last.Settled, n.held = 0, fleet.Held{} // of a history that was cut, or further than this server is; or of other content
	}
	a.last, a.held = n.last, n.held
	if asked.round != ns.retried {
		return nil, nil // it may have been read before them: the node is offered all of it once more
	}
	ofEnded := n.ofEnded
	if ofEnded == nil {
		ofEnded = &subscriber{serves: servedBy("")}
	}
	ofEnded.labels, ofEnded.view = a.subscriber.labels, a.subscriber.view // it may have come back with other labels
	later := asked.endedAfter(snap.Revision)
	if !n.refusedAt.After(asked.begun) { // else the answer is older than that
		ofEnded.drop(func(e snapshot.Exception) bool { return asked.ended(e) && !slices.ContainsFunc(later, isOf(e)) })
	}
	ofEnded.ahead = slices.Concat(asked.Refusals, later)
	revised, resolved = ofEnded.readopt(ns.builder, ns.offer(n))
	n.ofEnded = ofEnded // which inherit hands on
	return revised, resolved
}

// rememberLate takes in what a node refused before streams that live by now. Those have
// been offered it again: what they took is over, and so is what a new client refused.
func (ns *nodes) rememberLate(n *node, past fleet.LastStream) (resolved []fleet.Refusal) {
	if _, ok := ns.missed[n]; !ok {
		return nil // it has gone meanwhile
	}
	delete(ns.missed, n)
	n.offer = max(n.offer, past.Offer+1)
	refusals, now := past.Refusals, ns.offer(n)
	var a *attachment
	for a = range n.streams {
		s := &a.subscriber
		for _, f := range refusals {
			switch {
			case !s.serves[f.Type]:
			case f.Name == "", a.concerns(f, ns.views.content.history):
				s.ahead = append(s.ahead, f)
			default:
				resolved = append(resolved, now.end(refusal.KeyOf(f), fleet.EndOffered))
			}
		}
		a.bell.Ring()
	}
	unserved := slices.DeleteFunc(slices.Clone(refusals), func(f fleet.Refusal) bool { return n.serves(f.Type) })
	if len(unserved) > 0 {
		ofEnded := n.ofEnded
		if ofEnded == nil {
			ofEnded = &subscriber{labels: a.subscriber.labels, view: a.subscriber.view, serves: servedBy("")}
		}
		ofEnded.ahead = append(ofEnded.ahead, unserved...)
		revised, ended := ofEnded.readopt(ns.builder, now)
		a.record.Revise(revised)
		resolved = append(resolved, ended...)
		n.setOfEnded(ofEnded)
	}
	return append(n.ended(resolved), ns.renew(n)...)
}

// concerns reports whether a past refusal may be the stream's client's: it was told before
// the stream began, and the client, which brought something with it, has not taken it since, nor
// cast doubt on it.
func (a *attachment) concerns(f fleet.Refusal, history uint64) bool {
	s := &a.subscriber
	if f.Revision > s.view.snap.Revision || s.refuses(refusal.KeyOf(f)) {
		return true
	}
	over := refusal.Ends(s.ended[fleet.Ref{Type: f.Type, Name: f.Name}], f)
	return !over && a.resumed && !f.At.After(a.begun) && !a.took(refusal.KeyOf(f), history)
}

// serves reports whether some stream of the node can ask for the type.
func (n *node) serves(t fleet.Type) bool {
	for x := range n.streams {
		if x.subscriber.serves[t] {
			return true
		}
	}
	return false
}

// overlaps reports whether the node has a stream for some type that a serves too.
func (n *node) overlaps(a *attachment) bool {
	for x := range n.streams {
		if x.kind == a.kind || x.aggregated() || a.aggregated() {
			return true
		}
	}
	return false
}

// confirmed is what all streams of a node that has some have settled, and what it had by then.
func (n *node) confirmed() (settled fleet.Revision, held fleet.Held) {
	for x := range n.streams {
		return x.record.Confirmed()
	}
	return 0, held
}

func (a *attachment) aggregated() bool { return strings.HasSuffix(a.kind, "ADS") }

// readopt makes exceptions of the past refusals that apply, and ends the others. Those of
// revisions that this server does not know yet stay ahead, and are judged again when it does.
func (s *subscriber) readopt(bd *builder, now offer) (revised []fleet.Refusal, resolved []fleet.Refusal) {
	snap, refusals := s.view.snap, s.ahead
	s.ahead = nil
	for _, f := range refusals {
		if f.Name == "" { // nobody was held responsible
			if f.By == 0 {
				s.note(refusal.KeyOf(f), fleet.ActionNoSuspect)
			}
			continue
		}
		if f.Revision > snap.Revision || f.By > snap.Revision {
			s.ahead = append(s.ahead, f)
		}
		if f.By > 0 {
			s.dropEnded(f)
			continue
		}
		e := exceptionOf(f)
		e.Rival, e.Lacked = rivalOf(f, snap), lackedOf(f, snap, refusals)
		switch {
		case s.refuses(e.Key()):
			continue // it is remembered here
		case !e.Applies(snap):
			switch {
			case f.Revision > snap.Revision:
			case isGood(refusals, f):
				s.note(refusal.KeyOf(f), fleet.ActionStandInRefused)
			default:
				resolved = append(resolved, now.end(e.Key(), howEnded(e, snap)))
			}
			continue
		case f.Action == fleet.ActionStandInRefused:
			s.note(refusal.KeyOf(f), f.Action)
			continue
		case s.excepts(f.Type, f.Name):
			continue
		case f.Action == fleet.ActionUnknown:
			e.Leave = true
		case !f.KeptBack():
			continue // nothing was done about it
		case f.Good != "":
			if e.Good = bd.revive(f); e.Good == nil {
				s.lose(e.Ref(), f.Version)
				f.Action, f.Row = fleet.ActionLost, nil
				s.note(refusal.KeyOf(f), f.Action)
				revised = append(revised, f)
				continue
			}
		}
		if r, ok := toldAgain(f, snap, refusals); ok {
			r.Offer = now.refused().number
			revised = append(revised, r)
		}
		if s.count(e.Type) >= maxExceptions {
			s.note(e.Key(), fleet.ActionFrozen)
			continue
		}
		s.insert(e)
	}
	return revised, resolved
}

// exceptionOf is that of a past refusal, without what stands in.
func exceptionOf(f fleet.Refusal) snapshot.Exception {
	return snapshot.Exception{Type: f.Type, Refused: snapshot.Reported(f.Name, f.Version)}
}

// rivalOf is what a refused version cannot be beside: what the view has of it, if it is that.
func rivalOf(f fleet.Refusal, snap *snapshot.Snapshot) *snapshot.Resource {
	if f.Rival == (fleet.Rival{}) {
		return nil
	}
	return snap.Types[f.Type].Own(snapshot.Reported(f.Rival.Name, f.Rival.Version))
}

// lackedOf is what a refused version lacked, as far as it was told, and what it lacks by now.
func lackedOf(f fleet.Refusal, snap *snapshot.Snapshot, refusals []fleet.Refusal) (all []snapshot.Lack) {
	now := snap.Types[f.Type].Get(f.Name)
	if now == nil || now.Version != f.Version {
		return nil
	}
	kept := make([]snapshot.Exception, 0, len(refusals))
	for _, x := range refusals {
		if x.Type == fleet.Cluster && x.Name != "" && x.By == 0 && x.Good == "" {
			kept = append(kept, exceptionOf(x))
		}
	}
	all = snapshot.NewTarget(snap, kept).Lacked(now)
	if f.Lacked != "" {
		all = append(all, snapshot.Lack{Name: f.Lacked})
	}
	return all
}

// toldAgain is a past refusal of a version that a later revision has too, as it is told of that: what was told before ends, where
// somebody sees a revision in between that had another version.
func toldAgain(f fleet.Refusal, snap *snapshot.Snapshot, refusals []fleet.Refusal) (r fleet.Refusal, ok bool) {
	now := snap.Types[f.Type].Get(f.Name)
	if now.Revision <= f.Revision || slices.ContainsFunc(refusals, func(x fleet.Refusal) bool {
		return x.Type == f.Type && x.Name == f.Name && x.Version == f.Version && x.Revision > f.Revision
	}) {
		return r, false
	}
	f.Revision, f.Again, f.At, f.Row = now.Revision, f.Revision, time.Time{}, nil
	return f, true
}

// dropEnded drops the exception of a refusal that has ended, unless by a revision that this server does not know yet.
func (s *subscriber) dropEnded(f fleet.Refusal) {
	s.drop(func(e snapshot.Exception) bool {
		return f.By <= s.view.snap.Revision && isOf(e)(f)
	})
}

// isGood: a version that stood in and was refused too stays so while what it stands in for
// is refused.
func isGood(refusals []fleet.Refusal, f fleet.Refusal) bool {
	return slices.ContainsFunc(refusals, func(x fleet.Refusal) bool {
		return x.Type == f.Type && x.Name == f.Name && x.Good == f.Version
	})
}

// lose remembers that the client confirmed the name once, so that it is never removed.
func (x *exceptions) lose(ref fleet.Ref, version string) {
	if x.lost == nil {
		x.lost = make(map[fleet.Ref]string)
	}
	x.lost[ref] = version
}
