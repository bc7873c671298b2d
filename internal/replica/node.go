package replica

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// node is one node id with streams or exceptions. It is guarded by its owner's mu.
//
// Nobody knows whether two streams with one node id are one client's or two clients'. So
// what a stream refuses counts for that stream alone while it lives, and what it has left
// behind for the streams that come after it (T41).
type node struct {
	id        string
	streams   map[*attachment]struct{}
	last      xds.LastStream // before the first of its streams
	held      fleet.Held     // and what it had by then
	refusedAt time.Time      // when some stream of it refused something last
	offer     fleet.Offer    // the last that is known of it; see nodes.offer
	retries   int            // how often it was to be offered again what it refused
	ofEnded   *subscriber    // what streams that have ended refused; nil: nothing
	// unsettled: something ends when one of the streams has settled, for those who do not hold mu.
	unsettled atomic.Bool
}

// subscribers yields the subscribers of a node: of its streams, and of what has ended.
func (n *node) subscribers() iter.Seq[*subscriber] {
	return func(yield func(*subscriber) bool) {
		for a := range n.streams {
			if !yield(&a.subscriber) {
				return
			}
		}
		if n.ofEnded != nil {
			yield(n.ofEnded)
		}
	}
}

// ended are those of the resolutions whose version no stream of the node refuses any more,
// each once.
func (n *node) ended(all []fleet.Refusal) []fleet.Refusal {
	told := make(map[refusal.Key]struct{}, len(all))
	return slices.DeleteFunc(all, func(r fleet.Refusal) bool {
		k := refusal.KeyOf(r)
		if _, again := told[k]; again || n.refuses(k) {
			return true
		}
		told[k] = struct{}{}
		return false
	})
}

func (n *node) refuses(k refusal.Key) bool {
	for s := range n.subscribers() {
		if s.refuses(k) {
			return true
		}
	}
	return false
}

// besides reports whether the node has another stream for the type.
func (n *node) besides(a *attachment, t fleet.Type) bool {
	for x := range n.streams {
		if x != a && x.subscriber.serves[t] {
			return true
		}
	}
	return false
}

// took reports whether the stream has settled with the version.
func (a *attachment) took(k refusal.Key, history uint64) bool {
	if c := a.inStep(history); c != nil && a.subscriber.serves[k.Type] {
		r := c.Types[k.Type].Get(k.Name)
		return r != nil && r.Version == k.Version
	}
	return false
}

// inStep is the newest target that the stream was in step with; nil if none is known.
func (a *attachment) inStep(history uint64) *snapshot.Target {
	if c := a.confirmed.Load(); c != nil && c.History == history {
		return c
	}
	return nil
}

// servedBy are the types that a stream of that kind can ask for: all, or that of its service.
func servedBy(kind string) (types [fleet.NumTypes]bool) {
	for _, t := range fleet.Types() {
		if strings.HasSuffix(kind, " "+t.Service()) {
			types[t] = true
			return types
		}
	}
	for t := range types {
		types[t] = true
	}
	return types
}

// inherit gives a new stream what its node refuses: what streams that have ended left
// behind of the types that it serves, and what those refuse that live. It may take the
// place of one of them; what its client says that it has it is not kept from (Reconsider).
// The node's streams are those beside it.
func (ns *nodes) inherit(a *attachment) {
	n, s := a.node, &a.subscriber
	for x := range n.streams {
		s.share(&x.subscriber)
	}
	if l := n.ofEnded; l != nil {
		if len(n.streams) == 0 {
			l.labels, l.view = s.labels, s.view // it may have come back with other labels
		}
		s.take(l)
		n.setOfEnded(l)
	}
}

// concerns reports whether an exception of another stream is one of this one's view and types.
func (s *subscriber) concerns(e snapshot.Exception) bool {
	return s.serves[e.Type] && e.Applies(s.view.snap)
}

// share gives a subscriber what another one refuses of the types that it serves, as far as it
// concerns the subscriber's view.
func (s *subscriber) share(from *subscriber) {
	for _, e := range from.list {
		if s.concerns(e) && !s.excepts(e.Type, e.Refused.Name) && s.count(e.Type) < maxExceptions {
			s.insert(e)
		}
	}
	for ref, version := range from.lost {
		if s.serves[ref.Type] {
			s.lose(ref, version)
		}
	}
	for _, f := range from.ahead {
		if s.serves[f.Type] && !slices.ContainsFunc(s.ahead, func(x fleet.Refusal) bool { return x == f }) {
			s.ahead = append(s.ahead, f)
		}
	}
}

// take is share, and the other one is rid of it.
func (s *subscriber) take(from *subscriber) {
	s.share(from)
	for ref, f := range from.ended {
		if s.serves[ref.Type] {
			s.rememberEnd(f)
		}
	}
	from.drop(s.concerns)
	from.ahead = slices.DeleteFunc(from.ahead, func(f fleet.Refusal) bool { return s.serves[f.Type] })
	maps.DeleteFunc(from.beside, func(k refusal.Key, action fleet.Action) bool {
		if s.serves[k.Type] {
			s.note(k, action)
		}
		return s.serves[k.Type]
	})
}

// setOfEnded makes a subscriber what the node's streams have left behind, if there is something.
func (n *node) setOfEnded(s *subscriber) {
	if s != nil && s.none() && len(s.ahead)+len(s.beside) == 0 {
		s = nil
	}
	n.ofEnded = s
	n.note()
}

// note keeps unsettled true.
func (n *node) note() {
	unsettled := n.ofEnded != nil
	for a := range n.streams {
		unsettled = unsettled || len(a.subscriber.undone()) > 0
	}
	n.unsettled.Store(unsettled)
}

// inStep ends the refusals of a stream that nothing was done about: its client has all that it is to have.
func (ns *nodes) inStep(a *attachment) (resolved []fleet.Refusal) {
	now := ns.offer(a.node)
	for _, k := range a.subscriber.undone() {
		resolved = append(resolved, now.end(k, fleet.EndTaken))
		delete(a.subscriber.beside, k)
	}
	return a.node.ended(resolved)
}

// release takes a stream from its node. What it refused is remembered, so that the next
// one is not offered the same: but for what another stream has, which is no word about
// that one.
func (ns *nodes) release(a *attachment) (resolved []fleet.Refusal) {
	n, now := a.node, ns.offer(a.node)
	delete(n.streams, a)
	ofEnded := &subscriber{labels: a.subscriber.labels, view: a.subscriber.view, serves: servedBy("")}
	ofEnded.take(&a.subscriber)
	if n.ofEnded != nil {
		ofEnded.take(n.ofEnded)
		for _, e := range n.ofEnded.list { // of another view
			resolved = append(resolved, now.end(e.Key(), fleet.EndReplaced))
		}
	}
	if len(n.streams) == 0 {
		ofEnded.ahead = nil // whoever takes its next stream asks for them again
	}
	n.setOfEnded(ofEnded)
	resolved = n.ended(resolved)
	for x := range n.streams {
		resolved = append(resolved, ns.settle(x)...)
	}
	ns.retarget(n)
	if len(n.streams) > 0 {
		return resolved
	}
	delete(ns.missed, n)
	if n.ofEnded == nil {
		return resolved
	}
	ns.away = slices.DeleteFunc(ns.away, func(x *node) bool {
		return x == n || len(x.streams) > 0 || x.ofEnded == nil
	})
	ns.away = append(ns.away, n)
	for len(ns.away) > maxAway {
		old := ns.away[0]
		ns.away = slices.Delete(ns.away, 0, 1)
		delete(ns.byID, old.id)
		delete(ns.excepted, old)
	}
	return resolved
}

// settle ends what streams that are gone refused, and the given one has taken.
func (ns *nodes) settle(a *attachment) (resolved []fleet.Refusal) {
	n := a.node
	if n.ofEnded == nil {
		return nil
	}
	history, now := ns.views.content.history, ns.offer(n)
	n.ofEnded.drop(func(e snapshot.Exception) bool {
		took := a.took(e.Key(), history)
		if took {
			resolved = append(resolved, now.end(e.Key(), fleet.EndTaken))
		}
		return took
	})
	if len(resolved) == 0 {
		return nil
	}
	n.setOfEnded(n.ofEnded)
	return n.ended(resolved)
}
