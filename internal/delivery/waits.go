package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// Waits says what the stream's client waits for, as often as that changes, and before
// Settled passes over what is withheld. It is told with the node's own row alone
// (SEMANTICS 6.1). What is passed over is told with the settled revision that does it, so
// that nobody is seen to have confirmed it (SEMANTICS 5.3); the rest only when it is waited
// for longer than lagAfter: what comes and goes sooner is part of every start.
func (s *Stream) Waits(w fleet.Waits) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed {
		return
	}
	if w = plainWaits(w); w.Equal(s.waits) {
		return
	}
	s.waits = w
	f.waitsChanged(s.node, time.Now())
}

// waitsChanged recomputes what a node waits for and sees to it that it is told in time.
// What is not withheld any more is confirmed, though the node's settled revision stays.
func (f *fleetStatus) waitsChanged(n *node, now time.Time) {
	var all fleet.Waits
	for s := range n.streams {
		all = all.With(s.waits)
	}
	if all.Equal(n.waits) {
		return
	}
	n.waits = all
	f.roster.check(n)
	if n.live() {
		f.count(n, now)
	}
	f.awaitMore(n, now)
	switch due := f.dueWaits(n, now); {
	case !due.Equal(n.writtenWaits):
		f.wake(now)
	case n.waitsSince.Add(lagAfter).After(now):
		f.schedule(n.waitsSince.Add(lagAfter))
	}
}

// awaitMore notices since when the node waits for more than what it has passed over.
func (f *fleetStatus) awaitMore(n *node, now time.Time) {
	passed := n.waits.PassedOver(n.settled)
	switch more := len(n.waits.Warming) > 0 || len(n.waits.Withheld) > len(passed.Withheld) || n.waits.More > passed.More; {
	case !more:
		n.waitsSince = time.Time{}
	case n.waitsSince.IsZero():
		n.waitsSince = now
	}
}

// dueWaits is what is to be told of the node's waits: what it has passed over, and the rest when
// that has lasted. Of the rest one that is at the head waits for nothing that a receipt
// could tell of. A node that is gone has not got what was withheld from it.
func (f *fleetStatus) dueWaits(n *node, now time.Time) fleet.Waits {
	switch {
	case !n.live():
		return n.left
	case n.settled >= f.progress.head || n.waitsSince.IsZero() || now.Before(n.waitsSince.Add(lagAfter)):
		return n.waits.PassedOver(n.settled)
	}
	return n.waits
}

// plainWaits makes names that may be a client's fit for a database.
func plainWaits(w fleet.Waits) fleet.Waits {
	ref := func(r fleet.Ref) fleet.Ref { return fleet.Ref{Type: r.Type, Name: plain(r.Name, maxNodeText)} }
	out := fleet.Waits{More: max(0, w.More), Cut: max(0, w.Cut)}
	for _, r := range w.Warming {
		out.Warming = append(out.Warming, ref(r))
	}
	for _, h := range w.Withheld {
		out.Withheld = append(out.Withheld, fleet.Withheld{Ref: ref(h.Ref), By: ref(h.By), Revision: max(0, h.Revision), Sealed: h.Sealed})
	}
	return out.With(fleet.Waits{})
}
