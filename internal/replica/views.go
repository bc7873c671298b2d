package replica

import (
	"iter"

	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// views are a fleet's content as its streams see it, and what was made of it for them. They
// know neither nodes nor streams. Whoever calls holds the owner's mu.
type views struct {
	content  *content
	byVector map[selector.Vector]*view // of that content; those that somebody has, and some more
	// interned are the targets of streams with exceptions, and internedMost is how many there
	// may be before those that nobody has are looked for.
	interned     map[internKey]*snapshot.Target
	internedMost int
}

// internKey is of the targets of streams with exceptions.
type internKey struct {
	view       *view
	exceptions string // exceptions.internKey
}

// replace takes the next content in the place of the present one, without any views.
func (vs *views) replace(next *content) {
	vs.content, vs.byVector, vs.interned = next, make(map[selector.Vector]*view), make(map[internKey]*snapshot.Target)
}

// add keeps a view of the content for whoever comes next.
func (vs *views) add(v *view) {
	if vs.byVector[v.vector] == nil {
		vs.byVector[v.vector] = v
	}
}

// place gives a subscriber the view that is for its labels. others are those that have one, so
// many at most.
func (vs *views) place(s *subscriber, most int, others iter.Seq[*subscriber]) {
	v := vs.content.index.Match(s.labels)
	if vs.byVector[v] == nil {
		vs.trim(most, others)
		vs.byVector[v] = newView(vs.content, v)
	}
	s.view = vs.byVector[v]
}

// spareViews is how many views are kept beyond twice those that somebody has.
const spareViews = 16

// addSpare keeps some of the next views that nobody has: what they held before is how a client that comes back is understood. All streams of a
// fleet may be away at a change.
func (vs *views) addSpare(next map[selector.Vector]*view) {
	for _, v := range next {
		if len(vs.byVector) >= spareViews {
			return
		}
		vs.add(v)
	}
}

// trim drops the views that nobody has any more, when they have become many: labels are
// the client's words. It costs as much as there are subscribers, once for as many new views.
func (vs *views) trim(most int, subscribers iter.Seq[*subscriber]) {
	if len(vs.byVector) <= 2*most+spareViews {
		return
	}
	vs.byVector = make(map[selector.Vector]*view)
	for s := range subscribers {
		vs.byVector[s.view.vector] = s.view
	}
}

// target is what a subscriber should hold that was offered again so often what it refused;
// those of one view with the same exceptions share it.
func (vs *views) target(s *subscriber, retries int) *snapshot.Target {
	if s.none() && retries == 0 {
		return s.view.target
	}
	k := internKey{s.view, s.internKey(retries)}
	if vs.interned[k] == nil {
		vs.interned[k] = s.newTarget(retries)
	}
	return vs.interned[k]
}

// newTarget is what a stream should hold of its view.
func (s *subscriber) newTarget(retries int) *snapshot.Target {
	t := snapshot.NewTarget(s.view.snap, s.list)
	t.Retries = retries
	return t
}

// trimInterned drops the targets that no stream has any more, when they have become many:
// between two views every refusal may leave one behind. excepted are the nodes with
// exceptions, used their subscribers and retries.
func (vs *views) trimInterned(excepted int, used iter.Seq2[*subscriber, int]) {
	if len(vs.interned) <= max(vs.internedMost, 2*excepted+spareTargets) {
		return
	}
	kept := make(map[internKey]*snapshot.Target, excepted)
	for s, retries := range used {
		k := internKey{s.view, s.internKey(retries)}
		if t := vs.interned[k]; t != nil {
			kept[k] = t
		}
	}
	vs.interned, vs.internedMost = kept, 2*len(kept)
}
