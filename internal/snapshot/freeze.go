package snapshot

import (
	"iter"

	"fairlead/internal/fleet"
)

// Freeze has a node keep what it has of a type, of which it refuses so much (SEMANTICS 3.7). What the view has there is kept back as if it had
// been refused, and what the kept ones name stays. Nobody shares the target yet.
func (t *Target) Freeze(typ fleet.Type, held *Set) {
	own := t.repairs
	if own == nil {
		own = &repairs{}
	}
	for ref := range own.instead {
		if ref.Type == typ && (own.culprit[typ] == "" || ref.Name < own.culprit[typ]) {
			own.culprit[typ] = ref.Name
		}
	}
	if held == nil {
		held = &Set{}
	}
	own.frozen[typ] = held
	t.repairs, t.Types[typ] = own, held
}

// Frozen reports whether a freeze alone leaves the node without something that the view has.
func (t *Target) Frozen(ref fleet.Ref) bool {
	if t.repairs == nil || t.repairs.frozen[ref.Type] == nil {
		return false
	}
	_, refused := t.repairs.instead[ref]
	return !refused && t.View[ref.Type].Get(ref.Name) != nil && !t.Has(ref)
}

// Late yields what a freeze alone keeps from the node: a version that it has not got, or the tombstone of what it still has. It costs what differs.
func (t *Target) Late(typ fleet.Type) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		if t.repairs == nil || t.repairs.frozen[typ] == nil {
			return
		}
		for had, now := range Diff(t.repairs.frozen[typ], t.View[typ]) {
			if now == nil {
				if now = t.Gone[typ].Get(had.Name); now == nil {
					continue // so long ago that nobody knows when
				}
			}
			ref := fleet.Ref{Type: typ, Name: now.Name}
			_, refused := t.repairs.instead[ref]
			_, left := t.Leaves(typ)[now.Name]
			if !refused && !left && !yield(now) {
				return
			}
		}
	}
}

// Culprit is what the node refuses of a frozen type: one of many.
func (t *Target) Culprit(typ fleet.Type) fleet.Ref {
	return fleet.Ref{Type: typ, Name: t.repairs.culprit[typ]}
}
