package replica

import (
	"slices"
	"time"

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
	defer func() { stamp(resolved, ns.clock.now()) }()
	ns.retried++
	for _, id := range ids {
		n := ns.byID[id]
		if n == nil {
			continue
		}
		var ended []fleet.Refusal
		for s := range n.subscribers() {
			s.drop(func(e snapshot.Exception) bool {
				ended = append(ended, endOf(n.id, e.Key(), ns.views.content.revision, fleet.EndOffered))
				return true
			})
			s.ahead = nil
			ended = append(ended, s.thaw(n.id, ns.views.content.revision, fleet.EndOffered)...)
			s.open = nil // the database has ended them
		}
		n.setOfEnded(nil)
		resolved = append(resolved, n.ended(ended)...)
		n.retries++
		ns.retarget(n)
		for a := range n.streams {
			signal(a.changed)
		}
	}
	return resolved
}

// stamp says of versions that are still in force when their refusals ended.
func stamp(resolved []fleet.Refusal, at time.Time) {
	for i := range resolved {
		if resolved[i].End != fleet.EndReplaced {
			resolved[i].Ended = at
		}
	}
}

// reconsider ends the exceptions that a client casts doubt on, of its stream alone, and of
// streams that have ended.
func (ns *nodes) reconsider(a *attachment, doubted []refusal.Key) (resolved []fleet.Refusal) {
	defer func() { stamp(resolved, ns.clock.now()) }()
	n := a.node
	resolved = a.subscriber.doubt(doubted, n.id, ns.views.content.revision)
	if n.ofEnded != nil {
		resolved = append(resolved, n.ofEnded.doubt(doubted, n.id, ns.views.content.revision)...)
		n.setOfEnded(n.ofEnded)
	}
	ns.retarget(n)
	signal(a.changed)
	return n.ended(resolved)
}

// doubt ends the exceptions that are doubted. Of a frozen type the client has what it says.
func (s *subscriber) doubt(doubted []refusal.Key, node string, by fleet.Revision) (resolved []fleet.Refusal) {
	s.drop(func(e snapshot.Exception) bool {
		out := slices.Contains(doubted, e.Key())
		if out {
			resolved = append(resolved, endOf(node, e.Key(), by, fleet.EndOffered))
			s.end(e, by)
		}
		return out
	})
	for _, d := range doubted {
		f, r := s.frozen[d.Type], s.view.snap.Types[d.Type].Get(d.Name)
		if f == nil || r == nil || r.Version != d.Version {
			continue
		}
		f.set = f.set.With(r)
		if f.refused[d.Name] == d.Version {
			delete(f.refused, d.Name)
			resolved = append(resolved, endOf(node, d, by, fleet.EndTaken))
		}
	}
	return append(resolved, s.thaw(node, by, fleet.EndOffered)...)
}
