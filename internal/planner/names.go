package planner

import (
	"iter"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Names are resource names of a request, counted as they were read: what all streams say
// is taken apart for the first of them alone. "*" is none. Each may yield a name twice, and
// what it yields is not to be kept.
type Names struct {
	snapshot.Count
	Each iter.Seq[[]byte] // nil if there are none
}

// Versions are what a client reports to hold, alike: names, and their versions. They are
// counted as they are encoded, each in a message with the name as field 1 and the version as
// field 2.
type Versions struct {
	snapshot.Count
	Each iter.Seq2[[]byte, []byte] // nil if there are none
}

// NamesOf counts names; for those who have them as texts.
func NamesOf(names ...string) (n Names) {
	for _, s := range names {
		n.Count = n.Plus(snapshot.IDOf([]byte(s)))
	}
	n.Each = func(yield func([]byte) bool) {
		for _, s := range names {
			if !yield([]byte(s)) {
				return
			}
		}
	}
	return n
}

// VersionsOf counts versions by their names.
func VersionsOf(versions map[string]string) (v Versions) {
	for name, version := range versions {
		b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), version)
		v.Count = v.Plus(snapshot.IDOf(b))
	}
	names := slices.Sorted(maps.Keys(versions))
	v.Each = func(yield func(_, _ []byte) bool) {
		for _, name := range names {
			if !yield([]byte(name), []byte(versions[name])) {
				return
			}
		}
	}
	return v
}

// Request is what a client says of one type, delta or state of the world, but for its answer.
type Request struct {
	Type fleet.Type
	// Names are all names (state of the world) or the added ones (delta); Star: "*" is one.
	Names Names
	Star  bool
	// Adds: the client says again what it said before, and Names besides (state of the world).
	Adds bool
	// Named: the client said names, though none of them may be among Names. It does not ask for everything then.
	Named bool
	// Dropped are the names given up (delta); Unstar: "*" is one.
	Dropped Names
	Unstar  bool
	// Version is version_info of a first request (state of the world); Versions are
	// initial_resource_versions (delta).
	Version  string
	Versions Versions
}

// Says reports whether the request says anything of names.
func (r *Request) Says() bool { return r.Named || r.Names.N+r.Dropped.N > 0 || r.Star || r.Unstar }

// of finds the versions that are reported of some names. Its cost is that of what is
// reported.
func (v Versions) of(wanted map[string]string) {
	if len(wanted) == 0 || v.N == 0 {
		return
	}
	for name, version := range v.Each {
		if _, ok := wanted[string(name)]; ok {
			wanted[string(name)] = string(version)
		}
	}
}
