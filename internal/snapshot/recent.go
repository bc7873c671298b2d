package snapshot

import (
	"slices"

	"fairlead/internal/fleet"
)

// Recent are the sets that a view held before its present ones, newest first. By them it is
// known what a client holds that comes back with something older: its bytes, and what it
// names.
type Recent []*earlier

type earlier struct {
	at      fleet.Revision
	types   [fleet.NumTypes]*Set
	changed int // resources that its successor replaced or lost
}

const (
	maxRecent = 64
	// maxRecentResources is how many replaced resources are kept for it, or a quarter of what
	// the view has, if that is more.
	maxRecentResources = 1_000
)

// Follow makes the snapshot the successor of another one of the same view, of which it
// changed so many resources.
func (s *Snapshot) Follow(last *Snapshot, changed int) {
	budget := 0
	for _, set := range last.Types {
		budget += set.Len()
	}
	budget = max(maxRecentResources, budget/4)
	s.Recent = append(make(Recent, 0, len(last.Recent)+1), &earlier{last.Revision, last.Types, changed})
	for _, e := range last.Recent {
		if changed += e.changed; changed > budget || len(s.Recent) == maxRecent {
			return
		}
		s.Recent = append(s.Recent, e)
	}
}

// find returns the resource of that name and version that the view held, nil if it is not
// known.
func (rs Recent) find(t fleet.Type, name, version string) *Resource {
	for _, e := range rs {
		if r := e.types[t].Get(name); r != nil && r.Version == version {
			return r
		}
	}
	return nil
}

// known returns the resource of that name and version that the client may hold, nil if
// that is none that it is known to have been sent.
func (c *Client) known(t fleet.Type, name, version string, target *Target) *Resource {
	if c.Before != nil {
		if r := c.Before.Types[t].Get(name); r != nil && r.Version == version {
			return r
		}
	}
	return target.recent.find(t, name, version)
}

// settledWith returns what the client had of a name when it settled last, nil for nothing.
// known is false if that cannot be told.
func (c *Client) settledWith(t fleet.Type, name string, target *Target) (r *Resource, known bool) {
	switch {
	case c.Past.Settled >= target.Revision:
		return target.Types[t].Get(name), true
	case c.Before != nil && slices.Contains(c.Before.Unknown, fleet.Ref{Type: t, Name: name}):
		return nil, false
	case c.Before != nil && c.Before.Revision == c.Past.Settled:
		return c.Before.Types[t].Get(name), true
	}
	for _, e := range target.recent {
		if e.at <= c.Past.Settled {
			return e.types[t].Get(name), c.Past.Settled > 0
		}
	}
	return nil, c.Past.Settled == 0
}

// maxTried is how many resources are looked at to find the set of a version.
const maxTried = 50_000

// recall returns what a state-of-the-world client holds of its subscription by the
// version that it reports: the target's own set, or one that the view held before.
func (c *Client) recall(t fleet.Type, version string, target *Target) (held *Set, ok bool) {
	switch {
	case version == "":
		return nil, false
	case t == fleet.Cluster && c.Subscribed(t) && c.pushed.Sum().String() == version && c.pushed.certain():
		return c.pushed, true
	}
	for _, now := range []*Target{target, target.asHeld(t)} {
		if c.sum(t, now).String() == version {
			return c.wanted(t, now), true
		}
	}
	if c.Before != nil {
		for _, before := range target.before(t, &earlier{types: c.Before.Types}) {
			if before = before.asHeld(t); c.sum(t, before).String() == version {
				return c.wanted(t, before), true
			}
		}
	}
	last, tried := &target.Types, 0
	for _, e := range target.recent {
		if e.types[t] == last[t] && (t != fleet.Endpoint || e.types[fleet.Cluster] == last[fleet.Cluster]) { // endpoints that nobody wrote depend on the clusters
			continue
		}
		last = &e.types
		for _, before := range target.before(t, e) {
			if c.sum(t, before).String() == version {
				return c.wanted(t, before), true
			}
		}
		if tried += c.types[t].sub.Len(); tried > maxTried {
			break
		}
	}
	return nil, false
}

// sum is that of what the client should hold of a type, without making a set of it.
func (c *Client) sum(t fleet.Type, target *Target) (s Sum) {
	sub := &c.types[t].sub
	if sub.wildcard {
		return target.Types[t].Sum()
	}
	for n := range sub.names {
		if r := c.lookup(t, n, target); r != nil {
			s = s.plus(r.key)
		}
	}
	return s
}

// before returns what the node may have held of earlier sets: them, or them with what stands
// in at present.
func (t *Target) before(typ fleet.Type, e *earlier) []*Target {
	plain := &Target{Types: e.types}
	if t.repairs == nil {
		return []*Target{plain}
	}
	repaired := &Target{Types: e.types}
	for ref, good := range t.repairs.instead {
		switch {
		case ref.Type != typ:
		case good != nil:
			repaired.Types[typ] = repaired.Types[typ].With(good)
		default:
			repaired.Types[typ] = repaired.Types[typ].Without(ref.Name)
		}
	}
	return []*Target{plain, repaired}
}

// certain reports whether nothing of a set is in doubt.
func (s *Set) certain() bool {
	for r := range s.All() {
		if r.doubt {
			return false
		}
	}
	return true
}

// versions are those of a set, by name.
func (s *Set) versions() map[string]string {
	vs := make(map[string]string, s.Len())
	for r := range s.All() {
		vs[r.Name] = r.Version
	}
	return vs
}
