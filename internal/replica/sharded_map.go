package replica

import (
	"hash/maphash"
	"iter"
	"maps"

	"fairlead/internal/fleet"
)

// shards bounds what a change of one name copies.
const shards = 64

// shardedMap is a map of names with variants that is copied in parts.
type shardedMap struct {
	count  [fleet.NumTypes]int
	shards [shards]map[fleet.Ref]*variants
	// own are the parts that nobody else sees; nil when all are shared.
	own *[shards]bool
}

var shardSeed = maphash.MakeSeed()

func shardOf(ref fleet.Ref) int { return int(maphash.String(shardSeed, ref.Name) % shards) } //nolint:gosec // below 64

func (s *shardedMap) get(ref fleet.Ref) *variants { return s.shards[shardOf(ref)][ref] }

// put is of a shardedMap that nobody else sees; nil takes the name away.
func (s *shardedMap) put(ref fleet.Ref, f *variants) {
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
		next = make(map[fleet.Ref]*variants)
		fallthrough
	default:
		if old == nil {
			s.count[ref.Type]++
		}
		next[ref] = f
	}
	s.shards[i] = next
}

// all yields every name.
func (s *shardedMap) all() iter.Seq2[fleet.Ref, *variants] {
	return func(yield func(fleet.Ref, *variants) bool) {
		for _, shard := range s.shards {
			for ref, f := range shard {
				if !yield(ref, f) {
					return
				}
			}
		}
	}
}
