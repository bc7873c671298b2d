package snapshot

import (
	"maps"
	"slices"

	"fairlead/internal/fleet"
)

// Snapshot is what one view of a fleet holds at one revision. It is immutable.
type Snapshot struct {
	Revision fleet.Revision
	// History is another number when the fleet's history was cut, by a failover that lost
	// commits: revisions of before mean nothing now.
	History uint64
	Types   [fleet.NumTypes]*Set
	// Gone are the tombstones: names that the view has lost, by deletion or by selection, with
	// the revisions that took them away, or with later ones that may have. What is older than
	// the store's tombstones is not among them.
	Gone [fleet.NumTypes]*Set
	// Recent are what the view held before. Follow sets it.
	Recent Recent
	// Unknown are names of which it is not known what one node held: of a snapshot that says
	// what it held before.
	Unknown []fleet.Ref
}

// Exception is a version that one node will not take, and what stands in for it.
type Exception struct {
	Type    fleet.Type
	Name    string
	Refused string    // the version
	Good    *Resource // the last one that the node confirmed; nil: the node never had the name
	// Leave: the node has some version of the name, and its bytes are not to be had. The
	// name is left alone, never removed (SEMANTICS 3.2).
	Leave bool
}

// Target is what one node should hold: a snapshot with the node's exceptions. It is
// immutable, and shared by the nodes that should hold the same.
type Target struct {
	Revision fleet.Revision
	History  uint64
	Types    [fleet.NumTypes]*Set
	Gone     [fleet.NumTypes]*Set // of the snapshot
	view     [fleet.NumTypes]*Set // the snapshot's own: what Types were without exceptions
	recent   Recent
	// repairs is what exceptions do beyond replacing resources; nil without any.
	repairs *repairs
	// Retries moves when the node is asked again to take what it refused: then a content
	// may go a second time to a stream that refused it.
	Retries int
}

// repairs are the names that exceptions touch besides their own.
type repairs struct {
	absent map[fleet.Ref]struct{} // the snapshot has them, the node does not
	kept   map[fleet.Ref]struct{} // a substitute names them: they stay although they are deleted
	// instead is what stands in for a name, nil for nothing.
	instead map[fleet.Ref]*Resource
	left    [fleet.NumTypes]map[string]struct{} // the node has some version, whose bytes are not to be had
}

// NewTarget applies exceptions to a snapshot. An exception whose name has another
// version by now is over and changes nothing. What a substitute names stays with the
// client although the revision deleted it (SEMANTICS 3.3).
func NewTarget(s *Snapshot, exceptions []Exception) *Target {
	t := &Target{Revision: s.Revision, History: s.History, Types: s.Types, Gone: s.Gone, view: s.Types, recent: s.Recent}
	t.except(slices.DeleteFunc(slices.Clone(exceptions), func(e Exception) bool { return !e.Applies(s) }))
	return t
}

// except applies exceptions to a target that nobody shares yet.
func (t *Target) except(es []Exception) {
	if len(es) == 0 {
		return
	}
	own := &repairs{absent: map[fleet.Ref]struct{}{}, kept: map[fleet.Ref]struct{}{}, instead: map[fleet.Ref]*Resource{}}
	if t.repairs != nil {
		own = &repairs{absent: maps.Clone(t.repairs.absent), kept: maps.Clone(t.repairs.kept), instead: maps.Clone(t.repairs.instead)}
		for typ, names := range t.repairs.left {
			own.left[typ] = maps.Clone(names)
		}
	}
	t.repairs = own
	for _, e := range es {
		if e.Leave {
			own.kept[fleet.Ref{Type: e.Type, Name: e.Name}] = struct{}{}
			if own.left[e.Type] == nil {
				own.left[e.Type] = make(map[string]struct{})
			}
			own.left[e.Type][e.Name] = struct{}{}
			t.Types[e.Type] = t.Types[e.Type].Without(e.Name)
			continue
		}
		own.instead[fleet.Ref{Type: e.Type, Name: e.Name}] = e.Good
		if e.Good == nil {
			own.absent[fleet.Ref{Type: e.Type, Name: e.Name}] = struct{}{}
			t.Types[e.Type] = t.Types[e.Type].Without(e.Name)
			continue
		}
		for _, ref := range e.Good.Refs {
			own.kept[ref] = struct{}{}
		}
		t.Types[e.Type] = t.Types[e.Type].With(e.Good)
	}
}

// Applies reports whether the snapshot still holds the refused version.
func (e Exception) Applies(s *Snapshot) bool {
	r := s.Types[e.Type].Get(e.Name)
	return r != nil && r.Version == e.Refused
}

// withholds reports whether the target leaves this name out because the node refused it.
func (t *Target) withholds(ref fleet.Ref) bool {
	if t.repairs == nil {
		return false
	}
	_, ok := t.repairs.absent[ref]
	return ok
}

// keeps reports whether what stands in for a refused resource names it.
func (t *Target) keeps(ref fleet.Ref) bool {
	if t.repairs == nil {
		return false
	}
	_, ok := t.repairs.kept[ref]
	return ok
}

// excepts reports whether the node refused this version, which the snapshot has.
func (t *Target) excepts(typ fleet.Type, r *Resource) bool {
	if t.repairs == nil || !Same(t.view[typ].Get(r.Name), r) {
		return false
	}
	_, replaced := t.repairs.instead[fleet.Ref{Type: typ, Name: r.Name}]
	_, left := t.repairs.left[typ][r.Name]
	return replaced || left
}

// leaves returns the names of a type that the node has and that nothing can be said about.
func (t *Target) leaves(typ fleet.Type) map[string]struct{} {
	if t.repairs == nil {
		return nil
	}
	return t.repairs.left[typ]
}

// hasEDSName reports whether some cluster gets its endpoints under that name.
func (t *Target) hasEDSName(name string) bool {
	clusters := t.Types[fleet.Cluster]
	if r := clusters.Get(name); r != nil && r.EDSName == name {
		return true
	}
	return clusters.lookInto().eds[name]
}

// Tombstone is an entry of Snapshot.Gone.
func Tombstone(name string, at fleet.Revision) *Resource {
	return &Resource{Name: name, Revision: at, key: keyOf(name, "\x00gone")}
}
