package replica

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// freeze keeps back one more culprit than there can be exceptions for (SEMANTICS 3.7). The first one
// freezes the type where the node has settled; where it has not, or where it refuses
// something of that too, what it should hold is the present without the culprits.
func (x *exceptions) freeze(snap *snapshot.Snapshot, settled *snapshot.Target, t fleet.Type, c snapshot.Blame) (action fleet.Action, good string) {
	set, frozen := x.frozen[t]
	if !frozen {
		if settled == nil {
			settled = snapshot.NewTarget(snap, x.list)
		}
		set = settled.Types[t]
	}
	name := c.Refused.Name
	held := set.Get(name)
	_, lost := x.lost[fleet.Ref{Type: t, Name: name}]
	switch {
	case held == nil:
	case held.Version != c.Refused.Version:
		good = held.Version
	case c.Good != nil && c.Good.Version != c.Refused.Version:
		set, good = set.With(c.Good), c.Good.Version
	case !lost:
		set = set.Without(name)
	}
	x.setFrozen(t, set)
	x.note(refusal.Key{Type: t, Name: name, Version: c.Refused.Version}, fleet.ActionFrozen)
	return fleet.ActionFrozen, good
}

func (x *exceptions) setFrozen(t fleet.Type, set *snapshot.Set) {
	if x.frozen == nil {
		x.frozen = make(map[fleet.Type]*snapshot.Set)
	}
	x.frozen[t] = set
}

// freezes reports whether a culprit is of a frozen type, and what the node holds of it or
// what the view has.
func (x *exceptions) freezes(present *snapshot.Resource, t fleet.Type, c snapshot.Blame) bool {
	set, frozen := x.frozen[t]
	if !frozen {
		return false
	}
	if held := set.Get(c.Refused.Name); held != nil && held.Version == c.Refused.Version {
		return true
	}
	return present != nil && present.Version == c.Refused.Version
}

// froze reports whether some version of the name is kept back by a freeze.
func (x *exceptions) froze(ref fleet.Ref) bool {
	if _, frozen := x.frozen[ref.Type]; !frozen {
		return false
	}
	for k, action := range x.beside {
		if action == fleet.ActionFrozen && k.Type == ref.Type && k.Name == ref.Name {
			return true
		}
	}
	return false
}

// thaw ends the freezes of types of which no exception is left.
func (x *exceptions) thaw(now offer, how fleet.End) (resolved []fleet.Refusal) {
	for t := range x.frozen {
		if x.count(t) > 0 {
			continue
		}
		for k, action := range x.beside {
			if action == fleet.ActionFrozen && k.Type == t {
				resolved = append(resolved, now.end(k, how))
				delete(x.beside, k)
			}
		}
		delete(x.frozen, t)
	}
	return resolved
}
