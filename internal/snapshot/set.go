package snapshot

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"fairlead/internal/fleet"
)

// Set is an immutable map from names to resources: a hash trie of 32 branches whose
// versions share what they have in common. The nil *Set is the empty set.
type Set struct {
	root *trie
	tally

	indexed sync.Once // fills index when it is first asked for
	index   index
	named   sync.Once // fills namers, alike
	namers  map[fleet.Ref][]*Resource
}

// trie is one level. Below the last level, where hashes are used up, leaves holds the
// resources whose names collide.
type trie struct {
	bitmap uint32
	slots  []slot
	leaves []*Resource
}

// slot holds a resource or a further level, never both.
type slot struct {
	res *Resource
	sub *trie
}

const (
	branchBits = 5
	lastShift  = 60 // 64 bits make 13 levels; the 13th has 4 bits
)

// tally is what a set amounts to. It is known before the set is built.
type tally struct {
	n       int
	sum     Sum
	content ID
	names   ID
	entries ID
	ttls    int // resources with a TTL
	foreign int // clusters whose endpoints have another name than they
	byName  int // clusters that are for those who name them
}

func (t *tally) count(old, next *Resource) {
	if old != nil {
		t.n--
		t.sum, t.content = t.sum.Minus(old.key), t.content.minus(old.id.content)
		t.names, t.entries = t.names.minus(old.id.name), t.entries.minus(old.id.entry)
		t.ttls -= expire(old)
		t.foreign -= foreign(old)
		t.byName -= byNameOnly(old)
	}
	if next != nil {
		t.n++
		t.sum, t.content = t.sum.Plus(next.key), t.content.plus(next.id.content)
		t.names, t.entries = t.names.plus(next.id.name), t.entries.plus(next.id.entry)
		t.ttls += expire(next)
		t.foreign += foreign(next)
		t.byName += byNameOnly(next)
	}
}

// Len is the number of resources.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.n
}

// SomeByName reports whether the set holds something that is for those alone who ask for it by its name.
func (s *Set) SomeByName() bool { return s != nil && s.byName > 0 }

// Sum is the sum over all resources (SEMANTICS 1.4).
func (s *Set) Sum() Sum {
	if s == nil {
		return Sum{}
	}
	return s.sum
}

// Own returns the set's own resource of a version, or the given one if the set has another version.
func (s *Set) Own(r *Resource) *Resource {
	if own := s.Get(r.Name); Same(own, r) {
		return own
	}
	return r
}

// Get returns the resource of that name, nil if there is none.
func (s *Set) Get(name string) *Resource {
	if s == nil {
		return nil
	}
	h := hashOf(name)
	t := s.root
	for shift := 0; t != nil; shift += branchBits {
		if shift > lastShift {
			return t.leaf(name)
		}
		sl, ok := t.at(h, shift)
		if !ok {
			return nil
		}
		if sl.sub == nil {
			if sl.res.Name == name {
				return sl.res
			}
			return nil
		}
		t = sl.sub
	}
	return nil
}

// With returns the set that holds r in the place of any resource of its name. It is s
// itself if s holds that version already, so that what did not change stays shared.
func (s *Set) With(r *Resource) *Set {
	old := s.Get(r.Name)
	if old != nil && Same(old, r) {
		return s
	}
	next := &Set{}
	var root *trie
	if s != nil {
		root, next.tally = s.root, s.tally
	}
	next.count(old, r)
	next.root = root.with(r.id.name.a, 0, r)
	return next
}

// Without returns the set that has no resource of that name: s itself if it had none.
func (s *Set) Without(name string) *Set {
	old := s.Get(name)
	if old == nil {
		return s
	}
	if s.n == 1 {
		return nil
	}
	next := &Set{tally: s.tally, root: s.root.without(old.id.name.a, 0, name)}
	next.count(old, nil)
	return next
}

// All yields every resource, in an order of no meaning.
func (s *Set) All() iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		if s != nil {
			s.root.all(yield)
		}
	}
}

// Sorted returns every resource by name.
func (s *Set) Sorted() []*Resource {
	rs := make([]*Resource, 0, s.Len())
	for r := range s.All() {
		rs = append(rs, r)
	}
	slices.SortFunc(rs, byName)
	return rs
}

func byName(a, b *Resource) int { return strings.Compare(a.Name, b.Name) }

// Equal reports whether both hold the same names at the same versions.
func (s *Set) Equal(o *Set) bool { return s == o || s.Len() == o.Len() && s.Sum() == o.Sum() }

func branch(h uint64, shift int) uint32 { return uint32(h>>shift) & 31 }

func (t *trie) index(bit uint32) int { return bits.OnesCount32(t.bitmap & (bit - 1)) }

func (t *trie) at(h uint64, shift int) (slot, bool) {
	bit := uint32(1) << branch(h, shift)
	if t.bitmap&bit == 0 {
		return slot{}, false
	}
	return t.slots[t.index(bit)], true
}

func (t *trie) leaf(name string) *Resource {
	for _, r := range t.leaves {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func (t *trie) with(h uint64, shift int, r *Resource) *trie {
	if shift > lastShift {
		return t.withLeaf(r)
	}
	bit := uint32(1) << branch(h, shift)
	if t == nil {
		return &trie{bitmap: bit, slots: []slot{{res: r}}}
	}
	i := t.index(bit)
	if t.bitmap&bit == 0 {
		return &trie{bitmap: t.bitmap | bit, slots: slices.Insert(slices.Clone(t.slots), i, slot{res: r})}
	}
	next := &trie{bitmap: t.bitmap, slots: slices.Clone(t.slots)}
	switch sl := t.slots[i]; {
	case sl.sub != nil:
		next.slots[i] = slot{sub: sl.sub.with(h, shift+branchBits, r)}
	case sl.res.Name == r.Name:
		next.slots[i] = slot{res: r}
	default: // two names share this branch: one level more
		var sub *trie
		sub = sub.with(sl.res.id.name.a, shift+branchBits, sl.res)
		next.slots[i] = slot{sub: sub.with(h, shift+branchBits, r)}
	}
	return next
}

func (t *trie) withLeaf(r *Resource) *trie {
	if t == nil {
		return &trie{leaves: []*Resource{r}}
	}
	leaves := slices.DeleteFunc(slices.Clone(t.leaves), func(x *Resource) bool { return x.Name == r.Name })
	return &trie{leaves: append(leaves, r)}
}

// without returns nil if nothing is left.
func (t *trie) without(h uint64, shift int, name string) *trie {
	if shift > lastShift {
		leaves := slices.DeleteFunc(slices.Clone(t.leaves), func(x *Resource) bool { return x.Name == name })
		if len(leaves) == 0 {
			return nil
		}
		return &trie{leaves: leaves}
	}
	bit := uint32(1) << branch(h, shift)
	i := t.index(bit)
	if sub := t.slots[i].sub; sub != nil {
		if sub = sub.without(h, shift+branchBits, name); sub != nil {
			next := &trie{bitmap: t.bitmap, slots: slices.Clone(t.slots)}
			next.slots[i] = sub.collapse()
			return next
		}
	}
	if len(t.slots) == 1 {
		return nil
	}
	return &trie{bitmap: t.bitmap &^ bit, slots: slices.Delete(slices.Clone(t.slots), i, i+1)}
}

// collapse gives the slot for a level: its only resource, if it holds one alone.
func (t *trie) collapse() slot {
	if len(t.slots) == 1 && t.slots[0].res != nil {
		return t.slots[0]
	}
	if len(t.leaves) == 1 {
		return slot{res: t.leaves[0]}
	}
	return slot{sub: t}
}

func (t *trie) all(yield func(*Resource) bool) bool {
	if t == nil {
		return true
	}
	for _, r := range t.leaves {
		if !yield(r) {
			return false
		}
	}
	for _, sl := range t.slots {
		if sl.res != nil {
			if !yield(sl.res) {
				return false
			}
		} else if !sl.sub.all(yield) {
			return false
		}
	}
	return true
}
