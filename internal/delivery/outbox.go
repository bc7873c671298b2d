package delivery

import (
	"slices"
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
	fleet.Refusal
	seq     uint64
	earlier fleet.Revision // By of the last one that is not acked either
}

// ticket is the place of a refusal, or of an end, in the order in which they were put in.
type ticket struct {
	key refusalKey
	end bool
	seq uint64
}

// held is the nodes with refusals that stay in the outbox for now, and the least revision
// that those are of.
type held map[string]fleet.Revision

// settled is what may be said that a node has settled: nothing that it refuses and of which
// the refusal is not told yet. No more than was told of it before either, with server of the
// server: the sink may know that what is refused was in force since an earlier revision.
func (h held) settled(n *node, server fleet.Revision) fleet.Revision {
	if rev, ok := h[n.row.Node]; ok {
		return min(n.settled, max(0, rev-1), n.told(server))
	}
	return n.settled
}

// outbox is refusals and their ends that the database does not hold yet. They leave it in
// the order in which they came: an end never comes before its refusal.
type outbox struct {
	seq       uint64    // of what was put in last
	order     []ticket  // oldest first; one whose seq is not that of what is in has no meaning
	refusedAt time.Time // the last refusal's time
	offeredAt time.Time // the last one that something was offered again
	refusals  map[refusalKey]pendingRefusal
	byNode    map[string]map[refusalKey]struct{} // the keys of refusals; no node has none
	resolved  map[refusalKey]pendingResolution
	waiters   map[chan struct{}]uint64 // the seq that each waits for; closed when it is acked
	acked     []chan struct{}          // to be closed
}

func newOutbox() outbox {
	return outbox{
		refusals: make(map[refusalKey]pendingRefusal),
		byNode:   make(map[string]map[refusalKey]struct{}),
		resolved: make(map[refusalKey]pendingResolution),
		waiters:  make(map[chan struct{}]uint64),
	}
}

func (o *outbox) empty() bool { return len(o.refusals)+len(o.resolved) == 0 }

// refuse puts a node's refusals in; at is the database's clock.
func (o *outbox) refuse(node string, rs []fleet.Refusal, at time.Time) {
	for _, r := range rs {
		r.Node = node
		r.Detail = plain(r.Detail, maxDetail)
		if r.At.IsZero() {
			r.At = later(at, o.offeredAt)
			o.refusedAt = later(o.refusedAt, r.At)
		}
		k := refusalKey{r.Node, r.Type, r.Name, r.Version, r.Revision}
		if r.Again > 0 { // in the words that are in, or that the sink has
			was := k
			was.revision = r.Again
			r.Detail = o.refusals[was].Detail
		}
		p, told := o.refusals[k]
		if own := told && p.Again == 0 && r.Again > 0; !own && len(o.refusals) < maxPending { // else the words of that stay
			o.keep(k, r)
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

func (o *outbox) keep(k refusalKey, r fleet.Refusal) {
	o.refusals[k] = pendingRefusal{r, o.put(k, false)}
	if o.byNode[k.node] == nil {
		o.byNode[k.node] = make(map[refusalKey]struct{}, 1)
	}
	o.byNode[k.node][k] = struct{}{}
}

func (o *outbox) drop(k refusalKey) {
	delete(o.refusals, k)
	if delete(o.byNode[k.node], k); len(o.byNode[k.node]) == 0 {
		delete(o.byNode, k.node)
	}
}

func (o *outbox) resolve(rs []fleet.Refusal) {
	for _, r := range rs {
		r.Node = plain(r.Node, maxNodeText)
		if !r.Ended.IsZero() { // a clock that is set back must not reverse the order
			r.Ended = later(r.Ended, o.refusedAt.Add(time.Microsecond))
			o.offeredAt = later(o.offeredAt, r.Ended)
		}
		k := refusalKey{node: r.Node, typ: r.Type, name: r.Name, version: r.Version}
		if len(o.resolved) < maxPending {
			o.resolved[k] = pendingResolution{r, o.put(k, true), o.resolved[k].By}
		}
	}
}

// endOf reports whether a node's refusal that the sink knows of has ended, and by which revision.
func (o *outbox) endOf(node string, r fleet.Refusal) (by fleet.Revision, ended bool) {
	end, ok := o.resolved[refusalKey{node: plain(node, maxNodeText), typ: r.Type, name: r.Name, version: r.Version}]
	return end.By, ok && r.Revision <= end.By && (end.Ended.IsZero() || r.At.Before(end.Ended))
}

// wait returns a channel that is closed when all that is in now is acked. Whoever stops
// waiting before takes it out of waiters.
func (o *outbox) wait() chan struct{} {
	done := make(chan struct{})
	o.waiters[done] = o.seq
	return done
}

// put gives what is put in a place at the end of the order.
func (o *outbox) put(k refusalKey, end bool) uint64 {
	o.seq++
	o.order = append(o.order, ticket{k, end, o.seq})
	if len(o.order) > 2*(len(o.refusals)+len(o.resolved))+64 {
		o.order = slices.DeleteFunc(o.order, func(t ticket) bool { return t.seq != o.seq && !o.valid(t) })
	}
	return o.seq
}

// valid reports whether a ticket is of what is in, and not of what was replaced or taken back.
func (o *outbox) valid(t ticket) bool {
	if t.end {
		return o.resolved[t.key].seq == t.seq
	}
	return o.refusals[t.key].seq == t.seq
}

// take adds what came first to a status, most rows at most, and says of which nodes refusals
// stay in. more: something does.
func (o *outbox) take(s *fleet.Status, most int) (ts []ticket, left held, more bool) {
	for _, t := range o.order {
		switch {
		case !o.valid(t):
			continue
		case len(ts) == most:
			return ts, o.after(ts[most-1].seq), true
		case t.end:
			s.Resolved = append(s.Resolved, o.resolved[t.key].Refusal)
		default:
			s.Refusals = append(s.Refusals, o.refusals[t.key].Refusal)
		}
		ts = append(ts, t)
	}
	return ts, nil, false
}

// after is whose refusals came after seq.
func (o *outbox) after(seq uint64) held {
	h := make(held)
	for k, p := range o.refusals {
		if p.seq <= seq {
			continue
		}
		if rev, ok := h[k.node]; !ok || k.revision < rev {
			h[k.node] = k.revision
		}
	}
	return h
}

// ack removes what the sink has taken, if it is still the same. Those who wait for that and what came before are
// freed then; see fleetStatus.free.
func (o *outbox) ack(ts []ticket) {
	for _, t := range ts {
		switch {
		case !o.valid(t):
		case t.end:
			delete(o.resolved, t.key)
		default:
			o.drop(t.key)
		}
	}
	for len(o.order) > 0 && !o.valid(o.order[0]) {
		o.order = o.order[1:]
	}
	for done, at := range o.waiters {
		if len(o.order) == 0 || at < o.order[0].seq {
			o.acked = append(o.acked, done)
			delete(o.waiters, done)
		}
	}
}

// of are a node's refusals that are in, without what stood in.
func (o *outbox) of(node string) (rs []fleet.Refusal) {
	for k := range o.byNode[node] {
		r := o.refusals[k].Refusal
		if end, ok := o.resolved[k.resolution()]; ok && r.Revision <= end.By {
			r.By = end.By
		}
		rs = append(rs, r)
	}
	return rs
}
