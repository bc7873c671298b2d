package planner

import (
	"iter"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// What newly names something that is not there is withheld: it stays as the client has it.

// lacking returns what a resource waits for that newly names something which is not
// there: it does not exist, or the node refused it (SEMANTICS 3.3, 4.3). What the client
// has goes on naming what it named.
func lacking(t fleet.Type, ch change, target *snapshot.Target) (by fleet.Ref, ok bool) {
	if ch.new == nil {
		return by, false
	}
	for _, ref := range ch.new.Refs {
		if t.Needs(ref.Type) && !target.Has(ref) && !ch.old.names(ref) {
			return ref, true
		}
	}
	return by, false
}

// uses are what the client's versions of withheld resources name.
type uses struct {
	refs map[fleet.Ref]struct{} // nil while nobody has asked
	any  bool                   // and what is not known of them
}

// goesOn reports whether the client goes on with something that was deleted, as what names it stays (SEMANTICS 4.5). An
// Envoy gives an extension up by itself when the last of its connections does without; taken away before, it
// answers what still uses that with 500.
func (l *inputs) goesOn(t fleet.Type, name string) bool {
	if t == fleet.Extension && l.pos.Kind.Delta && l.pos.Kind.Envoy {
		return true
	}
	ref := fleet.Ref{Type: t, Name: name}
	for _, by := range []fleet.Type{fleet.Cluster, fleet.Listener, fleet.ScopedRoute} {
		if !by.GoesOnWith(t) || !l.pos.subscribed(by) {
			continue
		}
		for _, r := range l.target.Types[by].Naming(ref) {
			if l.held(by, r.Name).names(ref) || l.next(by, r.Name).names(ref) {
				return true
			}
		}
	}
	return false
}

// stays reports whether something is to be taken away that the client goes on with, or that its present version of
// a withheld resource needs, or may need: of one that it only reported that is not known.
func (p *plan) stays(name string) bool {
	if !fleet.Listener.Needs(p.t) && !fleet.Cluster.Needs(p.t) {
		return false
	}
	if p.goesOn(p.t, name) {
		return true
	}
	if p.used.refs == nil {
		p.used.refs = make(map[fleet.Ref]struct{})
		for _, t := range []fleet.Type{fleet.Listener, fleet.Cluster} {
			if t.Needs(p.t) && p.pos.subscribed(t) {
				p.use(t)
			}
		}
	}
	_, ok := p.used.refs[fleet.Ref{Type: p.t, Name: name}]
	return ok || p.used.any
}

func (p *plan) use(t fleet.Type) {
	for ch := range p.differences(t) {
		if _, ok := lacking(t, ch, p.target); !ok || ch.old.nothing() {
			continue
		}
		p.used.any = p.used.any || ch.old.reported() || ch.old.doubtful() && ch.old.doubt.Last == nil
		for _, ref := range ch.old.refs() {
			p.used.refs[ref] = struct{}{}
		}
	}
}

// asHeld is a target with what is withheld at the version that the view had of it last
// when it was not, or without it: what a client that is in step holds of it.
func asHeld(t *snapshot.Target, typ fleet.Type) *snapshot.Target {
	if typ != fleet.Listener && typ != fleet.Cluster {
		return t
	}
	types := t.Types
	for r := range t.Types[typ].All() {
		if _, ok := lacking(typ, change{new: r}, t); !ok {
			continue
		}
		types[typ] = types[typ].Without(r.Name)
		for _, e := range t.Recent {
			before := e.Types[typ].Get(r.Name)
			if before == nil {
				continue
			}
			if _, ok := lacking(typ, change{new: before}, &snapshot.Target{Types: e.Types}); !ok {
				types[typ] = types[typ].With(before)
				break
			}
		}
	}
	if types == t.Types {
		return t
	}
	return t.WithTypes(types)
}

// sealed yields the secrets that the client asks for and of which the server cannot open the version that the target should
// have. They settle with what stands in for them, and count as withheld until a version comes that can be opened.
func (l *inputs) sealed(t fleet.Type) iter.Seq[*snapshot.Resource] {
	return func(yield func(*snapshot.Resource) bool) {
		sub, all := l.pos.Types[t].Sub, l.target.Sealed
		if t != fleet.Secret || sub == nil || all.Len() == 0 {
			return
		}
		if sub.wildcard || all.Len() < sub.names.Len() {
			for r := range all.All() {
				if sub.Has(r.Name) && !yield(r) {
					return
				}
			}
			return
		}
		for n := range sub.names.All() {
			if r := all.Get(n.Name); r != nil && !yield(r) {
				return
			}
		}
	}
}

// keepApart notes what is kept back though nothing of it waits to be sent.
func (p *plan) keepApart() {
	for r := range p.sealed(p.t) {
		ref := fleet.Ref{Type: p.t, Name: r.Name}
		p.kept, p.keeps = append(p.kept, keeping{Ref: ref, by: ref, sealed: true, since: r.Revision}), true
	}
}

// keeping is a name that is kept back though its type counts as settled, what it waits for,
// and since which revision: while it is, a later one may have replaced what that brought,
// and the client has neither.
type keeping struct {
	fleet.Ref
	by     fleet.Ref
	sealed bool // the server cannot open it; else it is too large where it waits for itself
	since  fleet.Revision
}

// lacks returns what a change waits for that comes only when somebody writes something.
// While a bisection goes on that is not known.
func (l *inputs) lacks(t fleet.Type, ch change) (by fleet.Ref, ok bool) {
	if l.rec.bisecting() {
		return by, false
	}
	return l.at(l.base).waitsFor(t, ch)
}

// waitsFor returns what a change waits for that will not come by itself.
func (l *inputs) waitsFor(t fleet.Type, ch change) (by fleet.Ref, ok bool) {
	if by, ok = lacking(t, ch, l.target); ok || ch.new == nil {
		return by, ok
	}
	for _, ref := range ch.new.Refs {
		if ref.Type != fleet.Cluster || ch.old.names(ref) || l.goesWithout(t, ch, ref) {
			continue
		}
		cluster := l.target.Types[fleet.Cluster].Get(ref.Name)
		if cluster == nil {
			if l.target.Withholds(ref) {
				return ref, true
			}
			continue
		}
		_, kept := lacking(fleet.Cluster, change{name: ref.Name, old: l.held(fleet.Cluster, ref.Name), new: cluster}, l.target)
		if kept && l.waitsForCluster(t, ch) {
			return ref, true
		}
	}
	return by, false
}
