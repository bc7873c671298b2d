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
	case strings.HasSuffix(kind, "ADS"):
		*d = nil
	default:
		delete(*d, kind)
	}
}

// Past is what this server knows of how a node's last stream here ended.
type Past struct {
	Settled fleet.Revision
	Clean   bool
	View    string
	At      time.Time // the database's clock
	// Untold are its refusals that the database has not heard of yet, without what stood in.
	Untold []fleet.PastRefusal
}

// Past tells of a node that was here and has no stream any more, if it is remembered:
// until the database has been told at least.
func (r *Recorder) Past(key fleet.Key, node string) (Past, bool) {
	r.mu.Lock()
	b := r.books[key]
	r.mu.Unlock()
	if b == nil {
		return Past{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.nodes[plain(node, maxNodeText)]
	if n == nil || n.live() {
		return Past{}, false
	}
	return Past{Settled: n.confirmed(), Clean: len(n.doubt) == 0, View: n.row.View, At: n.row.Since, Untold: b.untoldOf(n)}, true
}

// Remembers reports whether anything is known here of a node, live or not.
func (r *Recorder) Remembers(key fleet.Key, node string) bool {
	r.mu.Lock()
	b := r.books[key]
	r.mu.Unlock()
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nodes[plain(node, maxNodeText)] != nil
}

// untoldOf are a node's refusals that are not reported yet.
func (b *book) untoldOf(n *node) (rs []fleet.PastRefusal) {
	for k, r := range b.refusals {
		if k.node != n.row.Node {
			continue
		}
		past := fleet.PastRefusal{Refusal: r.Refusal}
		k.revision = 0
		if end, ok := b.resolved[k]; ok && r.Revision <= end.By {
			past.By = end.By
		}
		rs = append(rs, past)
	}
	return rs
}

// Server is whom the recorder reports for.
func (r *Recorder) Server() fleet.ServerID { return r.cfg.Server }

// Confirmed is what all streams of the stream's node have settled, or the node before them.
func (s *Stream) Confirmed() fleet.Revision {
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	return s.node.confirmed()
}

// Announce waits until the database knows that the node is there, for a second at most.
// Else a revision that is made in the instant after a node's very first stream began would
// seem to concern nobody (SEMANTICS 5.4). Nodes that come together share a report.
func (s *Stream) Announce(ctx context.Context) {
	if done := s.announce(time.Now()); done != nil {
		s.book.await(ctx, done)
	}
}

// announce makes the book due at once; the channel is closed when that is told. nil: it is
// told already.
func (s *Stream) announce(now time.Time) chan struct{} {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.closed || s.node.sure && !s.node.dirty {
		return nil
	}
	b.seq++
	done := make(chan struct{})
	b.waiters[done] = b.seq
	b.schedule(now)
	return done
}

// await gives up after recordWait, or when ctx ends.
func (b *book) await(ctx context.Context, done chan struct{}) {
	timer := time.NewTimer(recordWait)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiters, done)
}

// Revise tells what has become of refusals that the database knows of already. It does
// not wait for the sink.
func (s *Stream) Revise(rs []fleet.Refusal) {
	if len(rs) == 0 {
		return
	}
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse(s.node, rs, time.Now())
}
