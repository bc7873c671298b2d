package delivery

import (
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// fleetStatus is what is recorded of one fleet.
type fleetStatus struct {
	rec *Recorder
	key fleet.Key

	mu       sync.Mutex // guards all below; never held while the sink is called; taken before rec.mu
	progress progress
	roster   roster
	outbox   outbox
	rhythm   rhythm
	closing  bool // the server stops: all are disconnected
	forget   bool // no streams are expected
	dropped  bool // no longer the recorder's
}

func newFleetStatus(r *Recorder, key fleet.Key) *fleetStatus {
	return &fleetStatus{rec: r, key: key, roster: newRoster(), outbox: newOutbox(), rhythm: newRhythm(r.rows)}
}

func (f *fleetStatus) advance(at fleet.Position, committedAt, now time.Time) {
	f.forget = false
	before, first := f.progress.head, len(f.progress.revs) == 0
	if f.progress.advance(at, committedAt, now) {
		f.roster.advance(before)
		if !first {
			f.beginJourneys(before, now)
		}
		// Nothing is reported for a head alone: the first confirmation would then wait for
		// the next flush. Who does not confirm is looked for when the time is up.
		f.schedule(now.Add(lagAfter))
	}
}

func (f *fleetStatus) restart(at fleet.Position, committedAt, now time.Time) {
	f.forget = false
	f.endJourneys(journeyCut)
	f.progress.restart(at, committedAt, now)
	f.roster.restart(at.Revision)
	f.outbox.restart(at.Revision)
	f.retryNow(now) // what was refused was of the old history
}

func (f *fleetStatus) connect(from fleet.Node, info StreamInfo, now time.Time) *Stream {
	f.forget = false
	n := f.roster.find(from.ID)
	if n == nil {
		n = newNode(from)
		n.counted = f.progress.revs.committedBefore(f.rec.dbTime(now).Add(-recentCommit))
		f.roster.nodes[n.row.Node] = n
	}
	if !n.live() {
		n.absent, n.resumed, n.before, n.held = f.progress.head, info.Resumed, info.Before, info.Held
		n.sends = nil
		n.row.Since = f.rec.dbTime(now)
		n.goneAt, n.cameAt = time.Time{}, now
		n.comesBack(info.Resumed, f.progress.head, now)
		n.doubt.begin(info.Doubtful)
		n.comes(info, now)
		f.schedule(n.subsAt)
		n.lookAt = now.Add(duplicateAfter + lookEvery).Truncate(lookEvery)
		f.schedule(n.lookAt)
	}
	s := &Stream{fleet: f, node: n, kind: info.Protocol, begun: now}
	s.settled = n.joins(s, info, f.progress.head, now)
	n.streams[s] = struct{}{}
	f.roster.await(n)
	f.subscribed(n, now)
	n.least()
	f.roster.levels.place(n)
	n.describe(from, info)
	n.dirty = true
	f.roster.check(n)
	f.gather(now)
	return s
}

func (f *fleetStatus) disconnect(s *Stream, now time.Time) {
	n := s.node
	if len(n.streams) == 1 {
		n.left, n.held = n.waits.PassedOver(n.settled), n.has()
	}
	delete(n.streams, s)
	n.lose(s, f.progress.head, now)
	n.protocol()
	n.dirty = true
	f.roster.check(n)
	f.subscribed(n, now)
	f.waitsChanged(n, now)
	f.gather(now)
	if n.live() {
		f.roster.await(n)
		f.settle(n, now)
		return
	}
	n.row.Since = f.rec.dbTime(now)
	f.roster.levels.place(n)
	f.roster.leave(n, now)
}

// refuse keeps refusals for the next report. The channel is closed when they are acked;
// whoever stops waiting before takes it out of the outbox's waiters.
func (f *fleetStatus) refuse(n *node, rs []fleet.Refusal, now time.Time) chan struct{} {
	f.outbox.refuse(n.row.Node, rs, f.rec.dbTime(now))
	n.dirty = true
	f.roster.check(n)
	f.schedule(now)
	return f.outbox.wait()
}

// unflushed reports whether something is not acked yet.
func (f *fleetStatus) unflushed() bool { return !f.outbox.empty() || f.roster.unflushed() }

// wake makes the fleet due soon: something is worth a report.
func (f *fleetStatus) wake(now time.Time) { f.schedule(f.rhythm.soon(now)) }

// gather is wake for nodes that come and go: in a crowd they share reports.
func (f *fleetStatus) gather(now time.Time) {
	f.schedule(later(f.rhythm.soon(now), f.rhythm.begun.Add(gatherEvery)))
}

// schedule makes the fleet due at the given time at the latest, but not before a retry is.
func (f *fleetStatus) schedule(at time.Time) {
	if at, ok := f.rhythm.due(at); ok {
		f.rec.enqueue(f, at)
	}
}

// retryNow ends the wait after failures.
func (f *fleetStatus) retryNow(now time.Time) {
	f.rhythm.retryAt = time.Time{}
	f.schedule(now)
}

// revive is called when the sink answers again; lost: the database may have lost what it
// held with the lease, or with the Postgres that that was taken on, and all is flushed again.
func (f *fleetStatus) revive(lost bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if lost {
		f.progress.forget()
		f.roster.forget()
		f.outbox.tellAgain(now)
	}
	if lost || f.rhythm.failures > 0 {
		f.retryNow(now)
	}
}

// close says that the server stops.
func (f *fleetStatus) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	f.endJourneys(journeyStopped)
	f.roster.checkAll()
}
