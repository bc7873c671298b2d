package replica

import (
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
}

// clone returns some that nobody shares.
func (f *variants) clone() variants {
	return variants{def: f.def, lost: f.lost, named: slices.Clone(f.named)}
}

// same reports whether nothing differs, for any node.
func (f *variants) same(o *variants) bool {
	if f.def != o.def || len(f.named) != len(o.named) || f.tombstoneAt() != o.tombstoneAt() {
		return false
	}
	for i := range f.named {
		a, b := &f.named[i], &o.named[i]
		if a.name != b.name || a.priority != b.priority || a.res != b.res || a.selector.String() != b.selector.String() {
			return false
		}
	}
	return true
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
	has = f.def
	if len(f.named) > 0 {
		candidates := make([]selector.Variant, len(f.named))
		for i, m := range f.named {
			candidates[i] = selector.Variant{Name: m.name, Priority: m.priority, Selector: x.Position(m.selector)}
		}
		if i, _ := selector.Winner(candidates, v); i >= 0 {
			has = f.named[i].res
		}
	}
	if has != nil {
		return has, 0
	}
	return nil, f.lost
}
