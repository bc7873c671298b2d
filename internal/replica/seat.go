package replica

import (
	"sync/atomic"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// seat is a stream's place in a view. A stream's labels are fixed, the selectors are not.
type seat struct {
	exceptions                      // of the stream alone
	serves     [fleet.NumTypes]bool // types that the stream can ask for
	labels     selector.Labels
	view       *view                           // guarded by the owner's mu, like moved
	moved      bool                            // a change of the content gave it another one, which is not recorded yet
	target     atomic.Pointer[snapshot.Target] // the view's, with the exceptions
}

// place gives a seat the view that is for its labels. o.mu is held.
func (o *owner) place(s *seat) {
	v := o.content.index.Match(s.labels)
	if o.views[v] == nil {
		o.trimViews()
		o.views[v] = newView(o.content, v)
	}
	s.view = o.views[v]
}

// spareViews is how many views are kept beyond twice those that somebody has.
const spareViews = 16

// trimViews drops the views that nobody has any more, when they have become many: labels are
// the client's words. It costs as much as there are seats, once for as many new views. o.mu is
// held.
func (o *owner) trimViews() {
	if len(o.views) <= 2*(len(o.streams)+len(o.excepted))+spareViews {
		return
	}
	o.views = make(map[selector.Vector]*view)
	for s := range o.seats() {
		o.views[s.view.vector] = s.view
	}
}

// turn is how the views of a content become those of the next one. Most of it is worked
// out before the streams have to wait for it.
type turn struct {
	difference
	vectors map[*seat]selector.Vector
	views   map[selector.Vector]*view
}

func newTurn(d difference) *turn {
	return &turn{
		difference: d,
		vectors:    make(map[*seat]selector.Vector),
		views:      make(map[selector.Vector]*view),
	}
}

// prepare works out what is for the seats that there are at present.
func (t *turn) prepare(o *owner) {
	for _, x := range o.sittings(t.reselects()) {
		t.of(x.seat, x.view)
	}
}

// sitting is a view that somebody has; seat says who, where that matters.
type sitting struct {
	seat *seat
	view *view
}

func (o *owner) sittings(seats bool) (all []sitting) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !seats {
		for _, v := range o.views {
			all = append(all, sitting{view: v})
		}
		return all
	}
	for s := range o.seats() {
		all = append(all, sitting{s, s.view})
	}
	return all
}

// reselects reports whether the selectors are others.
func (t *turn) reselects() bool { return t.last == nil || t.last.index != t.next.index }

// of returns the next view of a seat that has the given one.
func (t *turn) of(s *seat, has *view) *view {
	vector := has.vector
	if t.reselects() {
		var ok bool
		if vector, ok = t.vectors[s]; !ok {
			vector = t.next.index.Match(s.labels)
			t.vectors[s] = vector
		}
	}
	if t.views[vector] == nil {
		if t.last == nil {
			t.views[vector] = newView(t.next, vector)
		} else {
			t.views[vector] = has.next(&t.difference, vector)
		}
	}
	return t.views[vector]
}
