package delivery

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// keepRevisions is how many of a fleet's newest revisions are counted (SEMANTICS 6.1).
const keepRevisions = 200

// recentCommit bounds for how long before a node's first sight a revision may have been
// made to be counted for it. A proxy that comes back from another server confirms old
// revisions again: their times must not move for it.
const recentCommit = time.Minute

// counter is one revision and who has confirmed it.
type counter struct {
	fleet.Delivered
	committedAt time.Time // the database's clock
	knownAt     time.Time // ours
	dirty       bool      // differs from what was reported
	journey     *journey  // nil: it is not traced, or that has ended
}

// revisions are the newest ones of a fleet, ascending and without gaps.
type revisions []*counter

// add appends the revisions up to rev.
func (rs *revisions) add(rev fleet.Revision, committedAt, now time.Time) {
	first := rev
	if n := len(*rs); n > 0 {
		first = (*rs)[n-1].Revision + 1
	}
	for r := max(first, rev-keepRevisions+1); r <= rev; r++ {
		c := &counter{committedAt: committedAt, knownAt: now, dirty: true}
		c.Revision = r
		*rs = append(*rs, c)
	}
	if over := len(*rs) - keepRevisions; over > 0 {
		*rs = slices.Delete(*rs, 0, over)
	}
}

// knownFor is the newest revision that has been known for at least d; 0 if none.
func (rs revisions) knownFor(d time.Duration, now time.Time) fleet.Revision {
	for _, c := range slices.Backward(rs) {
		if !c.knownAt.Add(d).After(now) {
			return c.Revision
		}
	}
	return 0
}

// nextKnownFor is when the first revision above rev will have been known for d; zero
// if there is none or that time has passed.
func (rs revisions) nextKnownFor(d time.Duration, rev fleet.Revision, now time.Time) time.Time {
	for _, c := range rs {
		if at := c.knownAt.Add(d); c.Revision > rev && at.After(now) {
			return at
		}
	}
	return time.Time{}
}

// committedBefore is the newest revision made before t (the database's clock).
func (rs revisions) committedBefore(t time.Time) fleet.Revision {
	for _, c := range slices.Backward(rs) {
		if c.committedAt.Before(t) {
			return c.Revision
		}
	}
	return 0
}

// awaited reports whether a revision was made for the node to confirm. One from before it
// connected was, if the node came from elsewhere and was sent something for it; else
// the node has confirmed it there, or is new, and the revision's times must not move for
// it (SEMANTICS 5.4).
func (n *node) awaited(rev fleet.Revision) bool {
	return rev > n.absent || n.resumed && rev <= n.sent
}

// count adds a node that has come to rev and was counted up to n.counted. It is affected
// by what something was sent to it for. A revision of which something is withheld from it
// counts it when that ends. confirmed is told of each that counts the node at once.
func (rs revisions) count(n *node, rev fleet.Revision, at time.Time, confirmed func(*counter)) {
	passed := n.passed
	n.passed = nil
	defer func() { n.counted = max(n.counted, rev) }()
	for _, c := range slices.Backward(rs) {
		fresh, again := c.Revision > n.counted, slices.Contains(passed, c.Revision)
		switch {
		case !fresh && len(passed) == 0:
			return // and so all before
		case again && (c.Revision > rev || n.waits.Withholds(c.Revision)):
			n.passed = append(n.passed, c.Revision)
			continue
		case !again && (!fresh || c.Revision > rev || !n.awaited(c.Revision)):
			continue
		case n.waits.Withholds(c.Revision):
			n.passed = append(n.passed, c.Revision)
			continue
		}
		c.Acked++
		if c.Revision <= max(n.sent, n.absent) {
			c.Affected++
		}
		if !again {
			confirmed(c)
		}
		t := at
		if t.Before(c.committedAt) {
			t = c.committedAt
		}
		if c.FirstAck.IsZero() {
			c.FirstAck = t
		}
		if t.After(c.LastAck) {
			c.LastAck = t
		}
		c.dirty = true
	}
}
