package snapshot

import (
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// frames are a resource's bytes on the wire. The body is encoded once; what stands before
// it is a small head, of which there is one for each way to send it.
type frames struct {
	any      []byte // the encoded google.protobuf.Any
	sotw     []byte // head in a DiscoveryResponse
	delta    []byte // head in a DeltaDiscoveryResponse
	expires  *expiring
	harmless atomic.Bool              // the body is known to hold no secret
	name     atomic.Pointer[Resource] // see NameOnly; all else never changes
}

// expiring are the ways to send a resource that has a TTL.
type expiring struct {
	sotw  []byte // head in a DiscoveryResponse, of a Resource that wraps the body
	delta []byte // head in a DeltaDiscoveryResponse
	beat  []byte // the whole heartbeat: name, version and TTL, no body
}

// Field numbers of discovery.proto.
const (
	fieldResources = 2 // DiscoveryResponse.resources, DeltaDiscoveryResponse.resources

	fieldResourceVersion = 1 // Resource.version
	fieldResourceAny     = 2 // Resource.resource
	fieldResourceName    = 3 // Resource.name
	fieldResourceAliases = 4 // Resource.aliases
	fieldResourceTTL     = 6 // Resource.ttl

	fieldAnyURL   = 1
	fieldAnyValue = 2
)

const wrapperURL = fleet.URLPrefix + "envoy.service.discovery.v3.Resource"

func (r *Resource) encode(t fleet.Type, value []byte) {
	url := t.URL()
	any := make([]byte, 0, len(url)+len(value)+16)
	any = appendText(any, fieldAnyURL, url)
	any = protowire.AppendTag(any, fieldAnyValue, protowire.BytesType)
	any = protowire.AppendBytes(any, value)

	f := &frames{any: any}
	f.sotw = protowire.AppendTag(nil, fieldResources, protowire.BytesType)
	f.sotw = protowire.AppendVarint(f.sotw, uint64(len(any)))
	f.delta = element(r.wrapper(0, nil), len(any), true)
	if r.TTL > 0 {
		f.expires = &expiring{
			sotw:  wrapped(r.wrapper(r.TTL, nil), len(any)),
			delta: element(r.wrapper(r.TTL, nil), len(any), true),
			beat:  element(r.wrapper(r.TTL, nil), 0, false),
		}
	}
	r.frames = f
}

// wrapper is a discovery.v3.Resource without its body.
func (r *Resource) wrapper(ttl time.Duration, aliases []string) []byte {
	b := appendText(nil, fieldResourceVersion, r.Version)
	b = appendText(b, fieldResourceName, r.Name)
	for _, a := range aliases {
		b = appendText(b, fieldResourceAliases, a)
	}
	if ttl > 0 {
		b = protowire.AppendTag(b, fieldResourceTTL, protowire.BytesType)
		b = protowire.AppendBytes(b, appendDuration(nil, ttl))
	}
	return b
}

// element makes of a wrapper the head of an element of DeltaDiscoveryResponse.resources.
// The body stands last, so that all before it is one piece.
func element(wrapper []byte, body int, hasBody bool) []byte {
	if hasBody {
		wrapper = protowire.AppendTag(wrapper, fieldResourceAny, protowire.BytesType)
		wrapper = protowire.AppendVarint(wrapper, uint64(body))
	}
	b := protowire.AppendTag(nil, fieldResources, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(wrapper)+body))
	return append(b, wrapper...)
}

// wrapped makes of a wrapper the head of an element of DiscoveryResponse.resources: an
// Any that holds the wrapper, which holds the body.
func wrapped(wrapper []byte, body int) []byte {
	wrapper = protowire.AppendTag(wrapper, fieldResourceAny, protowire.BytesType)
	wrapper = protowire.AppendVarint(wrapper, uint64(body))
	any := appendText(nil, fieldAnyURL, wrapperURL)
	any = protowire.AppendTag(any, fieldAnyValue, protowire.BytesType)
	any = protowire.AppendVarint(any, uint64(len(wrapper)+body))
	b := protowire.AppendTag(nil, fieldResources, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(any)+len(wrapper)+body))
	return append(append(b, any...), wrapper...)
}

func appendText(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// appendDuration encodes a google.protobuf.Duration.
func appendDuration(b []byte, d time.Duration) []byte {
	if s := d / time.Second; s > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), uint64(s))
	}
	if n := d % time.Second; n > 0 {
		b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), uint64(n))
	}
	return b
}

// SotW returns the resource as an element of DiscoveryResponse.resources: head, then
// body. Both are shared: they must not be written to. With ttl it is wrapped in a
// discovery.v3.Resource that carries the TTL, if it has one.
func (r *Resource) SotW(ttl bool) (head, body []byte) {
	if ttl && r.frames.expires != nil {
		return r.frames.expires.sotw, r.frames.any
	}
	return r.frames.sotw, r.frames.any
}

// Delta returns the resource as an element of DeltaDiscoveryResponse.resources, with its
// TTL if ttl. The aliases are the other names by which the client asked for it.
func (r *Resource) Delta(ttl bool, aliases []string) (head, body []byte) {
	f := r.frames
	switch {
	case len(aliases) > 0:
		d := time.Duration(0)
		if ttl {
			d = r.TTL
		}
		return element(r.wrapper(d, aliases), len(f.any), true), f.any
	case ttl && f.expires != nil:
		return f.expires.delta, f.any
	}
	return f.delta, f.any
}

// Heartbeat returns the element of DeltaDiscoveryResponse.resources that renews the TTL:
// "the resource name, version and TTL, and no body". The resource has a TTL.
func (r *Resource) Heartbeat() []byte { return r.frames.expires.beat }

// Nonexistent is the element of DeltaDiscoveryResponse.resources that answers an
// on-demand request for a virtual host that does not exist: without the alias Envoy
// refuses it, and its client's request hangs (PROTOCOL rule 8).
func Nonexistent(name string) []byte {
	b := appendText(nil, fieldResourceName, name)
	return element(appendText(b, fieldResourceAliases, name), 0, false)
}

// Takes is the number of bytes that the resource takes in a response, aliases apart.
func (r *Resource) Takes(delta, ttl bool) int {
	if r == nil || r.frames == nil {
		return 0
	}
	head, body := r.SotW(ttl)
	if delta {
		head, body = r.Delta(ttl, nil)
	}
	return len(head) + len(body)
}

// Shares reports whether both keep the same bytes in memory.
func (r *Resource) Shares(o *Resource) bool { return o != nil && r.frames == o.frames }

// Size is the number of bytes that the resource takes in a response, at most, aliases apart.
func (r *Resource) Size() int {
	if r.frames == nil {
		return 0
	}
	n := len(r.frames.delta) + len(r.frames.any)
	if e := r.frames.expires; e != nil {
		n += len(e.sotw)
	}
	return n
}
