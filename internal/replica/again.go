package replica

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// again are the refusals of versions that a change brings back: the server has not seen the revisions
// in between, in which they were out of force, so their exceptions stand and nothing is offered
// again. But what was told of them has ended for whoever reads it. Of a node that is away nothing is told: it may be on a server that has seen
// those revisions, and have taken the version there. It is forgotten here, and the database asked when the node comes.
//
// Where the history was cut the database may have lost what was told of those that stand, with the end of the history or without: they are told again too.
func (ns *nodes) again(t *viewUpdate) (refusals []fleet.Refusal) {
	for n := range ns.excepted {
		told, now := make(map[fleet.Ref]bool), ns.offer(n) // told by another stream
		for s := range n.subscribers() {
			back := s.again(t.of(s, s.view), t.cut)
			if len(n.streams) == 0 {
				s.forget(back)
				continue
			}
			for _, r := range back {
				ref := fleet.Ref{Type: r.Type, Name: r.Name}
				if told[ref] {
					continue
				}
				told[ref] = true
				r.Node, r.Beside, r.Offer = n.id, len(n.streams) > 1, now.refused().number
				refusals = append(refusals, r)
			}
		}
	}
	return refusals
}

func (x *exceptions) forget(all []fleet.Refusal) {
	for _, r := range all {
		x.drop(func(e snapshot.Exception) bool { return isOf(e)(r) })
		delete(x.beside, refusal.KeyOf(r))
	}
}

// again compares the view that a subscriber has with the next one; cut: of another history.
func (s *subscriber) again(next *view, cut bool) (refusals []fleet.Refusal) {
	add := func(t fleet.Type, name, version string, action fleet.Action, good string) {
		was, is := s.view.snap.Types[t].Get(name), next.snap.Types[t].Get(name)
		if was == nil || is == nil || was.Version != version || is.Version != version || is.Revision <= was.Revision && !cut {
			return
		}
		refusals = append(refusals, fleet.Refusal{
			Type: t, Name: name, Version: version, Revision: is.Revision, Again: was.Revision, Action: action, Good: good,
		})
	}
	for _, e := range s.list {
		action, good := done(e)
		add(e.Type, e.Refused.Name, e.Refused.Version, action, good)
	}
	return refusals
}
