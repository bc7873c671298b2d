package delivery

import (
	"context"
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
	subsTold fleet.Subscriptions // what has lasted, here or on the stream from which it came back; zero: what most subscribe to, or not known
}

// withoutClusters stands for what a node subscribes to of which no more is known than that it asks for no clusters.
var withoutClusters = fleet.Subscriptions{Types: [fleet.NumTypes]fleet.Asks{fleet.Listener: fleet.AsksAll}}

// lasting is when what begins now will have lasted.
func lasting(now time.Time) time.Time {
	return now.Add(subscribedAfter + lookEvery).Truncate(lookEvery)
}

// comes takes in what is known of a node as the first of its streams begins. One that comes with nothing may be another client. What else was told
// stays until it is known better, or has not been for some seconds.
func (n *node) comes(info StreamInfo, now time.Time) {
	n.subsAt = lasting(now)
	switch known := info.Resumed && info.NoClusters; {
	case known && !n.subsTold.NoClusters():
		n.subsTold = withoutClusters
	case !info.Resumed, !known && n.subsTold.NoClusters():
		n.subsTold = fleet.Subscriptions{}
	}
}

// noClusters reports whether it is known of all streams of a node that their clients ask for no clusters. A client that was stuck on none
// before, and has asked for none here, is stuck on none however short its stream was.
func (n *node) noClusters() (known bool) {
	for s := range n.streams {
		switch {
		case s.subs.NoClusters(), s.noClusters && !s.subs.Known():
			known = true
		case s.subs.Known(), aggregated(s.kind):
			return false
		}
	}
	return known
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

// tell sets what is to be told of a node that has streams; ended: the last of them ends. Who has it next goes by it: so it says that the node
// asks for no clusters only as long as that is known, and at the end wherever it is.
func (n *node) tell(now time.Time, ended bool) {
	known := n.noClusters()
	if !now.Before(n.subsAt) && (n.subs.Known() || !known) {
		n.subsTold = n.subs.Unusual(n.row.UserAgent)
	}
	switch {
	case n.subsTold.NoClusters() && !known:
		n.subsTold = fleet.Subscriptions{}
	case known && !n.subsTold.NoClusters() && ended:
		n.subsTold = withoutClusters
		if n.subs.NoClusters() {
			n.subsTold = n.subs
		}
	}
}

// NoClusters reports whether it is known that none of the node's streams asks for clusters.
func (s *Stream) NoClusters() bool {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	return s.node.noClusters()
}

// AskedForNoClusters says that the client asked for none on its last stream, which ended elsewhere at the given time, by the database's clock. It was
// not known when it came. The node may have been here since, and be forgotten: then that says nothing.
func (s *Stream) AskedForNoClusters(at time.Time) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed || at.Before(f.forgot()) {
		return
	}
	s.noClusters = true
	if s.node.noClusters() && !s.node.subsTold.NoClusters() {
		s.node.subsTold = withoutClusters
		f.roster.check(s.node)
		f.wake(time.Now())
	}
}

// Subscribes says what the stream's client subscribes to. It is told with the node's own row, where it is not what
// most Envoys subscribe to (SEMANTICS 6.1). Where it asks for clusters, and was told to ask for none, it waits until the database knows that,
// for a second at most: the client may stick on the first one that it is sent, and this server may die.
func (s *Stream) Subscribes(ctx context.Context, subs fleet.Subscriptions) {
	if s.subscribes(subs) {
		s.Announce(ctx)
	}
}

// subscribes reports whether the node was told to ask for no clusters, and is not any more.
func (s *Stream) subscribes(subs fleet.Subscriptions) (more bool) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed {
		return false
	}
	if subs = plainSubscriptions(subs); subs.Equal(s.subs) {
		return false
	}
	s.subs = subs
	return f.subscribed(s.node, time.Now())
}

// subscribed recomputes what a node subscribes to, and sees to it that it is told when it has lasted. Those of some seconds are told together.
// That it may ask for clusters from now on is told at once, and returned.
func (f *fleetStatus) subscribed(n *node, now time.Time) (more bool) {
	if more = n.live() && n.subsTold.NoClusters() && !n.noClusters(); more {
		n.subsTold, n.dirty = fleet.Subscriptions{}, true
		f.roster.check(n)
		f.wake(now)
	}
	all := n.subscribes()
	if all.Equal(n.subs) {
		return more
	}
	n.subs, n.subsAt = all, lasting(now)
	if n.live() {
		f.roster.check(n)
		f.schedule(n.subsAt)
	}
	return more
}

// dueSubs is what is to be told of what a node subscribes to: what has lasted, and is not what most do. It is kept when its streams end:
// who has it next may have to know.
func (f *fleetStatus) dueSubs(n *node, now time.Time) fleet.Subscriptions {
	if n.live() {
		n.tell(now, f.closing)
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
