package replica

import (
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// maxRefusedFrozen is how many refusals beyond maxExceptions are remembered of a frozen type.
const maxRefusedFrozen = 1_000

// freeze is a type of which a node refuses more than maxExceptions resources: it is left
// with what it had (SEMANTICS 3.7).
type freeze struct {
	set     *snapshot.Set
	refused map[string]string // refused versions by name, without those that have exceptions
}

func (f *freeze) has(name string) bool {
	if f == nil {
		return false
	}
	_, ok := f.refused[name]
	return ok
}

// freeze keeps back one more culprit than there can be exceptions for. The first one
// freezes the type where the node has settled; where it has not, or where it refuses
// something of that too, what it should hold is the present without the culprits.
func (x *exceptions) freeze(snap *snapshot.Snapshot, settled *snapshot.Target, t fleet.Type, c snapshot.Blame) (action fleet.Action, good string) {
	f := x.frozen[t]
	if f == nil {
		if settled == nil {
			settled = snapshot.NewTarget(snap, x.list)
		}
		f = &freeze{set: settled.Types[t], refused: make(map[string]string)}
		x.setFrozen(t, f)
	}
	name := c.Refused.Name
	if len(f.refused) < maxRefusedFrozen {
		f.refused[name] = c.Refused.Version
	}
	if held := f.set.Get(name); held == nil || held.Version != c.Refused.Version {
		if held != nil {
			good = held.Version
		}
		return fleet.ActionFrozen, good
	}
	switch _, lost := x.lost[fleet.Ref{Type: t, Name: name}]; {
	case c.Good != nil && c.Good.Version != c.Refused.Version:
		f.set, good = f.set.With(c.Good), c.Good.Version
	case !lost:
		f.set = f.set.Without(name)
	}
	return fleet.ActionFrozen, good
}

func (x *exceptions) setFrozen(t fleet.Type, f *freeze) {
	if x.frozen == nil {
		x.frozen = make(map[fleet.Type]*freeze)
	}
	x.frozen[t] = f
}

// freezes reports whether a culprit is of a frozen type, and what the node holds of it or
// what the view has.
func (x *exceptions) freezes(present *snapshot.Resource, t fleet.Type, c snapshot.Blame) bool {
	f := x.frozen[t]
	if f == nil {
		return false
	}
	if held := f.set.Get(c.Refused.Name); held != nil && held.Version == c.Refused.Version {
		return true
	}
	return present != nil && present.Version == c.Refused.Version
}

// thaw ends the freezes of types of which no exception is left.
func (x *exceptions) thaw(now offer, how fleet.End) (resolved []fleet.Refusal) {
	for t, f := range x.frozen {
		if x.count(t) > 0 {
			continue
		}
		for name, version := range f.refused {
			resolved = append(resolved, now.end(refusal.Key{Type: t, Name: name, Version: version}, how))
		}
		delete(x.frozen, t)
	}
	return resolved
}
