package replica

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// retry offers nodes again what they refused: their exceptions end, and their streams
// forget which contents they refused (SEMANTICS 3.6). The database has it from whoever
// asked for the retry; told again, it ends what was refused in between too.
func (o *owner) retry(ids []string) {
	if len(ids) == 0 {
		return
	}
	o.resolve(func(ns *nodes) []fleet.Refusal { return ns.offerAgain(ids) })
}

func (ns *nodes) offerAgain(ids []string) (resolved []fleet.Refusal) {
	ns.retried++
	for _, id := range ids {
		n := ns.byID[id]
		if n == nil {
			continue
		}
		now := ns.offer(n)
		now.over() // whatever has ended: the database has ended it
		var ended []fleet.Refusal
		for s := range n.subscribers() {
			s.drop(func(e snapshot.Exception) bool {
				ended = append(ended, now.end(e.Key(), fleet.EndOffered))
				return true
			})
			s.ahead = nil
			s.beside = nil // the database has ended them
		}
		n.setOfEnded(nil)
		resolved = append(resolved, n.ended(ended)...)
		n.retries++
		ns.retarget(n)
		for a := range n.streams {
			a.bell.Ring()
		}
	}
	return resolved
}

// reconsider ends the exceptions that a client casts doubt on, of its stream alone, and of
// streams that have ended.
func (ns *nodes) reconsider(a *attachment, doubted []refusal.Key) (resolved []fleet.Refusal) {
	n, now := a.node, ns.offer(a.node)
	resolved = a.subscriber.doubt(doubted, now)
	if n.ofEnded != nil {
		resolved = append(resolved, n.ofEnded.doubt(doubted, now)...)
		n.setOfEnded(n.ofEnded)
	}
	ns.retarget(n)
	a.bell.Ring()
	return n.ended(resolved)
}

// doubt ends the exceptions that are doubted.
func (s *subscriber) doubt(doubted []refusal.Key, now offer) (resolved []fleet.Refusal) {
	s.drop(func(e snapshot.Exception) bool {
		out := slices.Contains(doubted, e.Key())
		if out {
			resolved = append(resolved, s.end(e, now, fleet.EndOffered))
		}
		return out
	})
	return resolved
}
