package replica

import (
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"

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
	families  shelf                         // the other names
	uses      map[string]use                // by the canonical text of a selector
	index     *selector.Index               // of these selectors
}

// use is how many variants have a selector.
type use struct {
	selector selector.Selector
	variants int
}

// shards bounds what a change of one family copies.
const shards = 64

// shelf is a map of families that is copied in parts.
type shelf struct {
	count  [fleet.NumTypes]int
	shards [shards]map[fleet.Ref]*family
	// own are the parts that nobody else sees; nil when all are shared.
	own *[shards]bool
}

var shardSeed = maphash.MakeSeed()

func shardOf(ref fleet.Ref) int { return int(maphash.String(shardSeed, ref.Name) % shards) } //nolint:gosec // below 64

func (s *shelf) get(ref fleet.Ref) *family { return s.shards[shardOf(ref)][ref] }

// put is of a shelf that nobody else sees; nil takes the family away.
func (s *shelf) put(ref fleet.Ref, f *family) {
	i := shardOf(ref)
	old := s.shards[i][ref]
	if old == nil && f == nil {
		return
	}
	next := s.shards[i]
	if s.own == nil || !s.own[i] {
		next = maps.Clone(next)
	}
	if s.own != nil {
		s.own[i] = true
	}
	switch {
	case f == nil:
		delete(next, ref)
		s.count[ref.Type]--
	case next == nil:
		next = make(map[fleet.Ref]*family)
		fallthrough
	default:
		if old == nil {
			s.count[ref.Type]++
		}
		next[ref] = f
	}
	s.shards[i] = next
}

// all yields every family.
func (s *shelf) all() iter.Seq2[fleet.Ref, *family] {
	return func(yield func(fleet.Ref, *family) bool) {
		for _, shard := range s.shards {
			for ref, f := range shard {
				if !yield(ref, f) {
					return
				}
			}
		}
	}
}

// family returns all that there is of a name, the empty family if there is nothing.
func (c *content) family(ref fleet.Ref) *family {
	if f := c.families.get(ref); f != nil {
		return f
	}
	f := &family{def: c.plain[ref.Type].Get(ref.Name)}
	if r := c.lost[ref.Type].Get(ref.Name); r != nil {
		f.lost = r.Revision
	}
	return f
}

// names yields every name that there is or was.
func (c *content) names() iter.Seq[fleet.Ref] {
	return func(yield func(fleet.Ref) bool) {
		for ref := range c.families.all() {
			if !yield(ref) {
				return
			}
		}
		for _, sets := range [][fleet.NumTypes]*snapshot.Set{c.plain, c.lost} {
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
func (c *content) put(ref fleet.Ref, f *family) {
	t, name := ref.Type, ref.Name
	if len(f.named) > 0 {
		c.families.put(ref, f)
		c.plain[t], c.lost[t] = c.plain[t].Without(name), c.lost[t].Without(name)
		return
	}
	c.families.put(ref, nil)
	c.plain[t] = replaced(c.plain[t], name, f.def)
	c.lost[t] = buried(c.lost[t], name, f.tombstoneAt())
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

// countUses takes in that a family has come in the place of another one; moved: some
// selector has come or gone.
func (c *content) countUses(old, next *family) (moved bool) {
	for _, m := range old.named {
		u := c.uses[m.selector.String()]
		if u.variants--; u.variants == 0 {
			delete(c.uses, m.selector.String())
			moved = true
			continue
		}
		c.uses[m.selector.String()] = u
	}
	for _, m := range next.named {
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

// difference is what a change makes of a content.
type difference struct {
	last, next *content    // last is nil for the first one
	changed    []fleet.Ref // the names of which somebody may have something else
}

// derive makes the next content out of the last one, which may be nil. Its cost is that
// of the rows; a resource that did not change stays the same pointer. cut: what was
// confirmed before may have been other content.
func (o *owner) derive(last *content, c fleet.Change, cut bool) difference {
	d := difference{last: last, next: &content{}}
	if last != nil {
		*d.next = *last
	} else {
		last = &content{}
		d.next.buildIndex()
	}
	d.next.families.own = new([shards]bool)
	d.next.revision = c.At.Revision
	if cut {
		d.next.history++
	}
	o.logBroken(c.Broken)
	if c.Reload {
		o.reload(&d, last, c)
	} else {
		for ref, rows := range o.byName(c.Rows) {
			old := last.family(ref)
			next := old.clone()
			o.grow(&next, old, rows)
			d.take(ref, old, &next)
		}
	}
	d.prune(c.Compacted)
	d.reindex()
	d.next.families.own = nil
	return d
}

// reload makes the content that of the rows alone, and of what was held of those that
// cannot be read.
func (o *owner) reload(d *difference, last *content, c fleet.Change) {
	rows := o.byName(c.Rows)
	for ref := range last.names() {
		if _, ok := rows[ref]; !ok {
			rows[ref] = nil
		}
	}
	broken := make(map[fleet.Ref][]string)
	for _, b := range c.Broken {
		broken[b.Ref] = append(broken[b.Ref], b.Variant)
	}
	for ref, rs := range rows {
		old, next := last.family(ref), family{}
		for _, variant := range broken[ref] {
			keep(&next, old, variant)
		}
		o.grow(&next, old, rs)
		d.take(ref, old, &next)
	}
}

// keep takes a variant over as it was.
func keep(next, old *family, variant string) {
	if variant == "" {
		next.def = old.def
	} else if m := old.member(variant); m != nil {
		next.set(*m)
	}
}

func (o *owner) byName(rows []fleet.Row) map[fleet.Ref][]fleet.Row {
	by := make(map[fleet.Ref][]fleet.Row, len(rows))
	for _, row := range rows {
		if row.Type >= fleet.NumTypes {
			o.r.log.Error("a resource has a type that this server does not know", "fleet", o.key, "type", int(row.Type), "name", row.Name)
			continue
		}
		ref := fleet.Ref{Type: row.Type, Name: row.Name}
		by[ref] = append(by[ref], row)
	}
	return by
}

func (o *owner) logBroken(bs []fleet.Broken) {
	for _, b := range bs {
		o.r.log.Error("a stored resource cannot be read: its last version stays in force; write it again",
			"fleet", o.key, "type", b.Type, "name", b.Name, "variant", b.Variant, "revision", b.Revision, "error", b.Reason)
	}
}

// grow takes the rows of a name into its family, which nobody else sees yet. What is the
// same in old stays the same pointer.
func (o *owner) grow(f, old *family, rows []fleet.Row) {
	var moved fleet.Revision
	for _, row := range rows {
		switch {
		case row.Variant == "" && row.Deleted:
			f.def, f.lost = nil, max(f.lost, row.Revision)
		case row.Variant == "":
			f.def = o.resource(old.def, row)
		case row.Deleted:
			f.remove(row.Variant)
			moved = max(moved, row.Revision)
		default:
			o.growNamed(f, old, row)
			moved = max(moved, row.Reselected)
		}
	}
	if moved > 0 {
		f.raise(moved)
	}
}

func (o *owner) growNamed(f, old *family, row fleet.Row) {
	was := old.member(row.Variant)
	s, err := selector.Parse(row.Selector)
	if err != nil {
		o.r.log.Error("a stored selector cannot be read: the variant stays as it was; write it again",
			"fleet", o.key, "type", row.Type, "name", row.Name, "variant", row.Variant, "revision", row.Revision, "error", err)
		keep(f, old, row.Variant)
		return
	}
	var last *snapshot.Resource
	if was != nil {
		last = was.res
	}
	switch res := o.resource(last, row); {
	case res == nil: // it cannot be opened, and there was none before
	case res == last && res.Version != row.Version:
		keep(f, old, row.Variant)
	default:
		f.set(member{name: row.Variant, selector: s, priority: row.Priority, res: res})
	}
}

// resource returns what a row is: old itself if that is the same, or if the row cannot be
// opened. The last good one then stays; to take it away because of an error of ours would
// break proxies that work (PROTOCOL rule 26).
func (o *owner) resource(old *snapshot.Resource, row fleet.Row) *snapshot.Resource {
	if old != nil && old.Version == row.Version && sameDerived(old, row.Derived) {
		return old
	}
	value := row.Body
	if row.Type == fleet.Secret {
		plain, err := o.r.cfg.Opener.Open(o.key, row.Name, row.Version, row.Body)
		if err != nil {
			o.r.log.Error("a secret cannot be opened: its last version stays in force; compare the server's sealing key with the API's",
				"fleet", o.key, "name", row.Name, "variant", row.Variant, "revision", row.Revision, "error", err)
			return old
		}
		value = plain
	}
	return snapshot.NewResource(row.Type, row, value)
}

func sameDerived(r *snapshot.Resource, d fleet.Derived) bool {
	return r.EDSName == d.EDSName && r.Slow == d.Slow && r.VHDS == d.VHDS && slices.Equal(r.Refs, d.Refs) && slices.Equal(r.Domains, d.Domains)
}

func (d *difference) take(ref fleet.Ref, old, next *family) {
	if next.same(old) {
		return
	}
	d.next.put(ref, next)
	d.changed = append(d.changed, ref)
}

// prune forgets the tombstones that the database has forgotten.
func (d *difference) prune(compacted fleet.Revision) {
	if compacted <= d.next.compacted {
		return
	}
	d.next.compacted = compacted
	for t, set := range d.next.lost {
		for r := range set.All() {
			if r.Revision <= compacted {
				d.next.lost[t] = d.next.lost[t].Without(r.Name)
				d.changed = append(d.changed, fleet.Ref{Type: fleet.Type(t), Name: r.Name}) //nolint:gosec // one of nine
			}
		}
	}
}

// reindex keeps the selectors' index of the last content if none has come or gone.
func (d *difference) reindex() {
	last := d.last
	if last == nil {
		last = &content{}
	}
	own, moved := false, false
	for _, ref := range d.changed {
		old, next := last.family(ref), d.next.family(ref)
		if len(old.named)+len(next.named) == 0 {
			continue
		}
		if !own {
			d.next.uses, own = maps.Clone(d.next.uses), true
			if d.next.uses == nil {
				d.next.uses = make(map[string]use)
			}
		}
		moved = d.next.countUses(old, next) || moved
	}
	if moved {
		d.next.buildIndex()
	}
}

// unreadable refuses to load a fleet of which nothing of some type can be read, though
// there is some: to clients the empty set would say that all of it was deleted.
func unreadable(last *held, c fleet.Change) error {
	if !c.Reload {
		return nil
	}
	for _, b := range c.Broken {
		same := func(r fleet.Row) bool { return r.Type == b.Type && r.Variant == "" && !r.Deleted }
		if b.Variant != "" || slices.ContainsFunc(c.Rows, same) {
			continue
		}
		if last == nil || last.content.family(b.Ref).def == nil {
			return fmt.Errorf("nothing of %s can be read, as of %q at revision %d: write it again: %s", b.Type, b.Name, b.Revision, b.Reason)
		}
	}
	return nil
}
