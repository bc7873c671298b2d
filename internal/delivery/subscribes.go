package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// subscribedAfter is how long what a node subscribes to lasts at least before it is told: a client that starts asks for one type after
// the other.
const subscribedAfter = 5 * time.Second

// subscribing is what a node subscribes to.
type subscribing struct {
	subs     fleet.Subscriptions // of its streams
	subsAt   time.Time           // when that will have lasted
	subsTold fleet.Subscriptions // what has lasted; zero: what most subscribe to, or not known
}

// lasting is when what begins now will have lasted.
func lasting(now time.Time) time.Time {
	return now.Add(subscribedAfter + lookEvery).Truncate(lookEvery)
}

// comes takes in that the first stream of a node begins. One that comes with nothing may be another client. What else was told stays until it is
// known better, or has not been for some seconds.
func (n *node) comes(info StreamInfo, now time.Time) {
	if n.subsAt = lasting(now); !info.Resumed {
		n.subsTold = fleet.Subscriptions{}
	}
}

// subscribes is what all streams of a node subscribe to; the zero value where that is not known of one that is for all types: it may be stuck.
func (n *node) subscribes() (all fleet.Subscriptions) {
	for s := range n.streams {
		if !s.subs.Known() && aggregated(s.kind) {
			return fleet.Subscriptions{}
		}
		all = all.With(s.subs)
	}
	return all
}

// Subscribes says what the stream's client subscribes to. It is told with the node's own row, where it is not what
// most Envoys subscribe to (SEMANTICS 6.1).
func (s *Stream) Subscribes(subs fleet.Subscriptions) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed {
		return
	}
	if subs = plainSubscriptions(subs); !subs.Equal(s.subs) {
		s.subs = subs
		f.subscribed(s.node, time.Now())
	}
}

// subscribed recomputes what a node subscribes to, and sees to it that it is told when it has lasted. Those of some seconds are told together.
func (f *fleetStatus) subscribed(n *node, now time.Time) {
	all := n.subscribes()
	if all.Equal(n.subs) {
		return
	}
	n.subs, n.subsAt = all, lasting(now)
	if n.live() {
		f.roster.check(n)
		f.schedule(n.subsAt)
	}
}

// dueSubs is what is to be told of what a node subscribes to: what has lasted, and is not what most do. It is kept when its streams end.
func (f *fleetStatus) dueSubs(n *node, now time.Time) fleet.Subscriptions {
	if n.live() && !now.Before(n.subsAt) {
		n.subsTold = n.subs.Unusual(n.row.UserAgent)
	}
	return n.subsTold
}

// plainSubscriptions makes names that are a client's fit for a database.
func plainSubscriptions(s fleet.Subscriptions) fleet.Subscriptions {
	if len(s.Listeners) == 0 {
		return s
	}
	names := make([]string, len(s.Listeners))
	for i, name := range s.Listeners {
		names[i] = plain(name, maxNodeText)
	}
	s.Listeners = names
	return s.With(fleet.Subscriptions{})
}
