package snapshot

import "iter"

// Diff yields (old, new) for every name whose resource is not the same in both; old is
// nil where it was added, new where it was removed. Its cost follows the difference:
// levels that both sets share are passed over.
func Diff(old, new *Set) iter.Seq2[*Resource, *Resource] { return differences(old, new, byVersion) }

// DiffDelivery yields besides those of which the version is the same in both, and ByName is not.
func DiffDelivery(old, new *Set) iter.Seq2[*Resource, *Resource] {
	return differences(old, new, byVersionAndDelivery)
}

// DiffBytes yields what does not keep the same bytes in memory, whatever its version.
func DiffBytes(old, new *Set) iter.Seq2[*Resource, *Resource] { return differences(old, new, byBytes) }

// by is what makes a difference.
type by uint8

const (
	byVersion by = iota
	byVersionAndDelivery
	byBytes
)

func (x by) same(a, b *Resource) bool {
	if x == byBytes {
		return a == b || a != nil && a.Shares(b)
	}
	return Same(a, b) && (x == byVersion || a == b || a.ByName == b.ByName)
}

func differences(old, new *Set, x by) iter.Seq2[*Resource, *Resource] {
	return func(yield func(old, new *Resource) bool) {
		if old == new {
			return
		}
		var a, b *trie
		if old != nil {
			a = old.root
		}
		if new != nil {
			b = new.root
		}
		x.diff(slot{sub: a}, slot{sub: b}, yield)
	}
}

// diff compares two slots; the zero slot is empty.
func (x by) diff(a, b slot, yield func(old, new *Resource) bool) bool {
	switch {
	case a == b:
		return true
	case a.sub != nil && b.sub != nil:
		return x.diffLevels(a.sub, b.sub, yield)
	case a.sub == nil && b.sub == nil:
		return x.diffResources(a.res, b.res, yield)
	case b.sub != nil:
		return x.diffOne(b.sub, a.res, func(new, old *Resource) bool { return yield(old, new) })
	default:
		return x.diffOne(a.sub, b.res, yield)
	}
}

func (x by) diffResources(a, b *Resource, yield func(old, new *Resource) bool) bool {
	if a != nil && b != nil && a.Name != b.Name {
		return yield(a, nil) && yield(nil, b)
	}
	return x.same(a, b) || yield(a, b)
}

// diffOne compares a level with a slot that holds one resource or none.
func (x by) diffOne(t *trie, one *Resource, yield func(inLevel, alone *Resource) bool) bool {
	met := false
	ok := t.all(func(r *Resource) bool {
		if one != nil && r.Name == one.Name {
			met = true
			return x.same(r, one) || yield(r, one)
		}
		return yield(r, nil)
	})
	if ok && one != nil && !met {
		return yield(nil, one)
	}
	return ok
}

func (x by) diffLevels(a, b *trie, yield func(old, new *Resource) bool) bool {
	for bit := uint32(1); bit != 0; bit <<= 1 {
		if (a.bitmap|b.bitmap)&bit == 0 {
			continue
		}
		var sa, sb slot
		if a.bitmap&bit != 0 {
			sa = a.slots[a.index(bit)]
		}
		if b.bitmap&bit != 0 {
			sb = b.slots[b.index(bit)]
		}
		if !x.diff(sa, sb, yield) {
			return false
		}
	}
	for _, r := range a.leaves {
		if other := b.leaf(r.Name); !x.same(r, other) && !yield(r, other) {
			return false
		}
	}
	for _, r := range b.leaves {
		if a.leaf(r.Name) == nil && !yield(nil, r) {
			return false
		}
	}
	return true
}
