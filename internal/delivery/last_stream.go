package delivery

import (
	"context"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// doubt is the kinds of streams of a node whose last one left something unanswered or
// refused behind (SEMANTICS 3.4). A client that has a stream for each type is known to
// be in step only when all of them are.
type doubt map[string]struct{}

// before is the kind of what a node brought with it from another server.
const before = ""

// begin takes in that the node comes back: from here with its own doubts, or from
// elsewhere.
func (d *doubt) begin(doubtful bool) {
	switch {
	case !doubtful:
		*d = nil
	case len(*d) == 0:
		*d = doubt{before: {}}
	}
}

// ended takes in how a stream ended. An aggregated one speaks for all types, so its clean
// end ends all doubt.
func (d *doubt) ended(kind string, clean bool) {
	switch {
	case !clean && *d == nil:
		*d = doubt{kind: {}}
	case !clean:
		(*d)[kind] = struct{}{}
	case aggregated(kind):
		*d = nil
	default:
		delete(*d, kind)
	}
}

// aggregated reports whether a stream of the kind is for all types.
func aggregated(kind string) bool { return strings.HasSuffix(kind, "ADS") }

// LastStream tells of a node that was here and has no stream any more, if it is remembered
// (until the database has been told at least): how its last stream here ended.
func (r *Recorder) LastStream(key fleet.Key, node string) (last fleet.LastStream, remembered bool) {
	r.mu.Lock()
	f := r.fleets[key]
	r.mu.Unlock()
	if f == nil {
		return last, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.roster.find(node)
	if n == nil || n.live() {
		return last, false
	}
	return fleet.LastStream{
		Known: true, Settled: n.confirmed(), Held: n.has(), Clean: len(n.doubt) == 0, View: n.row.View, At: n.row.Since,
	}, true
}

// Untold is what the database has not heard of a node's refusals yet: those that are new, without what stands in, and ends.
func (r *Recorder) Untold(key fleet.Key, node string) []fleet.Refusal {
	r.mu.Lock()
	f := r.fleets[key]
	r.mu.Unlock()
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outbox.of(plain(node, maxNodeText))
}

// Remembers reports whether anything is known here of a node, live or not.
func (r *Recorder) Remembers(key fleet.Key, node string) bool {
	r.mu.Lock()
	f := r.fleets[key]
	r.mu.Unlock()
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roster.find(node) != nil
}

// Server is whom the recorder reports for.
func (r *Recorder) Server() fleet.ServerID { return r.cfg.Server }

// Confirmed is what all streams of the stream's node have settled, or the node before them, and what it had by then.
func (s *Stream) Confirmed() (fleet.Revision, fleet.Held) {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	return s.node.confirmed(), s.node.has()
}

// Announce waits until the database knows that the node is there, for a second at most.
// Else a revision that is made in the instant after a node's very first stream began would
// seem to concern nobody (SEMANTICS 5.4). Nodes that come together share a report.
func (s *Stream) Announce(ctx context.Context) {
	if done := s.announce(time.Now()); done != nil {
		s.fleet.await(ctx, done)
	}
}

// announce makes the fleet due at once, or soon if it was reported a moment ago; the channel is
// closed when that is told. nil: it is told already.
func (s *Stream) announce(now time.Time) chan struct{} {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.closed || s.node.acked && !s.node.dirty {
		return nil
	}
	if s.node.entered == nil {
		s.node.entered = make(chan struct{})
	}
	f.schedule(later(now, f.rhythm.begun.Add(gatherEvery)))
	return s.node.entered
}

// await gives up after recordWait, or when ctx ends.
func (f *fleetStatus) await(ctx context.Context, done chan struct{}) {
	timer := time.NewTimer(recordWait)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.outbox.waiters, done)
}

// Revise tells what has become of refusals that the database knows of already. It does
// not wait for the sink.
func (s *Stream) Revise(rs []fleet.Refusal) {
	if len(rs) == 0 {
		return
	}
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse(s.node, rs, time.Now())
}
