package replica

import (
	"fmt"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// view is what nodes for which every selector decides the same way should hold. As
// long as resources have no variants a fleet has one: the default variant of each.
type view struct {
	snap   *snapshot.Snapshot
	target *snapshot.Target // of its nodes without exceptions
}

// derive makes the next view out of the last one, which may be nil. Its cost is that
// of the rows; a resource that did not change stays the same pointer. cut: what was
// confirmed before may have been other content.
func (o *owner) derive(last *view, c fleet.Change, cut bool) *view {
	var types [fleet.NumTypes]*snapshot.Set
	if last != nil {
		types = last.snap.Types
	}
	var kept [fleet.NumTypes]map[string]struct{} // on a reload: what there is
	for _, row := range c.Rows {
		if row.Variant != "" {
			continue // there are no views of variants yet
		}
		if row.Type >= fleet.NumTypes {
			o.r.log.Error("a resource has a type that this server does not know", "fleet", o.key, "type", int(row.Type), "name", row.Name)
			continue
		}
		if row.Deleted {
			types[row.Type] = types[row.Type].Without(row.Name)
			continue
		}
		if c.Reload {
			if kept[row.Type] == nil {
				kept[row.Type] = make(map[string]struct{})
			}
			kept[row.Type][row.Name] = struct{}{}
		}
		types[row.Type] = o.with(types[row.Type], row)
	}
	for _, b := range c.Broken {
		o.r.log.Error("a stored resource cannot be read: its last version stays in force; write it again",
			"fleet", o.key, "type", b.Type, "name", b.Name, "variant", b.Variant, "revision", b.Revision, "error", b.Reason)
		if b.Variant != "" || b.Type >= fleet.NumTypes {
			continue
		}
		if kept[b.Type] == nil {
			kept[b.Type] = make(map[string]struct{})
		}
		kept[b.Type][b.Name] = struct{}{}
	}
	if c.Reload {
		for t, set := range types {
			types[t] = without(set, kept[t])
		}
	}
	snap := &snapshot.Snapshot{Revision: c.At.Revision, Types: types}
	if last != nil {
		snap.History = last.snap.History
		if cut {
			snap.History++
		} else {
			snap.Follow(last.snap, len(c.Rows))
		}
	}
	return &view{snap: snap, target: snapshot.NewTarget(snap, nil)}
}

// with returns the set with the row's resource: s itself if it holds that already, or
// if the row cannot be opened. The last good one of the name then stays; to take it
// away because of an error of ours would break proxies that work (PROTOCOL rule 26).
func (o *owner) with(s *snapshot.Set, row fleet.Row) *snapshot.Set {
	old := s.Get(row.Name)
	if old != nil && old.Version == row.Version && sameDerived(old, row.Derived) {
		return s
	}
	value := row.Body
	if row.Type == fleet.Secret {
		plain, err := o.r.cfg.Opener.Open(o.key, row.Name, row.Version, row.Body)
		if err != nil {
			o.r.log.Error("a secret cannot be opened: its last version stays in force; compare the server's sealing key with the API's",
				"fleet", o.key, "name", row.Name, "revision", row.Revision, "error", err)
			return s
		}
		value = plain
	}
	if old != nil && old.Version == row.Version {
		s = s.Without(row.Name) // the same bytes, but more is read out of them than before
	}
	return s.With(snapshot.NewResource(row.Type, row, value))
}

func sameDerived(r *snapshot.Resource, d fleet.Derived) bool {
	return r.EDSName == d.EDSName && r.Slow == d.Slow && r.VHDS == d.VHDS && slices.Equal(r.Refs, d.Refs) && slices.Equal(r.Domains, d.Domains)
}

// without removes all names that are not kept.
func without(s *snapshot.Set, kept map[string]struct{}) *snapshot.Set {
	next := s
	for r := range s.All() {
		if _, ok := kept[r.Name]; !ok {
			next = next.Without(r.Name)
		}
	}
	return next
}

// unreadable refuses to load a fleet of which nothing of some type can be read, though
// there is some: to clients the empty set would say that all of it was deleted.
func unreadable(last *held, c fleet.Change) error {
	if !c.Reload {
		return nil
	}
	for _, b := range c.Broken {
		same := func(r fleet.Row) bool { return r.Type == b.Type && r.Variant == "" }
		if b.Variant != "" || slices.ContainsFunc(c.Rows, same) {
			continue
		}
		if last == nil || last.view.snap.Types[b.Type].Get(b.Name) == nil {
			return fmt.Errorf("nothing of %s can be read, as of %q at revision %d: write it again: %s", b.Type, b.Name, b.Revision, b.Reason)
		}
	}
	return nil
}
