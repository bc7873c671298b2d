package snapshot

import (
	"slices"
	"strings"

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
}

// Changes reports whether the response changes what the client holds: an answer that
// only has to be given does not.
func (r *Response) Changes() bool { return len(r.changes) > 0 }

// change is one name whose resource differs between client and target, or that is owed
// an answer: old is what the client has, new what it is to have; nil is nothing. If both
// are, missing is the name.
type change struct {
	old, new *Resource
	missing  string
}

func (ch change) name() string {
	switch {
	case ch.new != nil:
		return ch.new.Name
	case ch.old != nil:
		return ch.old.Name
	}
	return ch.missing
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
	for _, t := range order {
		tr := &c.types[t]
		if !tr.subscribed || tr.inFlight != nil {
			continue
		}
		if tr.inStep && tr.inStepWith == target.Types[t] && tr.repairs == target.repairs && len(tr.owed) == 0 && !tr.answer {
			tr.confirm(target.Revision)
			continue
		}
		r, behind := c.plan(t, target)
		if r != nil {
			if _, refused := tr.refused[r.content]; !refused {
				return r
			}
			behind = true
		}
		if !behind {
			tr.inStep, tr.inStepWith, tr.repairs = true, target.Types[t], target.repairs
			tr.confirm(target.Revision)
		}
	}
	return nil
}

var order = fleet.Types()

// plan makes the response for one type. behind: something is left to do when it is
// nil, but has to wait.
func (c *Client) plan(t fleet.Type, target *Target) (r *Response, behind bool) {
	tr := &c.types[t]
	tr.offerAgain(target.Types[t])
	p := plan{c: c, tr: tr, t: t, target: target}
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
	if len(p.r.Resources) == 0 && len(p.r.Removed) == 0 && len(p.r.changes) == 0 && !tr.answer {
		return nil, p.waiting
	}
	p.r.complete = !p.waiting
	return p.r, p.waiting
}

// plan is the work on one response.
type plan struct {
	c       *Client
	tr      *track
	t       fleet.Type
	target  *Target
	r       *Response
	pending []change // may go out now, by name
	waiting bool     // something has to wait
}

// collect finds what differs and leaves out what has to wait.
func (p *plan) collect() {
	var named func(cluster string) bool
	for ch := range p.c.differences(p.t, p.target) {
		switch {
		case ch.new == nil && p.target.keeps(fleet.Ref{Type: p.t, Name: ch.old.Name}):
			continue
		case ch.new == nil && p.t == fleet.Cluster:
			if named == nil {
				named = p.c.stillNamed(p.target)
			}
			if named(ch.old.Name) {
				p.waiting = true
				continue
			}
		case ch.new != nil && p.c.waitsForCluster(ch, p.target):
			p.waiting = true
			continue
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
	if ch.missing != "" {
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
	size := 0
	for i, ch := range p.pending {
		name := ch.name()
		if ch.new != nil {
			size += ch.new.Size()
		} else {
			size += len(name) + 4
		}
		if size > MaxResponse && i > 0 {
			p.waiting = true
			break
		}
		if ch.new != nil {
			p.send(ch.new)
		} else {
			p.remove(name)
		}
		p.take(ch)
	}
	p.useTargets()
}

// collectOwed puts what is owed an answer, and is not pending anyway, in its place among
// the changes: the resource, or, by a change from nothing to nothing, that there is none.
func (p *plan) collectOwed() {
	if len(p.tr.owed) == 0 {
		return
	}
	pending := make(map[string]struct{}, len(p.pending))
	for _, ch := range p.pending {
		pending[ch.name()] = struct{}{}
	}
	for n := range p.tr.owed {
		if _, ok := pending[n]; ok {
			continue
		}
		ch := change{old: p.tr.held.Get(n), new: p.c.lookup(p.t, n, p.target)}
		switch {
		case ch.new != nil && p.c.waitsForCluster(ch, p.target):
			p.waiting = true
			continue
		case ch.new == nil && p.c.Envoy && (p.t == fleet.Route || p.t == fleet.Extension):
			// Told that it does not exist, Envoy keeps the listener warming for ever;
			// untold, it serves after 15 s (PROTOCOL rule 5).
			continue
		case ch.new == nil && ch.old == nil:
			ch.missing = n
		}
		p.pending = append(p.pending, ch)
	}
	p.sortPending()
}

func (p *plan) send(r *Resource) {
	p.r.Resources = append(p.r.Resources, r)
	p.r.content = p.r.content.plus(r.key)
}

func (p *plan) remove(name string) {
	p.r.Removed = append(p.r.Removed, name)
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
			p.r.after = p.r.after.With(good)
		} else {
			p.r.after = p.r.after.Without(r.Name)
		}
	}
	p.useTargets()
	if len(p.r.changes) == 0 && !p.tr.answer {
		return
	}
	p.r.Resources = p.r.after.Sorted()
	p.r.Version = p.r.after.Sum()
	p.r.content = p.r.Version
}

// changed: of the other types only what differs is sent; that a resource is no more
// cannot be said.
func (p *plan) changed() {
	p.collectOwed()
	for _, ch := range p.pending {
		if ch.new == nil {
			continue
		}
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
