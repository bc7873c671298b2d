package replica

import "fairlead/internal/selector"

// viewUpdate is how the views of a content become those of the next one. Most of it is worked
// out before the streams have to wait for it.
type viewUpdate struct {
	difference
	vectors map[*subscriber]selector.Vector
	views   map[selector.Vector]*view
}

func newViewUpdate(d difference) *viewUpdate {
	return &viewUpdate{
		difference: d,
		vectors:    make(map[*subscriber]selector.Vector),
		views:      make(map[selector.Vector]*view),
	}
}

// prepare works out what is for the holders of views that there are at present.
func (t *viewUpdate) prepare(holders []holder) {
	for _, x := range holders {
		t.of(x.subscriber, x.view)
	}
}

// holder is a view that somebody has; subscriber says who, where that matters.
type holder struct {
	subscriber *subscriber
	view       *view
}

// reselects reports whether the selectors are others.
func (t *viewUpdate) reselects() bool { return t.last == nil || t.last.index != t.next.index }

// of returns the next view of a subscriber that has the given one.
func (t *viewUpdate) of(s *subscriber, has *view) *view {
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
