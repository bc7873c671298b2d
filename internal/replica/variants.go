package replica

import (
	"iter"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// variants are all those of a name. They are immutable.
//
// Its resources carry as Revision the one that brought their version or, if that is later,
// the last one that took some variant of the name away from nodes: that deleted it, or
// gave it another selector or priority. Whoever got another variant by that has nothing
// older than that; so revisions are an order also between the variants of a name
// (SEMANTICS 3.4 counts on it, and the planner where it sends what a target had before).
type variants struct {
	def   *snapshot.Resource // the default variant; nil: there is none
	lost  fleet.Revision     // the last revision that may have taken the name away from a node that has none of it; 0: none did
	named []member           // by name
	// sealed are those that cannot be opened, by name, "" for the default one: each with the version that should be in force in the
	// place of what def and named have of it.
	sealed []member
}

// member is a named variant.
type member struct {
	name     string
	selector selector.Selector
	priority int32
	res      *snapshot.Resource
}

func (f *variants) member(name string) *member {
	i, ok := f.find(name)
	if !ok {
		return nil
	}
	return &f.named[i]
}

func (f *variants) find(name string) (int, bool) {
	return slices.BinarySearchFunc(f.named, name, func(m member, name string) int { return strings.Compare(m.name, name) })
}

// set puts a member in the place of any of its name. f is nobody else's yet.
func (f *variants) set(m member) {
	i, ok := f.find(m.name)
	if ok {
		f.named[i] = m
		return
	}
	f.named = slices.Insert(f.named, i, m)
}

// seal notes that a variant cannot be opened. f is nobody else's yet, here and in unseal.
func (f *variants) seal(m member) {
	f.unseal(m.name)
	i, _ := slices.BinarySearchFunc(f.sealed, m.name, func(m member, name string) int { return strings.Compare(m.name, name) })
	f.sealed = slices.Insert(f.sealed, i, m)
}

func (f *variants) unseal(name string) {
	f.sealed = slices.DeleteFunc(f.sealed, func(m member) bool { return m.name == name })
}

// selected yields all that are for some nodes.
func (f *variants) selected() iter.Seq[member] {
	return func(yield func(member) bool) {
		for _, ms := range [][]member{f.named, f.sealed} {
			for _, m := range ms {
				if m.name != "" && !yield(m) {
					return
				}
			}
		}
	}
}

// resources yields those whose bytes are kept.
func (f *variants) resources() iter.Seq[*snapshot.Resource] {
	return func(yield func(*snapshot.Resource) bool) {
		if f.def != nil && !yield(f.def) {
			return
		}
		for _, m := range f.named {
			if !yield(m.res) {
				return
			}
		}
	}
}

// shares reports whether one of the resources keeps the same bytes.
func (f *variants) shares(r *snapshot.Resource) bool {
	for own := range f.resources() {
		if own.Shares(r) {
			return true
		}
	}
	return false
}

// plain reports whether all nodes have the same of the name.
func (f *variants) plain() bool {
	for range f.selected() {
		return false
	}
	return true
}

func (f *variants) remove(name string) {
	if i, ok := f.find(name); ok {
		f.named = slices.Delete(f.named, i, i+1)
	}
}

// raise takes in that a revision took a variant away from nodes. f is nobody else's yet.
func (f *variants) raise(moved fleet.Revision) {
	raised := func(r *snapshot.Resource) *snapshot.Resource {
		if r == nil || r.Revision >= moved {
			return r
		}
		return r.At(moved)
	}
	f.def, f.lost = raised(f.def), max(f.lost, moved)
	for i := range f.named {
		f.named[i].res = raised(f.named[i].res)
	}
	for i, m := range f.sealed {
		if m.res.Revision < moved {
			f.sealed[i].res = snapshot.Sealed(m.res.Name, m.res.Version, moved)
		}
	}
}

// clone returns some that nobody shares.
func (f *variants) clone() variants {
	return variants{def: f.def, lost: f.lost, named: slices.Clone(f.named), sealed: slices.Clone(f.sealed)}
}

// same reports whether nothing differs, for any node.
func (f *variants) same(o *variants) bool {
	return f.def == o.def && f.tombstoneAt() == o.tombstoneAt() && slices.EqualFunc(f.named, o.named, member.same) && slices.EqualFunc(f.sealed, o.sealed, member.same)
}

func (m member) same(o member) bool {
	return m.name == o.name && m.priority == o.priority && m.res == o.res && m.selector.String() == o.selector.String()
}

// tombstoneAt is lost as far as it can matter: everybody has the default variant.
func (f *variants) tombstoneAt() fleet.Revision {
	if f.def != nil {
		return 0
	}
	return f.lost
}

// choose returns what a node has of the name whose decisions these are; nil, and the
// revision of the name's tombstone if it has one, where it has nothing.
func (f *variants) choose(x *selector.Index, v selector.Vector) (has *snapshot.Resource, lost fleet.Revision) {
	if m := winner(f.named, x, v); m != nil {
		return m.res, 0
	}
	if f.def != nil {
		return f.def, 0
	}
	return nil, f.lost
}

// winner is the one of some named variants that a node has; nil: none.
func winner(of []member, x *selector.Index, v selector.Vector) *member {
	if len(of) == 0 {
		return nil
	}
	candidates := make([]selector.Variant, len(of))
	for i, m := range of {
		candidates[i] = selector.Variant{Name: m.name, Priority: m.priority, Selector: x.Position(m.selector)}
	}
	if i, _ := selector.Winner(candidates, v); i >= 0 {
		return &of[i]
	}
	return nil
}

// chooseSealed is the version that such a node should have and that cannot be opened; nil: it has what it should.
func (f *variants) chooseSealed(x *selector.Index, v selector.Vector) *snapshot.Resource {
	if len(f.sealed) == 0 {
		return nil
	}
	named, def := make([]member, 0, len(f.named)+len(f.sealed)), f.def
	for _, m := range f.named {
		if !slices.ContainsFunc(f.sealed, func(s member) bool { return s.name == m.name }) {
			named = append(named, m)
		}
	}
	for _, m := range f.sealed {
		if m.name == "" {
			def = m.res
		} else {
			named = append(named, m)
		}
	}
	has := def
	if m := winner(named, x, v); m != nil {
		has = m.res
	}
	if has == nil || has.Known() {
		return nil
	}
	return has
}
