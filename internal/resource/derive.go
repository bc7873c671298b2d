package resource

import (
	"cmp"
	"slices"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// Derive reads references and the like out of a stored body. Compile does the same;
// this is for bodies that were derived by an older version. The error is ErrInvalid.
func Derive(t fleet.Type, value []byte) (fleet.Derived, error) {
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return fleet.Derived{}, fail(nil, codeValue, "the stored bytes are not a %s", t.Message())
	}
	var d deriver
	if err := walk(m, nil, nil, true, d.visit); err != nil {
		return fleet.Derived{}, err
	}
	return d.derived(m), nil
}

// deriver collects references on a walk.
type deriver struct {
	report
	found  []mention
	eds    string
	scopes bool
	// apart: scopes and virtual hosts that are asked for on streams or by polls of their own count too. Nothing is ordered by that: no
	// server knows which of them a proxy is at.
	apart bool
}

// ours reports whether a source leads to this control plane.
func (d *deriver) ours(s *core.ConfigSource) bool {
	return fromUs(s) || d.apart && fromOwnCluster(s.GetApiConfigSource())
}

// fromOwnCluster reports whether all that is asked is a cluster that Fairlead puts into a bootstrap.
func fromOwnCluster(s *core.ApiConfigSource) bool {
	names := slices.Clone(s.GetClusterNames())
	for _, g := range s.GetGrpcServices() {
		names = append(names, g.GetEnvoyGrpc().GetClusterName())
	}
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !IsOwn(name) })
}

// mention is one place where a resource is named.
type mention struct {
	fleet.Ref
	field protoreflect.FullName
	at    *path
	apart bool // it is asked for on a stream or by polls of its own
}

func (d *deriver) visit(m protoreflect.Message, n *node, at *path, _ bool) {
	d.message(m, place{n, at})
}

// message takes the references that stand in m itself.
func (d *deriver) message(m protoreflect.Message, p place) {
	switch v := m.Interface().(type) {
	case *cluster.Cluster:
		d.cluster(v, p)
	case *hcm.ScopedRds:
		d.scopes = d.scopes || d.ours(v.GetScopedRdsConfigSource())
	}
	md := m.Descriptor()
	if warnUnchecked[md.FullName()] {
		walkTyped(m, p, d.typed, d.visit)
		return
	}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		d.sources(m, fd, p)
		if !holdsNames(fd) || !m.Has(fd) {
			continue
		}
		ref, ok := referrers[fd.FullName()]
		if !ok {
			continue
		}
		apart := false
		if ref.source != "" {
			var served bool
			if served, apart = servedBy(sourceOf(m, ref.source)); !served {
				continue
			}
		}
		at := p.to(m, fd.Name())
		switch v := m.Get(fd); {
		case fd.IsList():
			for j := range v.List().Len() {
				d.add(ref.to, v.List().Get(j).String(), fd.FullName(), at.item(j), apart)
			}
		case fd.IsMap():
			for _, k := range sortedKeys(v.Map()) {
				d.add(ref.to, k.String(), fd.FullName(), place{at.n.get(k.String()), at.at.member(k.String())}, apart)
			}
		default:
			d.add(ref.to, v.String(), fd.FullName(), at, apart)
		}
	}
}

// holdsNames reports whether a field is of texts; a map may have names as its keys.
func holdsNames(fd protoreflect.FieldDescriptor) bool {
	if fd.IsMap() {
		return fd.MapKey().Kind() == protoreflect.StringKind
	}
	return fd.Kind() == protoreflect.StringKind
}

// walkTyped visits what a TypedStruct holds, as Envoy reads it; nothing, if that cannot be
// known. What of it cannot be read is refused elsewhere. Without the JSON of the document
// the fields are called as they stand in the TypedStruct.
func walkTyped(m protoreflect.Message, p place, of typedStructs, f visit) {
	typed, _ := of.of(m)
	if typed == nil {
		return
	}
	in := p.to(m, "value")
	if in.n == nil {
		text, err := protojson.Marshal(m.Get(m.Descriptor().Fields().ByName("value")).Message().Interface())
		if err == nil {
			in.n, _ = scanStored(text) //nolint:errcheck // then they are called as in the proto files
		}
	}
	_ = walk(typed, in.n, in.at, true, f)
}

// cluster takes the name under which Envoy asks for the cluster's endpoints: its own
// name, unless service_name says another.
func (d *deriver) cluster(c *cluster.Cluster, p place) {
	eds := c.GetEdsClusterConfig()
	source := eds.GetEdsConfig()
	served, apart := servedBy(source)
	if c.GetClusterType() != nil || c.GetType() != cluster.Cluster_EDS || !served && source.GetApiConfigSource() == nil {
		return
	}
	at := p.to(c.ProtoReflect(), "name")
	d.eds = c.GetName()
	if s := eds.GetServiceName(); s != "" {
		d.eds, at = s, p.to(c.ProtoReflect(), "eds_cluster_config", "service_name")
	}
	if served { // another source may be this server's service of endpoints, or somebody else's
		d.add(fleet.Endpoint, d.eds, "envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name", at, apart)
	}
}

// add takes one reference. What cannot be the name of a resource can never be served,
// and would not fit into the database: that is told, but for what is asked for apart.
func (d *deriver) add(t fleet.Type, name string, field protoreflect.FullName, p place, apart bool) {
	switch {
	case name == "":
	case apart && (len(name) > MaxName || strings.ContainsRune(name, 0)):
	case len(name) > MaxName:
		d.report.add(p.at, codeLimit, "this names a resource: names are at most %d bytes", MaxName)
	case strings.ContainsRune(name, 0):
		d.report.add(p.at, codeValue, "this names a resource: names hold no character NUL")
	default:
		d.found = append(d.found, mention{fleet.Ref{Type: t, Name: name}, field, p.at, apart})
	}
}

// derived returns what was found in the resource m.
func (d *deriver) derived(m protoreflect.Message) fleet.Derived {
	var refs, polled []fleet.Ref
	for _, f := range d.found {
		if f.apart {
			polled = append(polled, f.Ref)
		} else {
			refs = append(refs, f.Ref)
		}
	}
	out := fleet.Derived{Refs: eachOnce(refs), Polled: eachOnce(polled), EDSName: d.eds, Scopes: d.scopes}
	switch v := m.Interface().(type) {
	case *cluster.Cluster:
		out.Slow = warmsSlowly(v)
	case *route.RouteConfiguration:
		out.VHDS = fromUs(v.GetVhds().GetConfigSource())
	case *route.VirtualHost:
		out.Domains = v.GetDomains()
	}
	return out
}

func eachOnce(refs []fleet.Ref) []fleet.Ref {
	slices.SortFunc(refs, func(a, b fleet.Ref) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name))
	})
	return slices.Compact(refs)
}

// warmsSlowly reports whether a cluster waits for others than the control plane before it
// is warm: for DNS, for its endpoints' health, or for what an extension does.
func warmsSlowly(c *cluster.Cluster) bool {
	t := c.GetType()
	return c.GetClusterType() != nil || len(c.GetHealthChecks()) > 0 || t == cluster.Cluster_STRICT_DNS || t == cluster.Cluster_LOGICAL_DNS
}

// sourceOf is where the resource that m names comes from; nil: nothing is said.
func sourceOf(m protoreflect.Message, field protoreflect.Name) *core.ConfigSource {
	fd := m.Descriptor().Fields().ByName(field)
	if !m.Has(fd) {
		return nil
	}
	switch s := m.Get(fd).Message().Interface().(type) {
	case *core.ConfigSource:
		return s
	case *core.ExtensionConfigSource:
		return s.GetConfigSource()
	}
	return nil
}

// servedBy reports whether a source leads to this control plane; apart: on a stream, or by polls, of its own.
func servedBy(s *core.ConfigSource) (served, apart bool) {
	apart = fromOwnCluster(s.GetApiConfigSource())
	return apart || fromUs(s), apart
}

// fromUs: only ads and self lead back to the stream that carries the resource.
func fromUs(s *core.ConfigSource) bool { return s.GetAds() != nil || s.GetSelf() != nil }
