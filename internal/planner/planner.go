package planner

import (
	"slices"
	"sync/atomic"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Planner interns what the positions of streams are made of, and remembers what was worked
// out for them. It is safe for concurrent use.
type Planner struct {
	maxMemo int // bytes, about
	sets    pool[setKey, snapshot.Set]
	subs    pool[subKey, Subscription]
	doubted pool[doubtsKey, Doubts]
	memos   memos

	steps, walks atomic.Int64 // that were asked for, and those of them that were worked out
}

// Stats are what a planner has done, and what it remembers.
type Stats struct {
	Steps, Walks int64 // that were asked for, and those of them that were worked out
	Positions    int   // distinct ones of which a step is remembered
	Bytes        int   // that what is remembered takes, about
}

// Stats looks at each target that somebody has, or had a moment ago, once.
func (pl *Planner) Stats() Stats {
	s := Stats{Steps: pl.steps.Load(), Walks: pl.walks.Load()}
	for _, m := range pl.memos.live() {
		m.mu.RLock()
		s.Positions, s.Bytes = s.Positions+len(m.steps), s.Bytes+m.size
		m.mu.RUnlock()
	}
	return s
}

// DefaultMemo is how many bytes a server may remember.
const DefaultMemo = 256 << 20

// New returns a planner that remembers so many bytes at most, about; 0: nothing.
func New(maxMemo int) *Planner { return &Planner{maxMemo: maxMemo} }

// setKey tells fleets apart, so that nobody can find out what others hold.
type setKey struct {
	fleet fleet.Key
	typ   fleet.Type
	id    snapshot.Identity
}

// interner is a planner's for one fleet.
type interner struct {
	*Planner
	key fleet.Key
}

// apply derives a set. If there is one of that content already it is that one, and nothing
// is built.
func (in interner) apply(t fleet.Type, s *snapshot.Set, edits []snapshot.Edit) *snapshot.Set {
	if len(edits) == 0 {
		return s
	}
	k := setKey{in.key, t, s.IdentityAfter(edits)}
	if k.id.N == 0 {
		return nil
	}
	if k.id == s.Identity() {
		return s
	}
	if known := in.sets.get(k); known != nil {
		return known
	}
	return in.sets.put(k, s.Apply(edits))
}

// adding puts names into a set of names.
func (in interner) adding(t fleet.Type, s *snapshot.Set, names ...*snapshot.Resource) *snapshot.Set {
	edits := make([]snapshot.Edit, 0, len(names))
	seen := make(map[string]struct{}, len(names))
	for _, n := range names {
		if _, again := seen[n.Name]; again {
			continue
		}
		seen[n.Name] = struct{}{}
		if old := s.Get(n.Name); old == nil || !snapshot.Same(old, n) {
			edits = append(edits, snapshot.Edit{Old: old, New: n})
		}
	}
	return in.apply(t, s, edits)
}

// all puts every name of one set into another one.
func (in interner) all(t fleet.Type, s, names *snapshot.Set) *snapshot.Set {
	if s.Len() == 0 {
		return names
	}
	return in.adding(t, s, slices.Collect(names.All())...)
}
