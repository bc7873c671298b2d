package replica

import (
	"iter"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// content is all that a fleet has at one revision, for whatever nodes. It is immutable;
// two that follow each other share what they have in common.
type content struct {
	revision  fleet.Revision
	history   uint64                        // see snapshot.Snapshot
	compacted fleet.Revision                // see fleet.Change
	plain     [fleet.NumTypes]*snapshot.Set // names without variants, which every node has
	lost      [fleet.NumTypes]*snapshot.Set // tombstones of names that no node has
	sealed    *snapshot.Set                 // of names without variants: see snapshot.Snapshot
	variants  shardedMap                    // the other names
	uses      map[string]use                // by the canonical text of a selector
	index     *selector.Index               // of these selectors
	own       int                           // bytes that the content which it was derived from had not
}

// use is how many variants have a selector.
type use struct {
	selector selector.Selector
	variants int
}

// variantsOf returns all that there is of a name; empty if there is nothing.
func (c *content) variantsOf(ref fleet.Ref) *variants {
	if f := c.variants.get(ref); f != nil {
		return f
	}
	f := &variants{def: c.plain[ref.Type].Get(ref.Name)}
	if r := c.lost[ref.Type].Get(ref.Name); r != nil {
		f.lost = r.Revision
	}
	if r := c.sealed.Get(ref.Name); r != nil && ref.Type == fleet.Secret {
		f.sealed = []member{{res: r}}
	}
	return f
}

// names yields every name that there is or was.
func (c *content) names() iter.Seq[fleet.Ref] {
	return func(yield func(fleet.Ref) bool) {
		for ref := range c.variants.all() {
			if !yield(ref) {
				return
			}
		}
		for _, sets := range [][fleet.NumTypes]*snapshot.Set{c.plain, c.lost, {fleet.Secret: c.sealed}} {
			for t, set := range sets {
				for r := range set.All() {
					if !yield(fleet.Ref{Type: fleet.Type(t), Name: r.Name}) { //nolint:gosec // one of nine
						return
					}
				}
			}
		}
	}
}

// put is of a content that nobody else sees.
func (c *content) put(ref fleet.Ref, f *variants) {
	t, name := ref.Type, ref.Name
	var sealed *snapshot.Resource
	if !f.plain() {
		c.variants.put(ref, f)
		c.plain[t], c.lost[t] = c.plain[t].Without(name), c.lost[t].Without(name)
	} else {
		c.variants.put(ref, nil)
		c.plain[t] = replaced(c.plain[t], name, f.def)
		c.lost[t] = buried(c.lost[t], name, f.tombstoneAt())
		if len(f.sealed) > 0 {
			sealed = f.sealed[0].res
		}
	}
	if t == fleet.Secret {
		c.sealed = replaced(c.sealed, name, sealed)
	}
}

// buried returns the tombstones with the name's of that revision; 0: without one.
func buried(s *snapshot.Set, name string, at fleet.Revision) *snapshot.Set {
	switch old := s.Get(name); {
	case at == 0:
		return s.Without(name)
	case old != nil && old.Revision == at:
		return s
	}
	return s.Without(name).With(snapshot.Tombstone(name, at))
}

// replaced returns the set with r as all that it has of the name; nil: nothing.
func replaced(s *snapshot.Set, name string, r *snapshot.Resource) *snapshot.Set {
	old := s.Get(name)
	switch {
	case r == nil:
		return s.Without(name)
	case old == r:
		return s
	case old != nil && snapshot.Same(old, r):
		s = s.Without(name) // else it would keep the old one
	}
	return s.With(r)
}

// countUses takes in that a name has other variants than before; moved: some
// selector has come or gone.
func (c *content) countUses(old, next *variants) (moved bool) {
	for m := range old.selected() {
		u := c.uses[m.selector.String()]
		if u.variants--; u.variants == 0 {
			delete(c.uses, m.selector.String())
			moved = true
			continue
		}
		c.uses[m.selector.String()] = u
	}
	for m := range next.selected() {
		u, ok := c.uses[m.selector.String()]
		c.uses[m.selector.String()] = use{m.selector, u.variants + 1}
		moved = moved || !ok
	}
	return moved
}

func (c *content) buildIndex() {
	selectors := make([]selector.Selector, 0, len(c.uses))
	for _, u := range c.uses {
		selectors = append(selectors, u.selector)
	}
	c.index = selector.NewIndex(selectors)
}
