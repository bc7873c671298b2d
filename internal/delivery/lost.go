package delivery

import (
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// A client that has a stream for each type has settled what all of them have. One that ends does not settle by that: the
// node stays where the stream was until it is back, or seems to be wanted no more (SEMANTICS 5.1).

const (
	// comesBackWithin is how long a stream that was lost may stay away: Envoy's backoff is 30 s at most.
	comesBackWithin = 40 * time.Second
	// gaveUpWithin is the same of one that its client ended, as an Envoy does with what it needs no more. A proxy on the way ends the
	// streams of a lost connection alike.
	gaveUpWithin = 5 * time.Second
	// startsWithin is how long a new client may take until it has opened its streams.
	startsWithin = 15 * time.Second
)

// lostStream is a stream that ended, and has not come back.
type lostStream struct {
	kind    string
	settled fleet.Revision
	gaveUp  bool
	inStep  bool      // it had all that there was
	endedAt time.Time // or when the node came back after it
}

// counts reports whether the node stays where the stream was. One that its client ended in step has nothing left to say, unless all
// that the node has end with it: then it is waited for when they come back.
func (l lostStream) counts() bool { return !l.gaveUp || !l.inStep || always(l.kind) }

// until is when it is not waited for any more; zero: never.
func (l lostStream) until() time.Time {
	switch {
	case always(l.kind):
		return time.Time{}
	case l.gaveUp:
		return l.endedAt.Add(gaveUpWithin)
	}
	return l.endedAt.Add(comesBackWithin)
}

// always reports whether a client that has a stream of the kind always has: what it asks for there does not follow from
// what it has.
func always(kind string) bool {
	return slices.ContainsFunc([]string{" CDS", " LDS", " RTDS"}, func(service string) bool { return strings.HasSuffix(kind, service) })
}

// lose takes in that a stream of one type ended, unless a newer one has taken its place.
func (n *node) lose(s *Stream, head fleet.Revision, now time.Time) {
	if aggregated(s.kind) {
		return
	}
	for x := range n.streams {
		if x.kind == s.kind && !x.replaces && x.begun.After(s.begun) {
			x.replaces, x.settled = true, max(x.settled, min(s.settled, n.settled))
			return
		}
	}
	n.lost = append(n.lost, lostStream{s.kind, s.settled, s.gaveUp, s.settled >= head, now})
}

// find takes the place of a stream of that kind that was lost: of the one that had settled most, as it is not known which one it is,
// and where the one was that had settled least.
func (n *node) find(kind string) (settled fleet.Revision, ok bool) {
	most := -1
	for i, l := range n.lost {
		if l.kind != kind {
			continue
		}
		if !ok || l.settled < settled {
			settled, ok = l.settled, true
		}
		if most < 0 || l.settled > n.lost[most].settled {
			most = i
		}
	}
	if ok {
		n.lost = slices.Delete(n.lost, most, most+1)
	}
	return settled, ok
}

// comesBack takes in that the first of the node's streams is back: the others are waited for from now on, unless it is another process.
func (n *node) comesBack(resumed bool, head fleet.Revision, now time.Time) {
	if !resumed {
		n.lost = nil
	}
	for i := range n.lost {
		l := &n.lost[i]
		l.settled, l.endedAt, l.gaveUp = max(l.settled, min(n.before, head)), now, false
	}
}

// joins is where a stream of one type begins that is opened beside others, or after them.
func (n *node) joins(s *Stream, info StreamInfo, head fleet.Revision, now time.Time) fleet.Revision {
	resumed := fleet.Revision(0)
	if info.Resumed {
		resumed = min(n.before, head) // what was confirmed stays so; a client that comes with nothing is a new one
	}
	if aggregated(s.kind) {
		return resumed
	}
	if settled, ok := n.find(s.kind); ok {
		s.replaces = true
		return max(min(settled, head), resumed)
	}
	if !info.Resumed && n.live() && (n.resumed || now.Sub(n.cameAt) > startsWithin) {
		return max(0, min(n.settled, head-1)) // it asks for what the newest revision brought
	}
	return resumed
}

// awaitLost looks at the nodes some stream of which is waited for, and forgets those that are not any more.
func (f *fleetStatus) awaitLost(now time.Time) {
	for n := range f.roster.awaited {
		if !n.live() || len(n.lost) == 0 {
			delete(f.roster.awaited, n)
			continue
		}
		n.lost = slices.DeleteFunc(n.lost, func(l lostStream) bool { return !l.until().IsZero() && !l.until().After(now) })
		f.settle(n, now)
	}
}

// settle takes in that a node may have settled further, as some of its streams did or ended.
func (f *fleetStatus) settle(n *node, now time.Time) (moved bool) {
	before := n.settled
	if n.least(); n.settled == before || !n.live() {
		return false
	}
	f.roster.levels.place(n)
	if n.settled > before {
		f.count(n, now)
	}
	f.awaitMore(n, now)
	if !n.follows() {
		f.roster.check(n)
	}
	return true
}
