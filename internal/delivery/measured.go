package delivery

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// mostSends is how many responses to a node, for one revision each, are remembered until it has settled. What is sent
// beyond counts as sent with the last of them.
const mostSends = 8

// sending is that something was sent to a node for a revision.
type sending struct {
	revision fleet.Revision
	at       time.Time
	plan     *Planning // nil: no revision that it brought is traced
}

// Planning is how long it took to find out what is sent; zero where revisions are not traced.
type Planning struct{ Begun, Done time.Time }

// measureSent is told before n.sent moves to rev. Of revisions from before the node came nothing is measured: how long these
// were on their way is not known here.
func (f *fleetStatus) measureSent(n *node, rev fleet.Revision, took Planning, now time.Time) {
	if rev <= n.absent {
		return
	}
	at, from := f.rec.dbTime(now), max(n.sent, n.absent)
	what := sending{revision: rev, at: now}
	for _, c := range slices.Backward(f.progress.revs) {
		if c.Revision <= from {
			break
		}
		if c.Revision <= rev {
			f.rec.cfg.Metrics.Sent(at.Sub(c.committedAt), c.journey.sending(now))
			if c.journey != nil {
				what.plan = new(took) // it would be made for each node else
			}
		}
	}
	if len(n.sends) < mostSends {
		n.sends = append(n.sends, what)
	} else {
		n.sends[mostSends-1].revision = rev
	}
}

// count counts a node for the revisions that it has settled, and measures how long those took for which it was sent something.
func (f *fleetStatus) count(n *node, now time.Time) {
	at := f.rec.dbTime(now)
	f.progress.revs.count(n, n.settled, at, func(c *counter) {
		if c.Revision > n.absent && c.Revision <= n.sent {
			s := n.sendingOf(c.Revision)
			f.rec.cfg.Metrics.Acknowledged(at.Sub(c.committedAt), s.since(now), c.journey.confirmed(n, s, now))
		}
	})
	n.sends = slices.DeleteFunc(n.sends, func(s sending) bool { return s.revision <= n.settled })
}

// sendingOf is what brought the revision; nil if that is not known.
func (n *node) sendingOf(rev fleet.Revision) *sending {
	for i := range n.sends {
		if n.sends[i].revision >= rev {
			return &n.sends[i]
		}
	}
	return nil
}

// since is negative if it is not known.
func (s *sending) since(now time.Time) time.Duration {
	if s == nil {
		return -1
	}
	return now.Sub(s.at)
}

// mostLooked is at how many nodes of a fleet that are behind State looks. They are in no order: of more, one that is behind for
// longer may be found later.
const mostLooked = 256

// State is how the server stands with its fleets. It looks at each fleet once, and at no more than mostLooked of its nodes.
func (r *Recorder) State() metrics.DeliveryState {
	now := time.Now()
	var s metrics.DeliveryState
	s.Queued, s.Overdue = r.queued(now)
	if at := r.renewed.Load(); at != 0 {
		s.Renewed = time.Unix(0, at)
	}
	for _, f := range r.all() {
		st, unreported := f.state(now)
		s.Unreported += unreported
		s.Fleets = append(s.Fleets, st)
	}
	return s
}

// queued counts the fleets that are due, or at the sink, and tells how long the first of them has been due.
func (r *Recorder) queued(now time.Time) (n int, overdue time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = len(r.busy)
	for _, at := range r.queue {
		if !at.After(now) {
			n, overdue = n+1, max(overdue, now.Sub(at))
		}
	}
	return n, overdue
}

func (f *fleetStatus) state(now time.Time) (s metrics.FleetState, unreported int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Key = f.key
	left := mostLooked
	for rev, l := range f.roster.levels {
		s.Nodes += len(l.nodes)
		if rev >= f.progress.head {
			continue
		}
		s.Behind += len(l.nodes)
		known := f.progress.revs.after(rev)
		for _, n := range l.nodes[:min(left, len(l.nodes))] {
			s.For = max(s.For, now.Sub(later(known, n.cameAt)))
			left--
		}
	}
	return s, len(f.outbox.events)
}

// after is since when the revision after rev is known, or the first one that still is.
func (rs revisions) after(rev fleet.Revision) time.Time {
	if len(rs) == 0 {
		return time.Time{}
	}
	return rs[min(len(rs)-1, max(0, int(rev+1-rs[0].Revision)))].knownAt
}
