package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// Waits says what the stream's client waits for, as often as that changes. It is told with
// the node's own row alone (SEMANTICS 6.1), and only of what is waited for longer than
// lagAfter: what comes and goes sooner is part of every start.
func (s *Stream) Waits(w fleet.Waits) {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.closed {
		return
	}
	if w = plainWaits(w); w.Equal(s.waits) {
		return
	}
	s.waits = w
	b.waitsChanged(s.node, time.Now())
}

// waitsChanged recomputes what a node waits for and sees to it that it is told in time.
func (b *book) waitsChanged(n *node, now time.Time) {
	var all fleet.Waits
	for s := range n.streams {
		all = all.With(s.waits)
	}
	if all.Equal(n.waits) {
		return
	}
	switch {
	case all.Empty():
		n.waitsSince = time.Time{}
	case n.waits.Empty():
		n.waitsSince = now
	}
	n.waits = all
	switch told := b.toldWaits(n, now); {
	case !told.Equal(n.writtenWaits):
		b.wake(now)
	case !all.Empty() && told.Empty():
		b.schedule(n.waitsSince.Add(lagAfter))
	}
}

// toldWaits is what the node has waited for long enough to be told. One that is at the
// head waits for nothing that a receipt could tell of.
func (b *book) toldWaits(n *node, now time.Time) fleet.Waits {
	if !n.live() || n.settled >= b.head || n.waitsSince.IsZero() || now.Before(n.waitsSince.Add(lagAfter)) {
		return fleet.Waits{}
	}
	return n.waits
}

// plainWaits makes names that may be a client's fit for a database.
func plainWaits(w fleet.Waits) fleet.Waits {
	ref := func(r fleet.Ref) fleet.Ref { return fleet.Ref{Type: r.Type, Name: plain(r.Name, maxNodeText)} }
	out := fleet.Waits{More: max(0, w.More)}
	for _, r := range w.Warming {
		out.Warming = append(out.Warming, ref(r))
	}
	for _, h := range w.Withheld {
		out.Withheld = append(out.Withheld, fleet.Withheld{Ref: ref(h.Ref), By: ref(h.By)})
	}
	return out.With(fleet.Waits{})
}

// awaitWaits makes the book due when a node will have waited long enough.
func (b *book) awaitWaits(n *node, now time.Time) {
	if at := n.waitsSince.Add(lagAfter); !n.waitsSince.IsZero() && at.After(now) {
		b.schedule(at)
	}
}
