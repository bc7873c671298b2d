package resource

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
)

// Redirect has a resource subscribe elsewhere: each source in m that leads to this control plane, in whatever an Any holds too, becomes
// the one that to makes for the resource that is asked for by it. It returns these resources, each once. An error names the field; m is
// then changed in part. A source by which no one resource is asked for by name, as that of scoped routes, cannot be redirected, nor
// can one in a TypedStruct. So is a field that this build does not know: it could not be written as JSON.
func Redirect(m proto.Message, to func(fleet.Ref) *core.PathConfigSource) ([]fleet.Ref, error) {
	r := redirection{to: to, met: map[*core.ConfigSource]bool{}}
	if err := r.message(m.ProtoReflect(), nil); err != nil {
		return nil, err
	}
	slices.SortFunc(r.refs, func(a, b fleet.Ref) int { return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name)) })
	return slices.Compact(r.refs), nil
}

type redirection struct {
	to   func(fleet.Ref) *core.PathConfigSource
	met  map[*core.ConfigSource]bool // those of which it is known what they are for
	refs []fleet.Ref
}

// message redirects what stands in m. What names a resource stands beside its source or above it, so it is looked at first.
func (r *redirection) message(m protoreflect.Message, at []string) error {
	md := m.Descriptor()
	if len(m.GetUnknown()) > 0 {
		return fmt.Errorf("%s has a field that this build of fairlead does not know: take a newer one: %w", fieldPath(at), fleet.ErrInvalid)
	}
	switch v := m.Interface().(type) {
	case *anypb.Any:
		return r.any(v, at)
	case *core.ConfigSource:
		if fromUs(v) && !r.met[v] {
			return fmt.Errorf("%s subscribes by no name, or to what Envoy does not take from a file: %w", fieldPath(at), fleet.ErrInvalid)
		}
		return nil
	case *cluster.Cluster:
		r.cluster(v)
	}
	if warnUnchecked[md.FullName()] {
		return r.typed(m, at)
	}
	r.siblings(m)
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if !m.Has(fd) || fd.Message() == nil || fd.IsMap() && fd.MapValue().Message() == nil {
			continue
		}
		var err error
		at := append(at, string(fd.Name()))
		each(m.Get(fd), fd, place{}, func(v protoreflect.Value, _ place) {
			if err == nil {
				err = r.message(v.Message(), at)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// siblings redirects the sources that stand beside the names of m.
func (r *redirection) siblings(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if ref, ok := referrers[fd.FullName()]; ok && ref.source != "" && m.Has(fd) && !fd.IsList() && !fd.IsMap() {
			r.sibling(m, ref, m.Get(fd).String())
		}
	}
}

func fieldPath(at []string) string {
	if len(at) == 0 {
		return "it"
	}
	return strings.Join(at, ".")
}

func (r *redirection) any(a *anypb.Any, at []string) error {
	if a.GetTypeUrl() == "" && len(a.GetValue()) == 0 {
		return nil
	}
	inner, err := a.UnmarshalNew()
	if err != nil {
		return fmt.Errorf("%s is a %s, which this build of fairlead cannot read: %w", fieldPath(at), a.GetTypeUrl(), fleet.ErrInvalid)
	}
	before := len(r.refs)
	if err := r.message(inner.ProtoReflect(), at); err != nil || len(r.refs) == before {
		return err
	}
	a.Value, err = proto.MarshalOptions{Deterministic: true}.Marshal(inner)
	return err
}

// typed is for a message whose fields stand in a Struct: a source there cannot be redirected.
func (r *redirection) typed(m protoreflect.Message, at []string) error {
	held, _ := typedStructs(nil).of(m)
	if held == nil {
		return nil
	}
	inner := redirection{to: r.to, met: map[*core.ConfigSource]bool{}}
	if err := inner.message(held, at); err != nil {
		return err
	}
	if len(inner.refs) > 0 {
		return fmt.Errorf("%s subscribes to %s/%s from within a TypedStruct: write it as the message itself: %w", fieldPath(at), inner.refs[0].Type, inner.refs[0].Name, fleet.ErrInvalid)
	}
	return nil
}

// cluster redirects the source of its endpoints. That of load reports is none of a resource.
func (r *redirection) cluster(c *cluster.Cluster) {
	r.met[c.GetLrsServer()] = true
	eds := c.GetEdsClusterConfig()
	switch {
	case eds.GetEdsConfig() == nil:
	case c.GetClusterType() != nil || c.GetType() != cluster.Cluster_EDS:
		r.met[eds.GetEdsConfig()] = true // nobody asks
	default:
		r.source(eds.GetEdsConfig(), fleet.Ref{Type: fleet.Endpoint, Name: cmp.Or(eds.GetServiceName(), c.GetName())})
	}
}

func (r *redirection) sibling(m protoreflect.Message, ref referrer, name string) {
	fd := m.Descriptor().Fields().ByName(ref.source)
	if !m.Has(fd) {
		return
	}
	switch s := m.Get(fd).Message().Interface().(type) {
	case *core.ConfigSource:
		r.source(s, fleet.Ref{Type: ref.to, Name: name})
	case *core.ExtensionConfigSource:
		r.source(s.GetConfigSource(), fleet.Ref{Type: ref.to, Name: name})
	}
}

func (r *redirection) source(s *core.ConfigSource, ref fleet.Ref) {
	r.met[s] = true
	if s == nil || !fromUs(s) {
		return
	}
	s.ConfigSourceSpecifier = &core.ConfigSource_PathConfigSource{PathConfigSource: r.to(ref)}
	s.ResourceApiVersion = core.ApiVersion_V3
	r.refs = append(r.refs, ref)
}
