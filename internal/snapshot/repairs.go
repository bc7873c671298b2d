package snapshot

import (
	"fairlead/internal/fleet"
)

// Plain reports whether the target has no exceptions.
func (t *Target) Plain() bool { return t.repairs == nil }

// Withholds reports whether the target leaves this name out because the node refused it, not because the fleet has none.
func (t *Target) Withholds(ref fleet.Ref) bool {
	if t.repairs == nil {
		return false
	}
	good, ok := t.repairs.instead[ref]
	return ok && good == nil
}

// Withheld returns the names of a type that Withholds is true of.
func (t *Target) Withheld(typ fleet.Type) (names []string) {
	if t.repairs == nil {
		return nil
	}
	for ref, good := range t.repairs.instead {
		if ref.Type == typ && good == nil {
			names = append(names, ref.Name)
		}
	}
	return names
}

// Keeps reports whether what stands in for a refused resource names it.
func (t *Target) Keeps(ref fleet.Ref) bool {
	if t.repairs == nil {
		return false
	}
	_, ok := t.repairs.kept[ref]
	return ok
}

// Excepts reports whether the node refused this version, which the snapshot has.
func (t *Target) Excepts(typ fleet.Type, r *Resource) bool {
	if t.repairs == nil || !Same(t.View[typ].Get(r.Name), r) {
		return false
	}
	_, replaced := t.repairs.instead[fleet.Ref{Type: typ, Name: r.Name}]
	_, left := t.repairs.left[typ][r.Name]
	return replaced || left
}

// Leaves returns the names of a type that the node has and that nothing can be said about.
func (t *Target) Leaves(typ fleet.Type) map[string]struct{} {
	if t.repairs == nil {
		return nil
	}
	return t.repairs.left[typ]
}

// Has reports whether the node is to have the resource, of whatever version.
func (t *Target) Has(ref fleet.Ref) bool {
	if t.Types[ref.Type].Get(ref.Name) != nil {
		return true
	}
	_, left := t.Leaves(ref.Type)[ref.Name]
	return left
}

// Find returns what the target has under a name or, of a virtual host, under an alias.
func (t *Target) Find(typ fleet.Type, name string) *Resource {
	if typ == fleet.VirtualHost {
		return t.Types[typ].Host(name)
	}
	return t.Types[typ].Get(name)
}

// Before returns what the node may have held of a type when the view had earlier sets: them,
// or them with what stands in at present.
func (t *Target) Before(typ fleet.Type, types [fleet.NumTypes]*Set) []*Target {
	plain := &Target{Types: types}
	if t.repairs == nil {
		return []*Target{plain}
	}
	repaired := &Target{Types: types}
	for ref, good := range t.repairs.instead {
		switch {
		case ref.Type != typ:
		case good != nil:
			repaired.Types[typ] = repaired.Types[typ].With(good)
		default:
			repaired.Types[typ] = repaired.Types[typ].Without(ref.Name)
		}
	}
	return []*Target{plain, repaired}
}

// WithTypes is a target of other sets that remembers the same.
func (t *Target) WithTypes(types [fleet.NumTypes]*Set) *Target {
	return &Target{Revision: t.Revision, History: t.History, Types: types, Gone: t.Gone, View: t.View, Sealed: t.Sealed, Recent: t.Recent, Retries: t.Retries, repairs: t.repairs}
}
