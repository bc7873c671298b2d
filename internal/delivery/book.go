package delivery

import (
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// Bounds of what is kept while the sink is away or for nodes that are gone.
const (
	maxGone     = 2_048   // nodes that are gone, remembered to count nobody twice
	maxGoneHard = 100_000 // the same, of those whose end the database must still hear of
	maxPending  = 20_000  // refusals and resolutions not yet reported
	rememberFor = time.Minute
	quickFlush  = 64 // flushes sooner than flushEvery that are saved up, one per flushEvery
)

// refusalKey names a refusal: a node, a resource, a version, and the revision that
// introduced it; a version that comes back and is refused again is another refusal.
// A resolution ends those up to its own revision, so its key has none.
type refusalKey struct {
	node          string
	typ           fleet.Type
	name, version string
	revision      fleet.Revision
}

type pendingRefusal struct {
	fleet.Refusal
	seq uint64
}

type pendingResolution struct {
	fleet.Resolution
	seq     uint64
	earlier fleet.Revision // By of the last one that is not told either
}

// gone is a node's end, oldest first in a book's list.
type gone struct {
	node *node
	at   time.Time
}

// book is what is recorded of one fleet.
type book struct {
	rec *Recorder
	key fleet.Key

	mu      sync.Mutex // guards all below; never held while the sink is called; taken before rec.mu
	head    fleet.Revision
	settled fleet.Revision // of the server, as last reported or tried
	sure    bool           // the database holds that
	revs    revisions
	nodes   map[string]*node // by node id: live ones and some that are gone
	gone    []gone
	trimAt  int // how long gone gets before it is trimmed

	seq      uint64    // of refusals and resolutions
	refused  time.Time // the last refusal's time
	offered  time.Time // the last one that something was offered again
	refusals map[refusalKey]pendingRefusal
	resolved map[refusalKey]pendingResolution
	waiters  map[chan struct{}]uint64 // the seq that each waits for; closed when it is told

	dueAt    time.Time // when it is enqueued for; zero: not
	flushed  time.Time // the last report's begin
	quiet    bool      // nobody was behind then
	saved    float64   // flushes that may come sooner
	failures int
	retryAt  time.Time // no report before
	closing  bool      // the server stops: all are disconnected
	forget   bool      // no streams are expected
	dropped  bool      // no longer the recorder's
}

func newBook(r *Recorder, key fleet.Key) *book {
	return &book{
		rec: r, key: key, quiet: true, saved: quickFlush, trimAt: maxGone,
		nodes:    make(map[string]*node),
		refusals: make(map[refusalKey]pendingRefusal),
		resolved: make(map[refusalKey]pendingResolution),
		waiters:  make(map[chan struct{}]uint64),
	}
}

func (b *book) live() int {
	n := 0
	for _, x := range b.nodes {
		if x.live() {
			n++
		}
	}
	return n
}

// untold reports whether something was not reported yet, live nodes apart.
func (b *book) untold() bool {
	if len(b.refusals)+len(b.resolved) > 0 {
		return true
	}
	for _, n := range b.nodes {
		if n.dirty || !n.sure {
			return true
		}
	}
	return false
}

func (b *book) advance(rev fleet.Revision, committedAt, now time.Time) {
	b.forget = false
	if rev <= b.head && len(b.revs) > 0 {
		return
	}
	b.head = rev
	b.revs.add(rev, committedAt, now)
	// Nothing is reported for a head alone: the first confirmation would then wait for
	// the next flush. Who does not confirm is looked for when the time is up.
	b.schedule(now.Add(lagAfter))
}

func (b *book) restart(rev fleet.Revision, committedAt, now time.Time) {
	b.forget = false
	b.head, b.settled, b.sure, b.revs = rev, 0, false, nil
	b.revs.add(rev, committedAt, now)
	for _, n := range b.nodes {
		n.settled, n.before, n.counted, n.sent, n.absent, n.resumed = 0, 0, rev-1, 0, rev-1, true
		n.passed, n.left = nil, fleet.Waits{}
		for s := range n.streams {
			s.settled = 0
		}
		n.dirty = n.dirty || !n.live() // what its row says is of the old history
	}
	b.schedule(now)
}

func (b *book) connect(from fleet.Node, info StreamInfo, now time.Time) *Stream {
	b.forget = false
	n := b.nodes[plain(from.ID, maxNodeText)]
	if n == nil {
		n = newNode(from)
		n.counted = b.revs.committedBefore(b.rec.dbTime(now).Add(-recentCommit))
		b.nodes[n.row.Node] = n
	}
	if !n.live() {
		n.absent, n.resumed, n.before = b.head, info.Resumed, info.Before
		n.row.Since = b.rec.dbTime(now)
		n.goneAt = time.Time{}
		n.doubt.begin(info.Doubtful)
		n.lookAt = now.Add(duplicateAfter + lookEvery).Truncate(lookEvery)
		b.schedule(n.lookAt)
	}
	s := &Stream{book: b, node: n, kind: info.Protocol, begun: now}
	if info.Resumed {
		s.settled = min(n.before, b.head) // what was confirmed stays so; a client that comes with nothing is a new one
	}
	n.streams[s] = struct{}{}
	n.least()
	n.describe(from, info)
	n.dirty = true
	b.wake(now)
	return s
}

func (b *book) disconnect(s *Stream, now time.Time) {
	n := s.node
	if len(n.streams) == 1 {
		n.left = n.waits.PassedOver(n.settled)
	}
	delete(n.streams, s)
	n.dirty = true
	b.waitsChanged(n, now)
	b.wake(now)
	if n.live() {
		before := n.settled
		if n.least(); n.settled > before {
			b.revs.count(n, n.settled, b.rec.dbTime(now))
		}
		return
	}
	n.goneAt = now
	n.row.Since = b.rec.dbTime(now)
	b.gone = append(b.gone, gone{n, now})
	if len(b.gone) > b.trimAt {
		b.trimGone(now)
	}
}

// trimGone drops nodes that are gone: the old ones, and the oldest when there are too
// many. Clients with a fresh id each time leave nothing behind (T14).
func (b *book) trimGone(now time.Time) {
	keep := b.gone[:0]
	over := len(b.gone) - maxGone
	hard := len(b.gone) - maxGoneHard
	for i, g := range b.gone {
		if n := g.node; !n.goneAt.Equal(g.at) || b.nodes[n.row.Node] != n {
			continue // it came back
		}
		told := g.node.sure && !g.node.dirty
		old := now.Sub(g.at) > rememberFor
		if told && (old || i < over) || !told && !g.node.tried && i < over || i < hard {
			delete(b.nodes, g.node.row.Node)
			continue
		}
		keep = append(keep, g)
	}
	clear(b.gone[len(keep):])
	b.gone = keep
	b.trimAt = max(maxGone, len(keep)+maxGone/4) // so that a long list is not walked for every end
}

// refuse keeps refusals for the next report. The channel is closed when they are told;
// whoever stops waiting before takes it out of waiters.
func (b *book) refuse(n *node, rs []fleet.Refusal, now time.Time) chan struct{} {
	b.seq++
	for _, r := range rs {
		r.Node = n.row.Node
		r.Detail = plain(r.Detail, maxDetail)
		if r.At.IsZero() {
			r.At = later(b.rec.dbTime(now), b.offered)
			b.refused = later(b.refused, r.At)
		}
		k := refusalKey{r.Node, r.Type, r.Name, r.Version, r.Revision}
		if len(b.refusals) < maxPending {
			b.refusals[k] = pendingRefusal{r, b.seq}
		}
		// Refused again after its end, which is not told yet: it has not ended. The end of an
		// earlier refusal stands.
		k.revision = 0
		if p, ok := b.resolved[k]; ok && r.Revision <= p.By {
			if p.By = p.earlier; p.By == 0 || p.By >= r.Revision {
				delete(b.resolved, k)
			} else {
				b.resolved[k] = p
			}
		}
	}
	n.dirty = true
	done := make(chan struct{})
	b.waiters[done] = b.seq
	b.schedule(now)
	return done
}

func (b *book) resolve(rs []fleet.Resolution) {
	b.seq++
	for _, r := range rs {
		r.Node = plain(r.Node, maxNodeText)
		if !r.At.IsZero() { // a clock that is set back must not reverse the order
			r.At = later(r.At, b.refused.Add(time.Microsecond))
			b.offered = later(b.offered, r.At)
		}
		k := refusalKey{node: r.Node, typ: r.Type, name: r.Name, version: r.Version}
		if len(b.resolved) < maxPending {
			b.resolved[k] = pendingResolution{r, b.seq, b.resolved[k].By}
		}
	}
}

// wake makes the book due soon: something is worth a report.
func (b *book) wake(now time.Time) {
	at := now.Add(firstFlush)
	if next := b.flushed.Add(flushEvery); at.Before(next) && (!b.quiet || b.saved < 1) {
		at = next
	}
	b.schedule(at)
}

// schedule makes the book due at the given time at the latest, but not before a retry is.
func (b *book) schedule(at time.Time) {
	if at.Before(b.retryAt) {
		at = b.retryAt
	}
	if b.dueAt.IsZero() || at.Before(b.dueAt) {
		b.dueAt = at
		b.rec.enqueue(b, at)
	}
}
