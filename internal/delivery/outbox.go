package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// maxPending is how many refusals, and how many resolutions, of a fleet are kept while the
// sink is away.
const maxPending = 20_000

// refusalKey names a refusal: a node, a resource, a version, and the revision that
// introduced it; a version that comes back and is refused again is another refusal.
// A resolution ends those up to its own revision, so its key has none.
type refusalKey struct {
	node          string
	typ           fleet.Type
	name, version string
	revision      fleet.Revision
}

func (k refusalKey) resolution() refusalKey {
	k.revision = 0
	return k
}

type pendingRefusal struct {
	fleet.Refusal
	seq uint64
}

type pendingResolution struct {
	fleet.Resolution
	seq     uint64
	earlier fleet.Revision // By of the last one that is not acked either
}

// outbox is refusals and their ends that the database does not hold yet.
type outbox struct {
	seq       uint64    // of what was put in last
	refusedAt time.Time // the last refusal's time
	offeredAt time.Time // the last one that something was offered again
	refusals  map[refusalKey]pendingRefusal
	resolved  map[refusalKey]pendingResolution
	waiters   map[chan struct{}]uint64 // the seq that each waits for; closed when it is acked
}

func newOutbox() outbox {
	return outbox{
		refusals: make(map[refusalKey]pendingRefusal),
		resolved: make(map[refusalKey]pendingResolution),
		waiters:  make(map[chan struct{}]uint64),
	}
}

func (o *outbox) empty() bool { return len(o.refusals)+len(o.resolved) == 0 }

// refuse puts a node's refusals in; at is the database's clock.
func (o *outbox) refuse(node string, rs []fleet.Refusal, at time.Time) {
	o.seq++
	for _, r := range rs {
		r.Node = node
		r.Detail = plain(r.Detail, maxDetail)
		if r.At.IsZero() {
			r.At = later(at, o.offeredAt)
			o.refusedAt = later(o.refusedAt, r.At)
		}
		k := refusalKey{r.Node, r.Type, r.Name, r.Version, r.Revision}
		if len(o.refusals) < maxPending {
			o.refusals[k] = pendingRefusal{r, o.seq}
		}
		// Refused again after its end, which is not acked yet: it has not ended. The end of an
		// earlier refusal stands.
		k = k.resolution()
		if p, ok := o.resolved[k]; ok && r.Revision <= p.By {
			if p.By = p.earlier; p.By == 0 || p.By >= r.Revision {
				delete(o.resolved, k)
			} else {
				o.resolved[k] = p
			}
		}
	}
}

func (o *outbox) resolve(rs []fleet.Resolution) {
	o.seq++
	for _, r := range rs {
		r.Node = plain(r.Node, maxNodeText)
		if !r.At.IsZero() { // a clock that is set back must not reverse the order
			r.At = later(r.At, o.refusedAt.Add(time.Microsecond))
			o.offeredAt = later(o.offeredAt, r.At)
		}
		k := refusalKey{node: r.Node, typ: r.Type, name: r.Name, version: r.Version}
		if len(o.resolved) < maxPending {
			o.resolved[k] = pendingResolution{r, o.seq, o.resolved[k].By}
		}
	}
}

// wait returns a channel that is closed when all that is in now is acked. Whoever stops
// waiting before takes it out of waiters.
func (o *outbox) wait() chan struct{} {
	done := make(chan struct{})
	o.waiters[done] = o.seq
	return done
}

// take adds all that is in to a status, and says up to which seq that is.
func (o *outbox) take(s *fleet.Status) uint64 {
	for _, p := range o.refusals {
		s.Refusals = append(s.Refusals, p.Refusal)
	}
	for _, p := range o.resolved {
		s.Resolved = append(s.Resolved, p.Resolution)
	}
	return o.seq
}

// ack removes what was in up to seq and frees those who wait for it.
func (o *outbox) ack(seq uint64) {
	for k, p := range o.refusals {
		if p.seq <= seq {
			delete(o.refusals, k)
		}
	}
	for k, p := range o.resolved {
		if p.seq <= seq {
			delete(o.resolved, k)
		}
	}
	for done, at := range o.waiters {
		if at <= seq {
			close(done)
			delete(o.waiters, done)
		}
	}
}

// of are a node's refusals that are in, without what stood in.
func (o *outbox) of(node string) (rs []fleet.PastRefusal) {
	for k, r := range o.refusals {
		if k.node != node {
			continue
		}
		past := fleet.PastRefusal{Refusal: r.Refusal}
		if end, ok := o.resolved[k.resolution()]; ok && r.Revision <= end.By {
			past.By = end.By
		}
		rs = append(rs, past)
	}
	return rs
}
