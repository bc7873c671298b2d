package replica

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// builder makes contents out of rows. It has no state and takes no lock: whoever has rows may
// call it.
type builder struct {
	key    fleet.Key
	opener Opener
	say    func(what string, attrs ...any) // writes of what cannot be read into the log
}

func newBuilder(key fleet.Key, opener Opener, log *slog.Logger) builder {
	return builder{key, opener, log.Error}
}

// ofThePast is for what a fleet had once: what cannot be read of that asks nobody to do something, and whoever comes back may have it read.
func (bd *builder) ofThePast(log *slog.Logger) *builder {
	return &builder{bd.key, bd.opener, log.Debug}
}

// difference is what a change makes of a content.
type difference struct {
	last, next *content    // last is nil for the first one
	changed    []fleet.Ref // the names of which somebody may have something else
	replaced   int         // bytes that the next one has no more, of all variants
	cut        bool        // the history was: revisions of before may be other ones
}

// derive makes the next content out of the last one, which may be nil. Its cost is that
// of the rows; a resource that did not change stays the same pointer. cut: what was
// confirmed before may have been other content.
func (bd *builder) derive(last *content, c fleet.Change, cut bool) difference {
	d := difference{last: last, next: &content{}, cut: cut}
	if last != nil {
		*d.next = *last
	} else {
		last = &content{}
		d.next.buildIndex()
	}
	d.next.variants.own, d.next.own = new([shards]bool), 0
	d.next.revision = c.At.Revision
	if cut {
		d.next.history++
	}
	bd.logBroken(c.Broken)
	if c.Reload {
		bd.reload(&d, last, c)
	} else {
		for ref, rows := range bd.byName(c.Rows) {
			old := last.variantsOf(ref)
			next := old.clone()
			bd.grow(&next, old, rows)
			d.take(ref, old, &next)
		}
	}
	d.prune(c.Compacted)
	d.reindex()
	d.next.variants.own = nil
	return d
}

// reload makes the content that of the rows alone, and of what was held of those that
// cannot be read.
func (bd *builder) reload(d *difference, last *content, c fleet.Change) {
	rows := bd.byName(c.Rows)
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
		old, next := last.variantsOf(ref), variants{}
		for _, variant := range broken[ref] {
			keep(&next, old, variant)
		}
		bd.grow(&next, old, rs)
		d.take(ref, old, &next)
	}
}

// keep takes a variant over as it was.
func keep(next, old *variants, variant string) {
	for _, m := range old.sealed {
		if m.name == variant {
			next.seal(m)
		}
	}
	if variant == "" {
		next.def = old.def
	} else if m := old.member(variant); m != nil {
		next.set(*m)
	}
}

func (bd *builder) byName(rows []fleet.Row) map[fleet.Ref][]fleet.Row {
	by := make(map[fleet.Ref][]fleet.Row, len(rows))
	for _, row := range rows {
		if row.Type >= fleet.NumTypes {
			bd.say("a resource has a type that this server does not know", "fleet", bd.key, "type", int(row.Type), "name", row.Name)
			continue
		}
		ref := fleet.Ref{Type: row.Type, Name: row.Name}
		by[ref] = append(by[ref], row)
	}
	return by
}

func (bd *builder) logBroken(bs []fleet.Broken) {
	for _, b := range bs {
		bd.say("a stored resource cannot be read: its last version stays in force; write it again",
			"fleet", bd.key, "type", b.Type, "name", b.Name, "variant", b.Variant, "revision", b.Revision, "error", b.Reason)
	}
}

// grow takes the rows of a name into its variants, which nobody else sees yet. What is the
// same in old stays the same pointer.
func (bd *builder) grow(f, old *variants, rows []fleet.Row) {
	var moved fleet.Revision
	for _, row := range rows {
		switch {
		case row.Variant == "" && row.Deleted:
			f.def, f.lost = nil, max(f.lost, row.Revision)
			f.unseal("")
		case row.Variant == "":
			if f.def = bd.resource(old.def, row); f.def == nil {
				f.def = old.def
				f.seal(member{res: snapshot.Sealed(row.Name, row.Version, row.Revision)})
				continue
			}
			f.unseal("")
		case row.Deleted:
			f.remove(row.Variant)
			f.unseal(row.Variant)
			moved = max(moved, row.Revision)
		default:
			bd.growNamed(f, old, row)
			moved = max(moved, row.Reselected)
		}
	}
	if moved > 0 {
		f.raise(moved)
	}
}

func (bd *builder) growNamed(f, old *variants, row fleet.Row) {
	was := old.member(row.Variant)
	s, err := selector.Parse(row.Selector)
	if err != nil {
		bd.say("a stored selector cannot be read: the variant stays as it was; write it again",
			"fleet", bd.key, "type", row.Type, "name", row.Name, "variant", row.Variant, "revision", row.Revision, "error", err)
		keep(f, old, row.Variant)
		return
	}
	var last *snapshot.Resource
	if was != nil {
		last = was.res
	}
	m := member{name: row.Variant, selector: s, priority: row.Priority}
	if m.res = bd.resource(last, row); m.res == nil {
		keep(f, old, row.Variant)
		m.res = snapshot.Sealed(row.Name, row.Version, row.Revision)
		f.seal(m)
		return
	}
	f.set(m)
	f.unseal(row.Variant)
}

// resource returns what a row is: old itself if that is the same, with the revision that brought
// it back if it was another in between, or nil if the row cannot be opened. The last known good one then stays; to take it away because of an error of ours would
// break proxies that work (PROTOCOL rule 26).
func (bd *builder) resource(old *snapshot.Resource, row fleet.Row) *snapshot.Resource {
	if old != nil && old.Version == row.Version && sameDerived(old, row.Derived) {
		if row.Revision > old.Revision {
			return old.At(row.Revision)
		}
		return old
	}
	value := row.Body
	if row.Type == fleet.Secret {
		plain, err := bd.opener.Open(bd.key, row.Name, row.Version, row.Body)
		if err != nil {
			bd.say("a secret cannot be opened: its last version stays in force; compare the server's sealing key with the API's, and write the secret again",
				"fleet", bd.key, "name", row.Name, "variant", row.Variant, "revision", row.Revision, "error", err)
			return nil
		}
		value = plain
	}
	return snapshot.NewResource(row.Type, row, value)
}

// revive makes of what is stored the resource that stands in; nil if its bytes are not to
// be had.
func (bd *builder) revive(f fleet.Refusal) *snapshot.Resource {
	if f.Row == nil {
		if absent := snapshot.Absent(f.Type, f.Name); absent != nil && f.Good == absent.Version {
			return absent // which nobody wrote
		}
		return nil
	}
	value := f.Row.Body
	if f.Type == fleet.Secret {
		plain, err := bd.opener.Open(bd.key, f.Row.Name, f.Row.Version, f.Row.Body)
		if err != nil {
			bd.say("a secret that stands in for a refused one cannot be opened: it is left alone; compare the server's sealing key with the API's",
				"fleet", bd.key, "name", f.Row.Name, "revision", f.Row.Revision, "error", err)
			return nil
		}
		value = plain
	}
	return snapshot.NewResource(f.Type, *f.Row, value)
}

func sameDerived(r *snapshot.Resource, d fleet.Derived) bool {
	return r.EDSName == d.EDSName && r.Slow == d.Slow && r.VHDS == d.VHDS && r.Scopes == d.Scopes && r.ByName == d.ByName && slices.Equal(r.Refs, d.Refs) && slices.Equal(r.Domains, d.Domains)
}

func (d *difference) take(ref fleet.Ref, old, next *variants) {
	if next.same(old) {
		return
	}
	d.next.put(ref, next)
	d.changed = append(d.changed, ref)
	for was := range old.resources() {
		if !next.shares(was) {
			d.replaced += was.Size()
		}
	}
	for is := range next.resources() {
		if !old.shares(is) {
			d.next.own += is.Size()
		}
	}
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
		old, next := last.variantsOf(ref), d.next.variantsOf(ref)
		if old.plain() && next.plain() {
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
		if last == nil || last.content.variantsOf(b.Ref).def == nil {
			return fmt.Errorf("nothing of %s can be read, as of %q at revision %d: write it again: %s", b.Type, b.Name, b.Revision, b.Reason)
		}
	}
	return nil
}
