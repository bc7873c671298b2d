package snapshot

import "fairlead/internal/fleet"

// Snapshot is what one view of a fleet holds at one revision. It is immutable.
type Snapshot struct {
	Revision fleet.Revision
	// History is another number when the fleet's history was cut, by a failover that lost
	// commits: revisions of before mean nothing now.
	History uint64
	Types    [fleet.NumTypes]*Set
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
	absent   map[fleet.Ref]struct{} // names that the snapshot has and the node does not, for an exception
}

// NewTarget applies exceptions to a snapshot. An exception whose name has another
// version by now is over and changes nothing.
func NewTarget(s *Snapshot, exceptions []Exception) *Target {
	t := &Target{Revision: s.Revision, History: s.History, Types: s.Types}
	for _, e := range exceptions {
		if !e.Applies(s) {
			continue
		}
		if e.Good == nil {
			if t.absent == nil {
				t.absent = make(map[fleet.Ref]struct{})
			}
			t.absent[fleet.Ref{Type: e.Type, Name: e.Name}] = struct{}{}
			t.Types[e.Type] = t.Types[e.Type].Without(e.Name)
			continue
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

// withheldBy reports whether the target leaves this name out because the node refused it.
func (t *Target) withheldBy(ref fleet.Ref) bool {
	_, ok := t.absent[ref]
	return ok
}
