package snapshot

import "fairlead/internal/fleet"

// Recent are the sets that a view held before its present ones, newest first. By them it is
// known what a client holds that comes back with something older: its bytes, and what it
// names.
type Recent []*Earlier

// Earlier is what a view held at an earlier revision.
type Earlier struct {
	At      fleet.Revision
	Types   [fleet.NumTypes]*Set
	changed Change // what its successor replaced or lost
}

// Change is how much a fleet's revision replaced or took away.
type Change struct {
	Resources int
	Bytes     int // which it alone kept in memory
}

const (
	maxRecent = 64
	// maxRecentResources is how many replaced resources are kept for it, or a quarter of what
	// the view has, if that is more.
	maxRecentResources = 1_000
	// maxRecentBytes is how much of it is kept, as of the history (store.ChangesUpTo). The revision before the present one is kept in any case: clients
	// have that still.
	maxRecentBytes = 16 << 20
)

// Follow makes the snapshot the successor of another one of the same view, of a fleet of which so much changed.
func (s *Snapshot) Follow(last *Snapshot, changed Change) {
	budget := 0
	for _, set := range last.Types {
		budget += set.Len()
	}
	budget = max(maxRecentResources, budget/4)
	if s.Revision <= last.Revision+1 { // else revisions were passed over
		s.Since = last.Since
	}
	s.Recent = append(make(Recent, 0, len(last.Recent)+1), &Earlier{last.Revision, last.Types, changed})
	for _, e := range last.Recent {
		changed.Resources += e.changed.Resources
		changed.Bytes += e.changed.Bytes
		if changed.Resources > budget || changed.Bytes > maxRecentBytes || len(s.Recent) == maxRecent {
			return
		}
		s.Recent = append(s.Recent, e)
	}
}

// Find returns the resource of that name and version that the view held, nil if it is not
// known.
func (rs Recent) Find(t fleet.Type, name, version string) *Resource {
	for _, e := range rs {
		if r := e.Types[t].Get(name); r != nil && r.Version == version {
			return r
		}
	}
	return nil
}
