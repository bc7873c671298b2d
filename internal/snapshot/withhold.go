package snapshot

import (
	"maps"
	"time"

	"fairlead/internal/fleet"
)

// needs tells of which types a resource of a type cannot do without what it names: Envoy
// would keep it warming. Other references never hold anything up (SEMANTICS 4.3).
func needs(t, named fleet.Type) bool {
	switch t {
	case fleet.Listener:
		return named == fleet.Route || named == fleet.Extension || named == fleet.Secret
	case fleet.Cluster:
		return named == fleet.Secret
	}
	return false
}

// withheld returns what a resource waits for that newly names something which is not
// there: it does not exist, or the node refused it (SEMANTICS 3.3, 4.3). What the client
// has goes on naming what it named.
func withheld(t fleet.Type, ch change, target *Target) (by fleet.Ref, ok bool) {
	if ch.new == nil {
		return by, false
	}
	for _, ref := range ch.new.Refs {
		if needs(t, ref.Type) && !target.has(ref) && (ch.old == nil || !ch.old.Names(ref)) {
			return ref, true
		}
	}
	return by, false
}

// has reports whether the node is to have the resource, of whatever version.
func (t *Target) has(ref fleet.Ref) bool {
	if t.Types[ref.Type].Get(ref.Name) != nil {
		return true
	}
	_, left := t.leaves(ref.Type)[ref.Name]
	return left
}

// withholds reports whether a change has to wait. Of a state-of-the-world client that comes
// with an unknown set nothing is withheld: a set without it would take away what it has.
func (p *plan) withholds(ch change) bool {
	if p.tr.unknown {
		return false
	}
	_, ok := withheld(p.t, ch, p.target)
	return ok
}

// stays reports whether something is to be taken away that the client's present version of
// a withheld resource needs, or may need: of one that it only reported that is not known.
func (p *plan) stays(name string) bool {
	if p.named == nil {
		p.named = make(map[fleet.Ref]struct{})
		if !needs(fleet.Listener, p.t) && !needs(fleet.Cluster, p.t) {
			return false
		}
		for _, t := range []fleet.Type{fleet.Listener, fleet.Cluster} {
			if !needs(t, p.t) || !p.c.types[t].subscribed {
				continue
			}
			for ch := range p.c.differences(t, p.target) {
				if _, ok := withheld(t, ch, p.target); ok && ch.old != nil {
					p.anyNamed = p.anyNamed || ch.old.reported() || ch.old.doubt && ch.old.last == nil
					for _, ref := range ch.old.Refs {
						p.named[ref] = struct{}{}
					}
				}
			}
		}
	}
	_, ok := p.named[fleet.Ref{Type: p.t, Name: name}]
	return ok || p.anyNamed
}

// asHeld is a target with what is withheld at the version that the view had of it last
// when it was not, or without it: what a client that is in step holds of it.
func (t *Target) asHeld(typ fleet.Type) *Target {
	held := t
	if typ != fleet.Listener && typ != fleet.Cluster {
		return t
	}
	for r := range t.Types[typ].All() {
		if _, ok := withheld(typ, change{new: r}, t); !ok {
			continue
		}
		if held == t {
			c := *t
			held = &c
		}
		held.Types[typ] = held.Types[typ].Without(r.Name)
		for _, e := range t.recent {
			before := e.types[typ].Get(r.Name)
			if _, ok := withheld(typ, change{new: before}, &Target{Types: e.types}); before != nil && !ok {
				held.Types[typ] = held.Types[typ].With(before)
				break
			}
		}
	}
	return held
}

// warmsLong is how long resources are unanswered before they count as warming.
const warmsLong = 200 * time.Millisecond

// wait notes that a change has to wait: for what is under way, or for what is not there.
func (p *plan) wait(ch change) {
	by, ok := p.c.lacks(p.t, ch)
	switch {
	case p.tr.unknown && p.t.FullSet() || !ok && (ch.new != nil || p.c.trying()):
		p.waiting = true
		return
	case ok:
		if p.kept == nil {
			p.kept = make(map[string]kept)
		}
		p.kept[ch.new.Name] = kept{by, ch.new.Revision}
	}
	p.keeps = true
}

// kept is why a name is kept back, and since which revision: while it is, a later one may
// have replaced what that brought, and the client has neither.
type kept struct {
	by    fleet.Ref
	since fleet.Revision
}

// lacks returns what a change waits for that comes only when somebody writes something.
// While a trial goes on that is not known.
func (c *Client) lacks(t fleet.Type, ch change) (by fleet.Ref, ok bool) {
	if c.trying() {
		return by, false
	}
	return c.waitsFor(t, ch, c.base)
}

// Keeps reports whether something is kept back from the client that counts as settled all
// the same: Waits tells of it.
func (c *Client) Keeps() bool {
	for i := range c.types {
		if len(c.types[i].kept) > 0 {
			return true
		}
	}
	return false
}

// Waits tells what keeps the client from the target: what is withheld from it, until it
// has it, and, if warming is asked for, what it was sent and warms.
func (c *Client) Waits(target *Target, warming bool) (w fleet.Waits) {
	target = c.effective(target)
	for _, t := range fleet.Types() {
		tr := &c.types[t]
		if !tr.subscribed {
			continue
		}
		var waits fleet.Waits
		if f := tr.inFlight; warming && f != nil && c.Now.Sub(f.sentAt) >= warmsLong {
			for _, ch := range f.changes {
				if ch.new != nil && !Same(ch.old, ch.new) {
					waits.Warming = append(waits.Warming, fleet.Ref{Type: t, Name: ch.new.Name})
				}
			}
		}
		still := make(map[string]struct{})
		for ch := range c.differences(t, target) {
			by, ok := c.waitsFor(t, ch, target)
			if ok = ok && !(tr.unknown && t.FullSet()); !ok && ch.new != nil {
				_, ok = tr.kept[ch.new.Name] // it is on its way, and counts as settled
				by = tr.kept[ch.new.Name].by
			}
			if !ok {
				continue
			}
			still[ch.new.Name] = struct{}{}
			h := fleet.Withheld{Ref: fleet.Ref{Type: t, Name: ch.new.Name}, By: by, Revision: ch.new.Revision}
			waits.Withheld = append(waits.Withheld, h)
			if since := tr.kept[ch.new.Name].since; since > 0 && since < h.Revision {
				h.Revision = since
				waits.Withheld = append(waits.Withheld, h)
			}
		}
		maps.DeleteFunc(tr.kept, func(n string, _ kept) bool { _, ok := still[n]; return !ok })
		w = w.With(waits)
	}
	return w
}

// waitsFor returns what a change waits for that will not come by itself.
func (c *Client) waitsFor(t fleet.Type, ch change, target *Target) (by fleet.Ref, ok bool) {
	if by, ok = withheld(t, ch, target); ok || ch.new == nil {
		return by, ok
	}
	for _, ref := range ch.new.Refs {
		if ref.Type != fleet.Cluster || ch.old != nil && ch.old.Names(ref) {
			continue
		}
		cluster := target.Types[fleet.Cluster].Get(ref.Name)
		if cluster == nil {
			if target.withholds(ref) {
				return ref, true
			}
			continue
		}
		if _, kept := withheld(fleet.Cluster, change{old: c.types[fleet.Cluster].held.Get(ref.Name), new: cluster}, target); kept && c.waitsForCluster(t, ch, target) {
			return ref, true
		}
	}
	return by, false
}
