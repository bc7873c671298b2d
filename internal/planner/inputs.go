package planner

import (
	"iter"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// inputs are what a step depends on: where a client stands, and what it should hold. They answer, and change
// nothing but what is noted of their own pass.
type inputs struct {
	in     interner
	pos    *Position
	rec    *Record
	target *snapshot.Target // with what bisections keep back
	base   *snapshot.Target // the node's own
	rests  [fleet.NumTypes]rest
}

// rest is what is left to do of a type when there is nothing to send.
type rest uint8

const (
	unseen   rest = iota
	behind        // something has to wait
	keptBack      // nothing but what is withheld, which settles all the same (SEMANTICS 5.3)
	inStep
)

// at are the same with another target.
func (l *inputs) at(target *snapshot.Target) *inputs {
	other := *l
	other.target = target
	return &other
}

// held is what the client has of a name, and next what it has once it ACKs what is in flight.
func (l *inputs) held(t fleet.Type, name string) has {
	if d := l.pos.Types[t].Doubts.of(name); d != nil {
		return has{doubt: d}
	}
	return has{res: l.pos.Types[t].Held.Get(name)}
}

func (l *inputs) next(t fleet.Type, name string) has {
	if !l.pos.Types[t].InFlight {
		return has{}
	}
	if d := l.pos.Types[t].NextDoubts.of(name); d != nil {
		return has{doubt: d}
	}
	return has{res: l.pos.Types[t].Next.Get(name)}
}

// wanted is the set that the client should hold of a type, but for what nobody wrote.
func (l *inputs) wanted(t fleet.Type) (want, missing *snapshot.Set) {
	return l.pos.Types[t].Sub.wants(l.in, l.target.Types[t])
}

// wantedOf is the same of another target's, with what says in state of the world that there is none.
func (l *inputs) wantedOf(t fleet.Type, target *snapshot.Target) *snapshot.Set {
	want, missing := l.pos.Types[t].Sub.wantedOf(l.in, target.Types[t])
	if l.pos.Kind.Delta || missing.Len() == 0 {
		return want
	}
	var edits []snapshot.Edit
	other := l.at(target)
	for n := range missing.All() {
		if r := other.lookup(t, n.Name); r != nil {
			edits = append(edits, snapshot.Edit{New: r})
		}
	}
	return l.in.apply(t, want, edits)
}

// lookup finds what the client is to have under a name: what the target has or, where that is nothing, what says so.
func (l *inputs) lookup(t fleet.Type, name string) *snapshot.Resource {
	r := l.target.Find(t, name)
	switch {
	case r == nil:
	case r.ByName && !l.pos.Types[t].Sub.Named(r.Name):
		return nil // its name was given up under a wildcard, which does not bring it
	default:
		return r
	}
	return l.absent(t, name)
}

// absent is what tells the client that there is none of a name, nil where that goes without (SEMANTICS 4.5).
func (l *inputs) absent(t fleet.Type, name string) *snapshot.Resource {
	if t != fleet.Endpoint && t != fleet.Runtime {
		return nil
	}
	h, ref := l.held(t, name), fleet.Ref{Type: t, Name: name}
	if t == fleet.Runtime && (l.pos.Kind.Delta || l.target.Withholds(ref)) || t == fleet.Endpoint && !l.emptied(name, h) {
		return nil // of a runtime that was refused nothing need be said: the client never had it
	}
	if _, left := l.target.Leaves(t)[name]; left || l.target.Keeps(ref) {
		return nil
	}
	if h.res != nil && h.res.Empty {
		return h.res
	}
	return snapshot.Absent(t, name)
}

// emptied reports whether endpoints that there are not are sent as an assignment without any. A client that has some keeps them
// while their cluster lives, whatever it is told of their removal; one that surely has none waits for them, in state of the world (PROTOCOL rule 5).
func (l *inputs) emptied(edsName string, h has) bool {
	lives := l.target.Types[fleet.Cluster].HasEDSName(edsName)
	if l.pos.Kind.Delta {
		return lives && h.surely()
	}
	return lives || h.nothing() && l.arrives(edsName)
}

// arrives reports whether a cluster that waits for the endpoints of that name is on its
// way to the client, though the fleet may have lost it meanwhile.
func (l *inputs) arrives(edsName string) bool {
	tr := &l.pos.Types[fleet.Cluster]
	return tr.InFlight && tr.Next.HasEDSName(edsName)
}

// differences yields every name of the subscription whose resource is another one in
// the target than with the client. Its cost is that of what differs.
func (l *inputs) differences(t fleet.Type) iter.Seq[change] {
	tr, doubts := &l.pos.Types[t], l.pos.Types[t].Doubts
	return func(yield func(change) bool) {
		want, missing := l.wanted(t)
		for old, now := range snapshot.Diff(tr.Held, want) {
			name := snapshot.Edit{Old: old, New: now}.Name()
			if doubts.of(name) != nil {
				continue
			}
			ch := change{name: name, old: has{res: old}, new: l.own(t, name, now)}
			if now == nil && ch.new != nil && ch.old.is(ch.new) {
				continue // it was told
			}
			if !yield(ch) {
				return
			}
		}
		for _, name := range doubts.names() {
			if !tr.Sub.Has(name) && t != fleet.VirtualHost { // which is asked for by an alias
				continue
			}
			if !yield(change{name: name, old: has{doubt: doubts.of(name)}, new: l.own(t, name, want.Get(name))}) {
				return
			}
		}
		if t != fleet.Endpoint && t != fleet.Runtime || l.pos.Kind.Delta {
			return
		}
		for n := range missing.All() {
			if doubts.of(n.Name) != nil || tr.Held.Get(n.Name) != nil {
				continue
			}
			if r := l.absent(t, n.Name); r != nil && !yield(change{name: n.Name, new: r}) {
				return
			}
		}
	}
}

// own is the target's own resource: that of an interned set may be another view's, of the same content and of another revision. For nil it is what
// says that there is none.
func (l *inputs) own(t fleet.Type, name string, r *snapshot.Resource) *snapshot.Resource {
	if r == nil {
		return l.absent(t, name)
	}
	if own := l.target.Types[t].Get(name); own != nil && snapshot.Same(own, r) {
		return own
	}
	return r
}
