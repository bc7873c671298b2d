package delivery

import (
	"errors"
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// errOldTerm: a report was taken under a lease that has ended since, so what it said may have been
// taken away with what else was said under that.
var errOldTerm = errors.New("the lease has ended since")

// report is a status under way and what becomes acked when it is taken. It has rows rows
// of nodes at most, and as many of refusals and their ends.
type report struct {
	status  fleet.Status
	rows    int
	nodes   []row // in the order of status.Nodes
	counts  []*counter
	lasting []*node
	tickets []ticket
	more    bool // something is left for the next report
	begun   time.Time
}

// row is what is to be told of a node.
type row struct {
	node  *node
	claim claim
	waits fleet.Waits
	subs  fleet.Subscriptions
	had   fleet.Held
}

// early reports whether the row must stand in the database before the server's settled
// revision rises: without it the node would seem to have what it has not. Where one of its own
// stands there already that says no more than this one, the node seems to have less for a while:
// such a row may come late, or nodes that are behind, more than a report holds, would keep the
// server from ever rising.
func (r row) early() bool {
	if !r.claim.own && r.waits.Empty() {
		return false
	}
	n := r.node
	if !n.acked || !n.written.own || r.claim.own && n.written.settled > r.claim.settled {
		return true
	}
	return slices.ContainsFunc(r.waits.Withheld, func(h fleet.Withheld) bool {
		return h.Revision <= n.written.settled && !n.writtenWaits.Withholds(h.Revision)
	})
}

// compose reads what the database should be told; nil if that is nothing. All rows of one
// report are true at the same time: a node that does not follow the server's new settled
// revision has its own row beside it. Where those are too many for one report, Settled
// waits for the last of them, and so it does for refusals. What it costs follows what has
// changed, and not how many nodes there are.
func (f *fleetStatus) compose(now time.Time) *report {
	f.rhythm.dueAt = time.Time{}
	f.awaitLost(now)
	f.lookAtJourneys(now)
	rep := &report{begun: now, rows: f.rhythm.rows}
	var left held
	rep.tickets, left, rep.more = f.outbox.take(&rep.status, rep.rows)
	settled, live := f.progress.next(f.roster.levels, f.heldBack(left), now), len(f.roster.levels) > 0
	rep.status.Key, rep.status.Server, rep.status.Settled = f.key, f.rec.cfg.Server, settled
	rep.status.Term = f.rec.held()
	rep.status.At = fleet.Position{Revision: f.progress.head, Token: f.progress.token}
	f.roster.checks.expire(now)
	f.roster.checks.move(settled, f.roster.levels)
	f.addNodes(rep, left)
	behind := f.behind(settled, left, now)
	if at := f.roster.checks.timers.next(); !at.IsZero() {
		f.schedule(at)
	}
	if at := f.progress.revs.nextKnownFor(lagAfter, settled, now); live && !at.IsZero() {
		f.schedule(later(at, f.rhythm.begun.Add(flushEvery)))
	}
	if !rep.status.Partial {
		rep.counts = f.progress.counts()
	}
	moved := live && (settled != f.progress.settled || !f.progress.acked)
	if !moved && len(rep.nodes)+len(rep.lasting)+len(rep.counts)+len(rep.tickets) == 0 {
		return nil
	}
	rep.status.Nodes = slices.Grow(rep.status.Nodes, len(rep.nodes))
	for _, r := range rep.nodes {
		rep.status.Nodes = append(rep.status.Nodes, f.flushed(r, now))
	}
	for _, c := range rep.counts {
		c.dirty = false
		rep.status.Delivered = append(rep.status.Delivered, c.Delivered)
	}
	if !rep.status.Partial {
		f.progress.claim(settled)
	}
	f.rhythm.begin(now, !behind)
	return rep
}

// heldBack are the live nodes whose refusals are not told yet, with what may be said that they
// have settled. As long as they are that, each report looks at them.
func (f *fleetStatus) heldBack(left held) map[*node]fleet.Revision {
	back := make(map[*node]fleet.Revision, len(left))
	for id := range left {
		n := f.roster.nodes[id]
		if n == nil {
			continue
		}
		f.roster.checks.add(n)
		if n.live() {
			back[n] = left.settled(n, f.progress.settled)
		}
	}
	return back
}

// behind reports whether somebody follows the server and is not at the head. It looks at nodes
// until it finds one that does: at many only where as many have rows of their own because
// something warms.
func (f *fleetStatus) behind(server fleet.Revision, left held, now time.Time) bool {
	for rev, l := range f.roster.levels {
		if f.closing || rev < server || rev >= f.progress.head {
			continue
		}
		if slices.ContainsFunc(l.nodes, func(n *node) bool { return !f.rowOf(n, server, left, now).claim.own }) {
			return true
		}
	}
	return false
}

// nextCheck is when to look at a node again though nothing happens to it; zero: never.
func (f *fleetStatus) nextCheck(n *node, now time.Time) (at time.Time) {
	see := func(t time.Time) {
		if t.After(now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if n.live() && !f.closing {
		see(n.lookAt)
		see(n.subsAt)
		for _, l := range n.lost {
			see(l.until())
		}
	}
	see(n.waitsSince.Add(lagAfter)) // long past if it waits for nothing
	if len(n.streams) > 1 {
		for s := range n.streams {
			if single(s.kind) {
				see(s.begun.Add(duplicateAfter))
			}
		}
	}
	return at
}

// addNodes adds the rows of nodes that the database does not have: first those that must
// stand there before Settled.
func (f *fleetStatus) addNodes(rep *report, left held) {
	settled := rep.status.Settled
	var follow []row
	defer f.roster.checks.shrink(len(f.roster.checks.due))
	for n := range f.roster.checks.due {
		r := f.rowOf(n, settled, left, rep.begun)
		n.countDuplicates(rep.begun)
		lasting := f.addLasting(rep, n)
		f.roster.checks.timers.set(n, f.nextCheck(n, rep.begun))
		_, back := left[n.row.Node]
		switch {
		case !f.changed(r) && (lasting || back):
		case !f.changed(r):
			f.roster.checks.done(n)
		case r.early() && len(rep.nodes) < rep.rows:
			rep.nodes = append(rep.nodes, r)
		case r.early():
			rep.status.Partial = true
		case len(follow) < rep.rows:
			follow = append(follow, r)
		default:
			rep.more = true
		}
	}
	room := rep.rows - len(rep.nodes)
	if rep.status.Partial { // what these follow is not there yet
		room = 0
	}
	rep.more = rep.more || rep.status.Partial || len(follow) > room
	rep.nodes = append(rep.nodes, follow[:min(len(follow), room)]...)
}

// rowOf is what the database should hold of a node beside a settled revision of the server.
func (f *fleetStatus) rowOf(n *node, server fleet.Revision, left held, now time.Time) row {
	waits, settled := f.dueWaits(n, now), left.settled(n, f.progress.settled)
	if f.closing && n.live() {
		waits = n.waits.PassedOver(n.settled)
	}
	want := n.want(settled, server, waits)
	if f.closing && !want.own {
		want = claim{own: true, settled: settled}
	}
	return row{n, want, waits, f.dueSubs(n, now), n.had()}
}

// changed reports whether the database holds something else, or may.
func (f *fleetStatus) changed(r row) bool {
	n := r.node
	return !n.acked || n.dirty || n.written != r.claim || !n.writtenWaits.Equal(r.waits) || !n.writtenSubs.Equal(r.subs) || !n.writtenHad.Equal(r.had) || f.closing && n.live() && !n.parted
}

// flushed makes a row the status that is reported.
func (f *fleetStatus) flushed(r row, now time.Time) fleet.NodeStatus {
	n, s := r.node, r.node.row
	s.Connected, s.Streams, s.Clean = n.live() && !f.closing, len(n.streams), !n.live() && len(n.doubt) == 0
	s.Labels = n.labels
	s.Waits, s.Subscribes, s.Had = r.waits, r.subs, r.had
	if r.claim.own {
		s.Settled = &r.claim.settled
	}
	if f.closing {
		s.Streams = 0
		if n.live() {
			s.Since = f.rec.dbTime(now)
		}
	}
	n.dirty, n.acked, n.tried = false, false, n.tried || s.Connected
	n.parted = f.closing
	return s
}

// finish takes the sink's answer. After an error nobody knows what the database holds:
// all that was in the report is in the next one again. again: that may be made at once.
func (f *fleetStatus) finish(rep *report, err error, now time.Time) (again bool) {
	if errors.Is(err, fleet.ErrNotFound) {
		err = nil // the fleet was deleted: nobody asks any more
	}
	if err == nil && rep.status.Term != f.rec.held() {
		err = errOldTerm
	}
	if err != nil {
		for _, c := range rep.counts {
			c.dirty = true
		}
		return f.failed(now)
	}
	f.rhythm.succeeded(rep.more)
	f.progress.acked = f.progress.acked || !rep.status.Partial
	for i, r := range rep.nodes {
		r.node.ack(r, rep.status.Nodes[i].Labels)
	}
	for _, n := range rep.lasting {
		if !n.lookAt.After(rep.begun) { // else it came back meanwhile
			n.lookAt = time.Time{}
		}
	}
	f.outbox.ack(rep.tickets, now)
	f.roster.trim(now)
	if rep.more {
		f.schedule(now)
	}
	return rep.more
}

// failed sets when to try again; smaller: with fewer rows.
func (f *fleetStatus) failed(now time.Time) (smaller bool) {
	smaller = f.rhythm.failed(now)
	f.schedule(now)
	return smaller
}

// next is compose. What it had put into a report when it broke off is not acked, and so in
// the next one again.
func (f *fleetStatus) next(now time.Time) *report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compose(now)
}

// answered takes in what became of a report: nil if it could not be composed, or there was
// nothing to tell. again: the next report may be made at once.
func (f *fleetStatus) answered(rep *report, err error, now time.Time) (again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case rep != nil:
		again = f.finish(rep, err, now)
	case err != nil:
		f.failed(now)
	}
	f.rec.dropIfDone(f)
	return again
}
