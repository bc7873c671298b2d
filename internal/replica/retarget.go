package replica

import (
	"iter"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// seats yields the seats of all streams, and of what streams that have ended refused. o.mu
// is held.
func (o *owner) seats() iter.Seq[*seat] {
	return func(yield func(*seat) bool) {
		for a := range o.streams {
			if !yield(&a.seat) {
				return
			}
		}
		for n := range o.excepted {
			if n.left != nil && !yield(n.left) {
				return
			}
		}
	}
}

// internKey is of the targets of streams with exceptions.
type internKey struct {
	view       *view
	exceptions string // exceptions.internKey
}

// retarget gives the node's streams their targets: the view's where there are no exceptions
// and nothing was ever to be offered again; else one that is shared with the streams of the
// view that have the same. o.mu is held.
func (o *owner) retarget(n *node) {
	excepted := n.left != nil
	for a := range n.streams {
		s := &a.seat
		if s.none() && n.retries == 0 {
			s.target.Store(s.view.target)
			continue
		}
		excepted = true
		k := internKey{s.view, s.internKey(n.retries)}
		if o.interned[k] == nil {
			o.interned[k] = s.newTarget(n.retries)
		}
		s.target.Store(o.interned[k])
	}
	if excepted {
		o.excepted[n] = struct{}{}
	} else if delete(o.excepted, n); len(n.streams) == 0 {
		delete(o.nodes, n.id)
	}
	o.trimInterned()
}

// newTarget is what a stream should hold of its view.
func (s *seat) newTarget(retries int) *snapshot.Target {
	t := snapshot.NewTarget(s.view.snap, s.list)
	t.Retries = retries
	for typ, f := range s.frozen {
		t.Types[typ] = f.set
	}
	return t
}

// trimInterned drops the targets that no stream has any more, when they have become many:
// between two views every refusal may leave one behind. o.mu is held.
func (o *owner) trimInterned() {
	if len(o.interned) <= max(o.internedMost, 2*len(o.excepted)+spareTargets) {
		return
	}
	used := make(map[internKey]*snapshot.Target, len(o.excepted))
	for n := range o.excepted {
		for a := range n.streams {
			k := internKey{a.seat.view, a.seat.internKey(n.retries)}
			if t := o.interned[k]; t != nil {
				used[k] = t
			}
		}
	}
	o.interned, o.internedMost = used, 2*len(used)
}

func (o *owner) renew(n *node) (resolved []fleet.Resolution) {
	by := o.content.revision
	for s := range n.seats() {
		resolved = append(resolved, s.renew(s.view.snap, n.id, by)...)
	}
	if n.left != nil {
		n.leave(n.left)
	}
	o.retarget(n)
	return n.ended(resolved)
}
