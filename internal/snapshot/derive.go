package snapshot

// Edit is a name of which a set is to say something else; nil is nothing.
type Edit struct{ Old, New *Resource }

// Name is the name that the edit is about.
func (e Edit) Name() string {
	if e.New != nil {
		return e.New.Name
	}
	return e.Old.Name
}

// Identity is what a set amounts to: equal for sets that hold the same.
type Identity struct {
	Content ID
	N       int
}

// Identity identifies the set.
func (s *Set) Identity() Identity {
	if s == nil {
		return Identity{}
	}
	return Identity{s.content, s.n}
}

// IdentityAfter identifies the set that edits lead to, which need not be built for it. Old
// is what the set has, and no name stands in two edits.
func (s *Set) IdentityAfter(edits []Edit) Identity {
	t := s.after(edits)
	return Identity{t.content, t.n}
}

// NamesAfter counts the names of the set that edits lead to.
func (s *Set) NamesAfter(edits []Edit) Count {
	t := s.after(edits)
	return Count{t.names, t.n}
}

// after counts the set that edits lead to.
func (s *Set) after(edits []Edit) (t tally) {
	if s != nil {
		t = s.tally
	}
	for _, e := range edits {
		t.count(e.Old, e.New)
	}
	return t
}

// Names counts the names.
func (s *Set) Names() Count {
	if s == nil {
		return Count{}
	}
	return Count{s.names, s.n}
}

// Entries counts the names with their versions, as requests report them.
func (s *Set) Entries() Count {
	if s == nil {
		return Count{}
	}
	return Count{s.entries, s.n}
}

// Apply builds the set that edits lead to. Its cost follows the edits, or the set where
// they are most of it.
func (s *Set) Apply(edits []Edit) *Set {
	if len(edits) == 0 {
		return s
	}
	next := &Set{tally: s.after(edits)}
	if s != nil {
		next.root = s.root
	}
	if next.n == 0 {
		return nil
	}
	if len(edits) > s.Len()/4 {
		next.root = rebuilt(s, edits, next.n)
		return next
	}
	for _, e := range edits {
		if e.New != nil {
			next.root = next.root.with(e.New.id.name.a, 0, e.New)
		} else {
			next.root = next.root.without(e.Old.id.name.a, 0, e.Old.Name)
		}
	}
	return next
}

func rebuilt(s *Set, edits []Edit, n int) *trie {
	rs := make([]*Resource, 0, n)
	out := make(map[string]struct{}, len(edits))
	for _, e := range edits {
		if e.Old != nil && s.Len() > 0 {
			out[e.Old.Name] = struct{}{}
		}
		if e.New != nil {
			rs = append(rs, e.New)
		}
	}
	for r := range s.All() {
		if _, ok := out[r.Name]; !ok {
			rs = append(rs, r)
		}
	}
	return build(rs, 0)
}

// build makes a level of resources, each of another name.
func build(rs []*Resource, shift int) *trie {
	if shift > lastShift {
		return &trie{leaves: rs}
	}
	var ends [33]int // where a branch's resources end
	for _, r := range rs {
		ends[branch(r.id.name.a, shift)+1]++
	}
	t := &trie{}
	branches := 0
	for b := range 32 {
		if ends[b+1] > 0 {
			t.bitmap |= 1 << b
			branches++
		}
		ends[b+1] += ends[b]
	}
	sorted, at := make([]*Resource, len(rs)), ends
	for _, r := range rs {
		b := branch(r.id.name.a, shift)
		sorted[at[b]] = r
		at[b]++
	}
	t.slots = make([]slot, 0, branches)
	for b := range 32 {
		switch part := sorted[ends[b]:ends[b+1]]; len(part) {
		case 0:
		case 1:
			t.slots = append(t.slots, slot{res: part[0]})
		default:
			t.slots = append(t.slots, slot{sub: build(part, shift+branchBits)})
		}
	}
	return t
}
