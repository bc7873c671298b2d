package xdstest

import (
	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Option sets what is derived from a resource.
type Option func(*fleet.Row)

// Resource returns a resource whose body is the text "name@version": the engine never
// looks into bodies.
func Resource(t fleet.Type, name, version string, opts ...Option) *snapshot.Resource {
	row := fleet.Row{Type: t, Name: name, Version: version}
	for _, o := range opts {
		o(&row)
	}
	return snapshot.NewResource(t, row, []byte(named(name, version)))
}

// Naming makes the resource name clusters.
func Naming(clusters ...string) Option {
	return func(r *fleet.Row) {
		for _, c := range clusters {
			r.Derived.Refs = append(r.Derived.Refs, fleet.Ref{Type: fleet.Cluster, Name: c})
		}
	}
}

// EDS makes a cluster get its endpoints over ADS under its own name.
func EDS(r *fleet.Row) { r.Derived.EDSName = r.Name }
