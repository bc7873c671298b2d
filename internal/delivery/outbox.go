package delivery

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

const (
	// maxPending is how many refusals, and how many ends, of a fleet are kept while the
	// sink is away.
	maxPending = 20_000
	// keepTold is for how long what the sink has taken is kept: a standby that was behind by less does not have it when it takes over.
	keepTold = 5 * time.Minute
	// maxTold is how much of that is kept of a fleet, and maxToldWords what of a client's words, in bytes: they are 4 KiB, of as many
	// nodes as a credential admits.
	maxTold      = maxPending
	maxToldWords = 512
	// maxToldOfServer is how much of that is kept of all fleets of a server: 150 MiB where all names and words are as long as they may be. Each minute
	// it is looked at, so there may be more for so long.
	maxToldOfServer = 5 * maxTold
	forgetEvery     = time.Minute
)

// eventKey names an event: a refusal of a node, of a version, by the revision that introduced
// it, since a version that comes back and is refused again is another refusal; or the end of all
// of a version up to the event's own revision.
type eventKey struct {
	node string
	refusal.Key
	revision fleet.Revision
	end      bool
}

func keyOf(r fleet.Refusal) eventKey {
	return eventKey{r.Node, refusal.KeyOf(r), r.Revision, !r.Stands()}
}

// event is a refusal, or an end, with its place in the order in which they were put in.
type event struct {
	fleet.Refusal
	seq uint64
}

// told is an event that the sink has taken. Of a history that was cut it is the words alone: its revision may be another one by now.
type told struct {
	event
	at    time.Time
	words bool
}

// ticket is the place of an event.
type ticket struct {
	key eventKey
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
// the order in which they came; what they say is the same in any order (refusal.Fold).
type outbox struct {
	seq     uint64   // of what was put in last
	order   []ticket // oldest first; one whose seq is not that of what is in has no meaning
	events  map[eventKey]event
	ends    int                              // of events
	byNode  map[string]map[eventKey]struct{} // the keys of events; no node has none
	waiters map[chan struct{}]uint64         // the seq that each waits for; closed when it is acked
	acked   []chan struct{}                  // to be closed

	again   int               // how many of what is in may be told again, and have no part in maxPending
	told    map[eventKey]told // what was acked lately
	trimAt  int               // how many told gets before it is trimmed
	trimDue time.Time         // when it is trimmed whatever there is
}

func newOutbox() outbox {
	return outbox{
		events:  make(map[eventKey]event),
		byNode:  make(map[string]map[eventKey]struct{}),
		waiters: make(map[chan struct{}]uint64),
		told:    make(map[eventKey]told),
	}
}

func (o *outbox) empty() bool { return len(o.events) == 0 }

// refuse puts a node's refusals in; at is the database's clock.
func (o *outbox) refuse(node string, rs []fleet.Refusal, at time.Time) {
	for _, r := range rs {
		r.Node = node
		r.Detail = plain(r.Detail, maxDetail)
		if r.At.IsZero() {
			r.At = at
		}
		k := keyOf(r)
		if r.Again > 0 { // in the words that are in, or that the sink has
			was := k
			was.revision = r.Again
			if r.Detail = o.events[was].Detail; r.Detail == "" {
				r.Detail = o.told[was].Detail
			}
		}
		if p, told := o.events[k]; told && p.Again == 0 && r.Again > 0 { // the words of that stay
			p.Offer = max(p.Offer, r.Offer)
			r = p.Refusal
		}
		o.put(r)
	}
}

// resolve puts ends in.
func (o *outbox) resolve(rs []fleet.Refusal) {
	for _, r := range rs {
		r.Node = plain(r.Node, maxNodeText)
		o.put(r)
	}
}

// put gives an event a place at the end of the order, unless there are too many, or one that counts more.
func (o *outbox) put(r fleet.Refusal) {
	k, many := keyOf(r), len(o.events)-o.ends
	if k.end {
		many = o.ends
	}
	p, told := o.events[k]
	switch {
	case told && p.Offer > r.Offer:
		return
	case !told && many >= maxPending+o.again:
		return
	case !told && k.end:
		o.ends++
	}
	o.seq++
	o.events[k] = event{r, o.seq}
	if o.byNode[k.node] == nil {
		o.byNode[k.node] = make(map[eventKey]struct{}, 1)
	}
	o.byNode[k.node][k] = struct{}{}
	o.order = append(o.order, ticket{k, o.seq})
	if len(o.order) > 2*len(o.events)+64 {
		o.order = slices.DeleteFunc(o.order, func(t ticket) bool { return !o.valid(t) })
	}
}

func (o *outbox) drop(k eventKey) {
	delete(o.events, k)
	if k.end {
		o.ends--
	}
	if delete(o.byNode[k.node], k); len(o.byNode[k.node]) == 0 {
		delete(o.byNode, k.node)
	}
}

// wait returns a channel that is closed when all that is in now is acked. Whoever stops
// waiting before takes it out of waiters.
func (o *outbox) wait() chan struct{} {
	done := make(chan struct{})
	o.waiters[done] = o.seq
	return done
}

// valid reports whether a ticket is of what is in, and not of what was replaced.
func (o *outbox) valid(t ticket) bool { return o.events[t.key].seq == t.seq }

// take adds what came first to a status, most rows at most, and says of which nodes refusals
// stay in. more: something does.
func (o *outbox) take(s *fleet.Status, most int) (ts []ticket, left held, more bool) {
	for _, t := range o.order {
		switch {
		case !o.valid(t):
			continue
		case len(ts) == most:
			return ts, o.after(ts[most-1].seq), true
		case t.key.end:
			s.Resolved = append(s.Resolved, o.events[t.key].Refusal)
		default:
			s.Refusals = append(s.Refusals, o.events[t.key].Refusal)
		}
		ts = append(ts, t)
	}
	return ts, nil, false
}

// after is whose refusals came after seq.
func (o *outbox) after(seq uint64) held {
	h := make(held)
	for k, e := range o.events {
		if k.end || e.seq <= seq {
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
func (o *outbox) ack(ts []ticket, now time.Time) {
	for _, t := range ts {
		if o.valid(t) {
			e := o.events[t.key]
			e.Detail = strings.Clone(plain(e.Detail, maxToldWords))
			o.told[t.key] = told{event: e, at: now}
			o.drop(t.key)
		}
	}
	if o.empty() {
		o.again = 0
	}
	o.trim(now)
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

// trim forgets what was told long ago, and the oldest where there is too much.
func (o *outbox) trim(now time.Time) {
	if len(o.told) <= o.trimAt && now.Before(o.trimDue) {
		return
	}
	o.keepNewest(maxTold, now)
}

// keepNewest forgets what was told long ago, and the oldest of the others where there are more than most.
func (o *outbox) keepNewest(most int, now time.Time) {
	maps.DeleteFunc(o.told, func(_ eventKey, t told) bool { return now.Sub(t.at) > keepTold })
	if over := len(o.told) - most; over > 0 {
		for _, t := range o.toldInOrder()[:over] {
			delete(o.told, keyOf(t.Refusal))
		}
	}
	if len(o.told) == 0 {
		o.told = make(map[eventKey]told) // the room of many
	}
	o.trimAt, o.trimDue = min(2*len(o.told)+64, maxTold+maxTold/2), now.Add(keepTold)
}

func (o *outbox) toldInOrder() []told {
	return slices.SortedFunc(maps.Values(o.told), func(a, b told) int { return cmp.Compare(a.seq, b.seq) })
}

// tellAgain puts in what was told lately: the sink may have lost it. What is in already is newer. It leaves as much room as before for what is new:
// a refusal for which there is none would seem to be a confirmation.
func (o *outbox) tellAgain(now time.Time) {
	o.again = min(o.again+len(o.told), maxTold+maxTold/2)
	for _, t := range o.toldInOrder() {
		k := keyOf(t.Refusal)
		if _, newer := o.events[k]; t.words || newer || now.Sub(t.at) > keepTold {
			continue
		}
		delete(o.told, k)
		o.put(t.Refusal)
	}
}

// restart takes in that the history was cut and goes on at a revision. Of refusals it is not known any more of which revision they are: those
// that stand are told anew by whoever knows the content. An end is none of a later revision.
func (o *outbox) restart(at fleet.Revision) {
	for k, e := range o.events {
		if !k.end {
			o.told[k] = told{event: e, words: true}
			o.drop(k)
			continue
		}
		e.By = min(e.By, at)
		o.events[k] = e
	}
	for k, t := range o.told {
		t.words, t.By = !k.end, min(t.By, at)
		o.told[k] = t
	}
}

// of are the events of a node that are in, oldest first. Refusals are without what stood in.
func (o *outbox) of(node string) (rs []fleet.Refusal) {
	if len(o.byNode[node]) == 0 {
		return nil
	}
	es := make([]event, 0, len(o.byNode[node]))
	for k := range o.byNode[node] {
		es = append(es, o.events[k])
	}
	slices.SortFunc(es, func(a, b event) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range es {
		rs = append(rs, e.Refusal)
	}
	return rs
}
