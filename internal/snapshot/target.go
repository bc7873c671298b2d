package snapshot

import (
	"sync"

	"fairlead/internal/fleet"
)

// Snapshot is what one view of a fleet holds at one revision. It is immutable.
type Snapshot struct {
	Revision fleet.Revision
	// History is another number when the fleet's history was cut, by a failover that lost
	// commits: revisions of before mean nothing now.
	History uint64
	Types   [fleet.NumTypes]*Set
}

// Exception is a version that one node will not take, and what stands in for it.
type Exception struct {
	Type    fleet.Type
	Name    string
	Refused string    // the version
	Good    *Resource // the last one that the node confirmed; nil: the node never had the name
}

// Target is what one node should hold: a snapshot with the node's exceptions. It is
// immutable, and shared by the nodes that should hold the same.
type Target struct {
	Revision fleet.Revision
	History  uint64
	Types    [fleet.NumTypes]*Set
	// repairs is what exceptions do beyond replacing resources; nil without any.
	repairs *repairs

	eds      sync.Once // fills edsNames when they are first asked for
	edsNames map[string]struct{}
}

// repairs are the names that exceptions touch besides their own.
type repairs struct {
	absent map[fleet.Ref]struct{} // the snapshot has them, the node does not
	kept   map[fleet.Ref]struct{} // a substitute names them: they stay although they are deleted
}

// NewTarget applies exceptions to a snapshot. An exception whose name has another
// version by now is over and changes nothing. What a substitute names stays with the
// client although the revision deleted it (SEMANTICS 3.3).
func NewTarget(s *Snapshot, exceptions []Exception) *Target {
	t := &Target{Revision: s.Revision, History: s.History, Types: s.Types}
	for _, e := range exceptions {
		if !e.Applies(s) {
			continue
		}
		if t.repairs == nil {
			t.repairs = &repairs{absent: map[fleet.Ref]struct{}{}, kept: map[fleet.Ref]struct{}{}}
		}
		if e.Good == nil {
			t.repairs.absent[fleet.Ref{Type: e.Type, Name: e.Name}] = struct{}{}
			t.Types[e.Type] = t.Types[e.Type].Without(e.Name)
			continue
		}
		for _, ref := range e.Good.Refs {
			t.repairs.kept[ref] = struct{}{}
		}
		t.Types[e.Type] = t.Types[e.Type].With(e.Good)
	}
	return t
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

// hasEDSName reports whether some cluster gets its endpoints under that name.
func (t *Target) hasEDSName(name string) bool {
	if r := t.Types[fleet.Cluster].Get(name); r != nil && r.EDSName == name {
		return true
	}
	t.eds.Do(func() {
		t.edsNames = make(map[string]struct{})
		for r := range t.Types[fleet.Cluster].All() {
			if r.EDSName != "" {
				t.edsNames[r.EDSName] = struct{}{}
			}
		}
	})
	_, ok := t.edsNames[name]
	return ok
}
