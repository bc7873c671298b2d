package replica

import (
	"slices"

	"fairlead/internal/fleet"
)

// retarget gives the node's streams their targets: the view's where there are no exceptions
// and nothing was ever to be offered again; else one that is shared with the streams of the
// view that have the same.
func (ns *nodes) retarget(n *node) {
	n.note()
	excepted := n.ofEnded != nil
	for a := range n.streams {
		s := &a.subscriber
		excepted = excepted || !s.none() || len(s.ahead) > 0 || n.retries > 0
		s.target.Store(ns.views.target(s, n.retries))
	}
	if excepted {
		ns.excepted[n] = struct{}{}
	} else if delete(ns.excepted, n); len(n.streams) == 0 {
		delete(ns.byID, n.id)
	}
	ns.trimInterned()
}

// trimInterned looks for targets that no stream has any more, when they have become many.
func (ns *nodes) trimInterned() {
	ns.views.trimInterned(len(ns.excepted), func(yield func(*subscriber, int) bool) {
		for n := range ns.excepted {
			for a := range n.streams {
				if !yield(&a.subscriber, n.retries) {
					return
				}
			}
		}
	})
}

// renew judges what a node refuses by the views that it has now, and what of its past was ahead of them.
func (ns *nodes) renew(n *node) (resolved []fleet.Refusal) {
	now := ns.offer(n)
	for s := range n.subscribers() {
		resolved = append(resolved, s.renew(s.view.snap, now)...)
	}
	for a := range n.streams {
		if s := &a.subscriber; len(s.ahead) > 0 {
			revised, ended := s.readopt(ns.builder, now)
			a.record.Revise(revised)
			resolved = slices.Concat(resolved, ended, s.renew(s.view.snap, now))
		}
	}
	if n.ofEnded != nil {
		n.setOfEnded(n.ofEnded)
	}
	ns.retarget(n)
	return n.ended(resolved)
}
