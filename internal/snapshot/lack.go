package snapshot

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// Lack is a cluster that a version names and that its client was not given, with the version that the view had of it and that was
// kept back; "" is none.
type Lack struct {
	Name, Version string
}

// maxLacked is how many are remembered of one version.
const maxLacked = 100

// Lacked returns the clusters that a resource names and that are not in the target, as far as they are remembered: an Envoy refuses some of what
// names one. Those of the bootstrap are there.
func (t *Target) Lacked(r *Resource) (all []Lack) {
	for _, ref := range r.Refs {
		if ref.Type != fleet.Cluster || strings.HasPrefix(ref.Name, fleet.BootstrapPrefix) || t.Has(ref) || len(all) == maxLacked {
			continue
		}
		l := Lack{Name: ref.Name}
		if kept := t.View[fleet.Cluster].Get(ref.Name); kept != nil {
			l.Version = kept.Version
		}
		all = append(all, l)
	}
	return all
}

// AnyCame reports whether a view has a version, of one of them, that it had not then.
func AnyCame(all []Lack, view [fleet.NumTypes]*Set) bool {
	return slices.ContainsFunc(all, func(l Lack) bool {
		now := view[fleet.Cluster].Get(l.Name)
		return now != nil && now.Version != l.Version
	})
}
