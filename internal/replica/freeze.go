package replica

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// freeze keeps back one more culprit than there can be exceptions for (SEMANTICS 3.7). The first one
// freezes the type where the node has settled; where it has not, or where it refuses
// something of that too, what it should hold is the present without the culprits.
func (x *exceptions) freeze(snap *snapshot.Snapshot, settled *snapshot.Target, e snapshot.Exception) (action fleet.Action, good string) {
	t := e.Type
	set, frozen := x.frozen[t]
	if !frozen {
		if settled == nil {
			settled = snapshot.NewTarget(snap, x.list)
		}
		set = settled.Types[t]
	}
	name := e.Refused.Name
	held := set.Get(name)
	_, lost := x.lost[e.Ref()]
	switch {
	case held == nil:
	case !snapshot.Same(held, e.Refused):
		good = held.Version
	case e.Good != nil && !snapshot.Same(e.Good, e.Refused):
		set, good = set.With(e.Good), e.Good.Version
	case !lost:
		set = set.Without(name)
	}
	x.setFrozen(t, set)
	x.note(e.Key(), fleet.ActionFrozen)
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
func (x *exceptions) freezes(present *snapshot.Resource, e snapshot.Exception) bool {
	set, frozen := x.frozen[e.Type]
	return frozen && (snapshot.Same(set.Get(e.Refused.Name), e.Refused) || snapshot.Same(present, e.Refused))
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

// stillLacked is what a refused version lacked, as a freeze of clusters has it: what that keeps back has not come, whatever the view has.
func (x *exceptions) stillLacked(all []snapshot.Lack, snap *snapshot.Snapshot) []snapshot.Lack {
	held, frozen := x.frozen[fleet.Cluster]
	if !frozen || len(all) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i, l := range all {
		if now := snap.Types[fleet.Cluster].Get(l.Name); now != nil && held.Get(l.Name) == nil {
			all[i] = snapshot.Lack{Name: l.Name, Version: now.Version, Frozen: l.Frozen || !x.excepts(fleet.Cluster, l.Name)}
		}
	}
	return all
}

// unlack ends the exceptions that lacked a cluster for a freeze that keeps it back no more.
func (x *exceptions) unlack(now offer) (resolved []fleet.Refusal) {
	held, frozen := x.frozen[fleet.Cluster]
	x.drop(func(e snapshot.Exception) bool {
		came := slices.ContainsFunc(e.Lacked, func(l snapshot.Lack) bool { return l.Frozen && (!frozen || held.Get(l.Name) != nil) })
		if came {
			resolved = append(resolved, x.end(e, now, fleet.EndOffered))
		}
		return came
	})
	return resolved
}

// thaw ends the freezes of types of which no exception is left, and what was refused for the lack of what they kept back.
func (x *exceptions) thaw(now offer, how fleet.End) (resolved []fleet.Refusal) {
	for _, t := range fleet.Types() { // clusters first: what lacked one may be the last exception of its type
		if _, frozen := x.frozen[t]; frozen && x.count(t) == 0 {
			resolved = append(resolved, x.thawType(t, now, how)...)
		}
		if t == fleet.Cluster {
			resolved = append(resolved, x.unlack(now)...)
		}
	}
	return resolved
}

func (x *exceptions) thawType(t fleet.Type, now offer, how fleet.End) (resolved []fleet.Refusal) {
	for k, action := range x.beside {
		if action == fleet.ActionFrozen && k.Type == t {
			resolved = append(resolved, now.end(k, how))
			delete(x.beside, k)
		}
	}
	delete(x.frozen, t)
	return resolved
}
