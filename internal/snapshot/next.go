package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// MaxResponse is the size in bytes at which a delta response is split: every client
// but Envoy's own gRPC stops at 4 MiB and tries for ever (PROTOCOL rule 25).
const MaxResponse = 3 << 20

// Response is what to send next.
type Response struct {
	Type fleet.Type
	// Resources go out in full, by name. In state of the world, for the types whose set is
	// always full, they are the whole set.
	Resources []*Resource
	// Removed are names that are no more (delta).
	Removed []string
	// Aliases are the other names by which the client asked for resources, by theirs.
	Aliases map[string][]string
	// Nonexistent are names of virtual hosts that were asked for on demand and resolve to
	// nothing.
	Nonexistent []string
	// Heartbeat: Resources go out without their bodies, to renew their TTL. It changes
	// nothing, and is not answered in turn with other responses.
	Heartbeat bool
	// Version is the version_info of a state-of-the-world response.
	Version Sum
	// Revision is that of the target (system_version_info in delta).
	Revision fleet.Revision
	// Nonce is set by Sent.
	Nonce string

	target   *Target
	changes  []change
	after    *Set                 // what the client holds of its subscription once it ACKs
	dropped  map[string]*Resource // of them, what it has given up meanwhile
	complete bool                 // then the type is in step with the target
	content  Sum                  // of names and versions: no content goes twice to a stream that refused it
	cut      bool                 // something was left out because of its size
	blind    bool                 // what the client held was not known
	presumed bool                 // presumed stuck: what is to repair it does not wait for the answer
	sentAt   time.Time
	refusals int // of the client, when it was sent
	// answered are the names whose asking it answers, besides those of the resources.
	answered []string
	// beatAfter: the round of heartbeats goes on behind this name.
	beatAfter string
}

// Changes reports whether the response changes what the client holds: an answer that
// only has to be given does not.
func (r *Response) Changes() bool { return len(r.changes) > 0 }

// alters reports whether a client that took the response, or half of it, would hold
// anything else than before.
func (r *Response) alters() bool {
	return r != nil && (r.blind || slices.ContainsFunc(r.changes, func(ch change) bool { return !Same(ch.old, ch.new) || ch.old.doubt }))
}

// change is one name whose resource differs between client and target, or that is owed
// an answer: old is what the client has, new what it is to have; nil is nothing. If both
// are it is missing, and asked is the name.
type change struct {
	old, new *Resource
	asked    string
}

func (ch change) missing() bool { return ch.old == nil && ch.new == nil }

func (ch change) name() string {
	switch {
	case ch.new != nil:
		return ch.new.Name
	case ch.old != nil:
		return ch.old.Name
	}
	return ch.asked
}

// Next returns the response that brings the client one step nearer to the target, nil
// while there is none to send. It looks at the types in the order in which a client is
// built up and leaves out those whose last response is unanswered. It depends on
// nothing but the client and the target, so that a newer target in the middle of a plan
// simply is the target; what it notes in the client is what it found in step.
//
// Make before break (PROTOCOL rule 19, SEMANTICS 3.9): a resource that names a cluster
// which the client is to have and does not have yet waits for that cluster's ACK, and a
// cluster is taken away only when all that stopped naming it was ACKed.
func (c *Client) Next(target *Target) *Response {
	c.enter(target.History)
	c.retry(target)
	if c.doubtTaken(target) {
		return nil // the target is about to be another one
	}
	c.pushUnasked(target)
	c.presumeStuck()
	for len(c.verdicts) == 0 { // else the target is about to be another one
		if r := c.step(c.effective(target)); r != nil || !c.advance() {
			return r
		}
	}
	return nil
}

// step is Next, given what trials make of the target.
func (c *Client) step(target *Target) *Response {
	for _, t := range order {
		if !c.types[t].subscribed {
			continue
		}
		if r := c.heartbeat(t); r != nil {
			r.Revision = target.Revision
			return r
		}
		if r := c.next(t, target, false); r != nil {
			return r
		}
	}
	if !c.types[fleet.Cluster].subscribed {
		return nil
	}
	if r := c.next(fleet.Cluster, target, true); r != nil || !c.types[fleet.Endpoint].subscribed {
		return r
	}
	return c.next(fleet.Endpoint, target, false) // whose clusters may be known to stay by now
}

// next returns the response of one type that is next. last: all else was sent, and what
// is to be taken away may go.
func (c *Client) next(t fleet.Type, target *Target, last bool) *Response {
	tr := &c.types[t]
	if tr.inFlight != nil {
		return c.overtake(t, target)
	}
	if tr.inStep && tr.inStepWith == target.Types[t] && tr.repairs == target.repairs && len(tr.owed) == 0 && !tr.answer {
		c.atRest(t, target)
		return nil
	}
	r, rest := c.plan(t, target, last)
	if r != nil {
		if !tr.wouldRepeat(r) {
			return r
		}
		c.accuseAgain(t, r)
		rest = behind
	}
	switch rest {
	case inStep:
		tr.inStep, tr.inStepWith, tr.repairs = true, target.Types[t], target.repairs
		c.atRest(t, target)
	case keptBack:
		tr.confirm(target.Revision)
	}
	return nil
}

// rest is what is left to do of a type when there is nothing to send.
type rest int

const (
	inStep   rest = iota
	behind        // something has to wait
	keptBack      // nothing but what is withheld, which settles all the same (SEMANTICS 5.3)
)

// atRest notes that a type is in step with the target.
func (c *Client) atRest(t fleet.Type, target *Target) {
	c.types[t].confirm(target.Revision)
	if t == fleet.Cluster {
		c.warm = target
	}
}

// Err is why the client cannot be served, nil while it can: then the stream has to end
// with it.
func (c *Client) Err() error { return c.err }

var order = fleet.Types()

// plan makes the response for one type, nil if there is nothing to send now, and says what
// is left to do beside it.
func (c *Client) plan(t fleet.Type, target *Target, last bool) (*Response, rest) {
	tr := &c.types[t]
	c.offerAgain(t, c.base)
	p := plan{c: c, tr: tr, t: t, target: target, last: last}
	p.r = &Response{Type: t, Revision: target.Revision, target: target, after: tr.held}
	p.collect()
	switch {
	case c.Delta:
		p.delta()
	case t.FullSet():
		p.fullSet()
	default:
		p.changed()
	}
	if p.hold {
		return nil, behind
	}
	if !p.waiting && len(p.kept) > 0 {
		if tr.kept == nil {
			tr.kept = make(map[string]kept)
		}
		for n, k := range p.kept {
			if before, ok := tr.kept[n]; ok {
				k.since = min(k.since, before.since)
			}
			tr.kept[n] = k
		}
	}
	if len(p.r.Resources) == 0 && len(p.r.Removed) == 0 && len(p.r.Nonexistent) == 0 && len(p.r.changes) == 0 && !tr.answer {
		return nil, p.rest()
	}
	if p.tooLarge() {
		return nil, behind
	}
	p.r.complete = !p.waiting && !c.trying() // else what it brings is not the target's
	return p.r, p.rest()
}

func (p *plan) rest() rest {
	switch {
	case p.waiting:
		return behind
	case p.keeps:
		return keptBack
	}
	return inStep
}

// plan is the work on one response.
type plan struct {
	c        *Client
	tr       *track
	t        fleet.Type
	target   *Target
	r        *Response
	pending  []change               // may go out now, by name
	waiting  bool                   // something has to wait
	keeps    bool                   // something is kept back, or stays, until somebody writes something
	kept     map[string]kept        // what is kept back
	last     bool                   // all else was sent: clusters may be taken away
	hold     bool                   // nothing can be sent yet
	named    map[fleet.Ref]struct{} // by what the client has of withheld resources; nil: not looked for
	anyNamed bool                   // and by what is not known of them
}

// collect finds what differs and leaves out what has to wait.
func (p *plan) collect() {
	var named func(cluster string) namedBy
	for ch := range p.c.differences(p.t, p.target) {
		switch {
		case ch.new == nil && ch.old.settledOn() && p.target.keeps(fleet.Ref{Type: p.t, Name: ch.old.Name}):
			continue
		case ch.new == nil && p.t == fleet.Cluster && ch.old.settledOn():
			if p.last && named == nil {
				named = p.c.stillNamed(p.target)
			}
			by := byMoving
			if p.last {
				by = named(ch.old.Name)
			}
			if by != byNone {
				p.waiting = p.waiting || by == byMoving
				p.keeps = p.keeps || by == byKept
				if !ch.old.doubt || ch.old.last == nil {
					continue
				}
				ch.new = ch.old.last // as long as it has to stay it is the one that was good
			}
		case ch.new == nil && ch.old.settledOn() && p.stays(ch.old.Name):
			p.wait(ch)
			continue
		case p.withholds(ch):
			p.wait(ch)
			if ch.old == nil || !ch.old.doubt || ch.old.last == nil && (ch.old.had || p.t != fleet.Listener) {
				continue
			}
			ch.new = ch.old.last // or away, where the client may have half of what it refused
		case ch.new == nil && p.t == fleet.Endpoint && p.c.leavesWithCluster(ch.old.Name, p.target):
			stays := p.c.types[fleet.Cluster].confirmed >= p.target.Revision // though the cluster is there
			p.waiting, p.keeps = p.waiting || !stays, p.keeps || stays
			continue
		case ch.new != nil && p.c.waitsForCluster(p.t, ch, p.target):
			p.wait(ch)
			if ch.new = p.c.earlier(p.t, ch); ch.new == nil {
				continue
			}
		}
		p.pending = append(p.pending, ch)
	}
	p.sortPending()
}

func (p *plan) sortPending() {
	slices.SortFunc(p.pending, func(a, b change) int { return strings.Compare(a.name(), b.name()) })
}

// take puts a change into the response.
func (p *plan) take(ch change) {
	if ch.missing() {
		return // nothing changes for the client
	}
	p.r.changes = append(p.r.changes, ch)
	if ch.new == nil {
		p.r.after = p.r.after.Without(ch.old.Name)
		return
	}
	p.r.after = p.r.after.With(ch.new)
}

// delta: what differs and what is owed, as far as it fits. The rest follows the ACK.
func (p *plan) delta() {
	p.collectOwed()
	for _, ch := range p.fitting() {
		if ch.new != nil {
			p.send(ch.new)
		} else {
			p.remove(ch.name())
		}
		p.take(ch)
	}
	p.useTargets()
}

// fitting returns the changes that one response may hold: one at least.
func (p *plan) fitting() []change {
	size := 0
	for _, n := range p.r.Nonexistent {
		size += 2*len(n) + 16
	}
	for i, ch := range p.pending {
		size += len(ch.name()) + 4
		for _, a := range p.r.Aliases[ch.name()] {
			size += len(a) + 4
		}
		if ch.new != nil {
			size += ch.new.Size()
		}
		if size > MaxResponse && i > 0 {
			p.waiting, p.r.cut = true, true
			return p.pending[:i]
		}
	}
	return p.pending
}

// tooLarge reports whether the client could never take the response: it would end its
// stream and try again for ever (PROTOCOL rule 25).
func (p *plan) tooLarge() bool {
	if p.c.MaxSet == 0 {
		return false
	}
	size := 0
	for _, r := range p.r.Resources {
		size += r.Size()
	}
	if size <= p.c.MaxSet {
		return false
	}
	p.c.err = fmt.Errorf("the response with %d %s takes %d bytes, and this client takes %d at most: subscribe to less of them, or use the incremental protocol: %w",
		len(p.r.Resources), p.t, size, p.c.MaxSet, fleet.ErrLimit)
	return true
}

func (p *plan) send(r *Resource) {
	p.r.Resources = append(p.r.Resources, r)
	p.r.content = p.r.content.plus(r.key)
	for _, a := range p.r.Aliases[r.Name] {
		p.r.answered = append(p.r.answered, a)
		p.r.content = p.r.content.plus(keyOf(a, r.Version))
	}
}

func (p *plan) remove(name string) {
	p.r.Removed = append(p.r.Removed, name)
	p.r.answered = append(p.r.answered, name)
	p.r.content = p.r.content.plus(keyOf(name, "\x00removed"))
}

// fullSet: "a state-of-the-world response must hold every subscribed resource", so what
// has to wait goes out as the client has it.
func (p *plan) fullSet() {
	for _, ch := range p.pending {
		p.take(ch)
	}
	for r := range p.r.after.All() {
		if !r.doubt {
			continue
		}
		if good := r.last; good != nil {
			p.take(change{old: r, new: good})
		} else {
			p.r.after = p.r.after.Without(r.Name)
		}
	}
	p.useTargets()
	if len(p.r.changes) == 0 && !p.tr.answer {
		return
	}
	if p.tr.unknown && p.waiting || p.takesLeft() {
		// What the client has is not known: a set without what waits would take it away.
		p.r.changes, p.hold = nil, true
		return
	}
	p.r.blind = p.tr.unknown
	p.r.Resources = p.r.after.Sorted()
	p.r.Version = p.r.after.Sum()
	p.r.content = p.r.Version
}

// takesLeft reports whether the set is without a name that must be left alone.
func (p *plan) takesLeft() bool {
	for n := range p.target.leaves(p.t) {
		if p.tr.sub.Has(n) && p.r.after.Get(n) == nil {
			return true
		}
	}
	return false
}

// changed: of the other types only what differs is sent, as far as it fits; that a
// resource is no more cannot be said.
func (p *plan) changed() {
	p.collectOwed()
	p.pending = slices.DeleteFunc(p.pending, func(ch change) bool { return ch.new == nil })
	for _, ch := range p.fitting() {
		p.send(ch.new)
		p.take(ch)
	}
	p.useTargets()
	p.r.Version = p.r.after.Sum()
}

// useTargets shares the target's own set where the client will hold exactly that.
func (p *plan) useTargets() {
	if full := p.target.Types[p.t]; p.tr.sub.wildcard && p.r.after.Equal(full) {
		p.r.after = full
	}
}
