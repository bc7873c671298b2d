package xdstest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// Change is one resource that Publish puts, or takes away if Body is nil.
type Change struct {
	Type fleet.Type
	Name string
	// Body is Envoy's own message; the version that the scripts speak of is one of its
	// fields.
	Body proto.Message
	TTL  time.Duration

	row fleet.Row
}

// Put returns the change that sets a resource.
func Put(t fleet.Type, name, version string, opts ...Option) Change {
	s := spec{row: fleet.Row{Type: t, Name: name, Version: version}, version: version}
	for _, o := range opts {
		o(&s)
	}
	if _, host, ok := strings.Cut(name, "/"); ok && t == fleet.VirtualHost && s.row.Derived.Domains == nil {
		s.row.Derived.Domains = []string{host}
	}
	slices.SortFunc(s.row.Derived.Refs, func(a, b fleet.Ref) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
	if s.row.TTL > 0 { // the TTL is part of the version (SEMANTICS 1.1)
		s.row.Version += "+" + s.row.TTL.String()
	}
	return Change{Type: t, Name: name, Body: s.body(), TTL: s.row.TTL, row: s.row}
}

// Delete returns the change that takes a resource away.
func Delete(t fleet.Type, name string) Change { return Change{Type: t, Name: name} }

// resource is the change's resource as the engine knows it.
func (c Change) resource(r fleet.Revision) *snapshot.Resource {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.Body)
	if err != nil {
		panic(err) // a message of this package's own making
	}
	row := c.row
	row.Revision = r
	return snapshot.NewResource(c.Type, row, value)
}

// spec is a resource in the making.
type spec struct {
	row      fleet.Row
	version  string
	clusters []string
	eds      bool
	padding  int
}

// Option sets what a resource has besides its name and version.
type Option func(*spec)

// Naming makes the resource name clusters; a route routes to them.
func Naming(clusters ...string) Option {
	return func(s *spec) {
		s.clusters = append(s.clusters, clusters...)
		Needing(fleet.Cluster, clusters...)(s)
	}
}

// Needing makes the resource name others of a type.
func Needing(t fleet.Type, names ...string) Option {
	return func(s *spec) {
		for _, n := range names {
			s.row.Derived.Refs = append(s.row.Derived.Refs, fleet.Ref{Type: t, Name: n})
		}
	}
}

// EDS makes a cluster get its endpoints over ADS under its own name.
func EDS(s *spec) { EDSName(s.row.Name)(s) }

// EDSName makes a cluster get its endpoints over ADS under that name.
func EDSName(name string) Option {
	return func(s *spec) { s.eds, s.row.Derived.EDSName = true, name }
}

// ByName makes a cluster be delivered by its name alone.
func ByName(s *spec) { s.row.Derived.ByName = true }

// VHDS makes a route fetch its virtual hosts on demand.
func VHDS(s *spec) { s.row.Derived.VHDS = true }

// Domains are a virtual host's; without them "r/a" has the domain "a".
func Domains(domains ...string) Option {
	return func(s *spec) { s.row.Derived.Domains = domains }
}

// TTL makes the resource expire.
func TTL(d time.Duration) Option { return func(s *spec) { s.row.TTL = d } }

// Padding makes a cluster or a listener that many bytes larger.
func Padding(n int) Option { return func(s *spec) { s.padding = n } }
