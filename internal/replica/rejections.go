package replica

import (
	"maps"

	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
)

// rejections are the versions that nodes of a client build refused, each found guilty by
// itself: named in the words, or the only one that changed (SEMANTICS 3.5). One ends with its
// version. They are part of the targets of that build's streams, so the maps are replaced and
// never changed. Whoever calls holds the owner's mu.
type rejections map[string]map[refusal.Key]struct{}

// maxRejections is how many are remembered of a fleet and a build.
const maxRejections = 1_000

// add takes in a refusal that has one culprit, and reports whether it tells anything new. What
// was presumed may be wrong, and tells others nothing.
func (rs rejections) add(build string, v snapshot.Verdict) bool {
	if len(v.Blame) != 1 || v.Presumed || len(rs[build]) >= maxRejections {
		return false
	}
	c := v.Blame[0].Refused
	k := refusal.Key{Type: v.Type, Name: c.Name, Version: c.Version}
	if _, known := rs[build][k]; known {
		return false
	}
	if len(rs) >= maxBuilds && rs[build] == nil {
		return false // they are the clients' words
	}
	next := maps.Clone(rs[build])
	if next == nil {
		next = make(map[refusal.Key]struct{}, 1)
	}
	next[k] = struct{}{}
	rs[build] = next
	return true
}

// maxBuilds is how many client builds of a fleet are told apart.
const maxBuilds = 100

// forget drops those about versions that no view has any more.
func (rs rejections) forget(vs *views) {
	for build, all := range rs {
		left := maps.Clone(all)
		maps.DeleteFunc(left, func(k refusal.Key, _ struct{}) bool { return !vs.have(k) })
		switch {
		case len(left) == 0:
			delete(rs, build)
		case len(left) < len(all):
			rs[build] = left
		}
	}
}
