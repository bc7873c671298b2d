package snapshot

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// Resource is one resource as it goes over the wire. It is immutable and encoded
// once: a response is a list of Resources' bytes and a few bytes of its own.
type Resource struct {
	Name    string
	Version string
	// Revision is the one that brought this version into the fleet.
	Revision fleet.Revision
	TTL      time.Duration // 0: none
	EDSName  string        // of a cluster that gets its endpoints over ADS
	VHDS     bool          // of a route that fetches virtual hosts on demand
	Refs     []fleet.Ref   // what it names; sorted

	key   Sum    // of name and version
	any   []byte // the encoded google.protobuf.Any
	sotw  []byte // what stands before any in a DiscoveryResponse
	delta []byte // what stands before any in a DeltaDiscoveryResponse

	// doubt: the client refused a response that carried this name, so that it may hold
	// the old version, the new one or none. had: it holds one of the two for sure. last:
	// the last one that it confirmed.
	doubt, had bool
	last       *Resource
}

// Field numbers of discovery.proto.
const (
	fieldResources = 2 // DiscoveryResponse.resources, DeltaDiscoveryResponse.resources

	fieldResourceVersion = 1 // Resource.version
	fieldResourceAny     = 2 // Resource.resource
	fieldResourceName    = 3 // Resource.name

	fieldAnyURL   = 1
	fieldAnyValue = 2
)

// NewResource encodes a row of type t. value holds the bytes of the Any's value: the
// row's body, of a Secret opened.
func NewResource(t fleet.Type, row fleet.Row, value []byte) *Resource {
	r := &Resource{
		Name:     row.Name,
		Version:  row.Version,
		Revision: row.Revision,
		TTL:      row.TTL,
		EDSName:  row.Derived.EDSName,
		VHDS:     row.Derived.VHDS,
		Refs:     row.Derived.Refs,
		key:      keyOf(row.Name, row.Version),
	}
	r.encode(t, value)
	return r
}

// EmptyEndpoint is the ClusterLoadAssignment without endpoints that stands in for one
// that nobody wrote: state of the world has no other way to say "there is none", and
// the cluster would warm for 15 s (PROTOCOL rule 5).
func EmptyEndpoint(name string) *Resource {
	value := protowire.AppendTag(nil, 1, protowire.BytesType) // ClusterLoadAssignment.cluster_name
	value = protowire.AppendString(value, name)
	h := sha256.Sum256(value)
	r := &Resource{Name: name, Version: base64.RawURLEncoding.EncodeToString(h[:15])}
	r.key = keyOf(r.Name, r.Version)
	r.encode(fleet.Endpoint, value)
	return r
}

func (r *Resource) encode(t fleet.Type, value []byte) {
	url := t.URL()
	r.any = make([]byte, 0, len(url)+len(value)+16)
	r.any = protowire.AppendTag(r.any, fieldAnyURL, protowire.BytesType)
	r.any = protowire.AppendString(r.any, url)
	r.any = protowire.AppendTag(r.any, fieldAnyValue, protowire.BytesType)
	r.any = protowire.AppendBytes(r.any, value)

	r.sotw = protowire.AppendTag(nil, fieldResources, protowire.BytesType)
	r.sotw = protowire.AppendVarint(r.sotw, uint64(len(r.any)))

	// The body stands last, so that all before it is one small head.
	inner := protowire.AppendTag(nil, fieldResourceVersion, protowire.BytesType)
	inner = protowire.AppendString(inner, r.Version)
	inner = protowire.AppendTag(inner, fieldResourceName, protowire.BytesType)
	inner = protowire.AppendString(inner, r.Name)
	inner = protowire.AppendTag(inner, fieldResourceAny, protowire.BytesType)
	inner = protowire.AppendVarint(inner, uint64(len(r.any)))
	r.delta = protowire.AppendTag(nil, fieldResources, protowire.BytesType)
	r.delta = protowire.AppendVarint(r.delta, uint64(len(inner)+len(r.any)))
	r.delta = append(r.delta, inner...)
}

// SotW returns the resource as an element of DiscoveryResponse.resources: head, then
// body. Both are shared: they must not be written to.
func (r *Resource) SotW() (head, body []byte) { return r.sotw, r.any }

// Delta returns the resource as an element of DeltaDiscoveryResponse.resources.
func (r *Resource) Delta() (head, body []byte) { return r.delta, r.any }

// Size is the number of bytes that the resource takes in a response of either kind, at most.
func (r *Resource) Size() int { return len(r.delta) + len(r.any) }

// Names reports whether the resource names the given one.
func (r *Resource) Names(ref fleet.Ref) bool {
	for _, x := range r.Refs {
		if x == ref {
			return true
		}
	}
	return false
}

// reported: the client said that it holds this version, which the fleet does not have.
// Nothing else is known of it.
func (r *Resource) reported() bool { return r.any == nil && !r.doubt }

// lastGood is the resource itself or, if the client may not hold it, the last one that
// it confirmed. One that was only reported by the client has no bytes and does not count.
func (r *Resource) lastGood() *Resource {
	switch {
	case r == nil:
		return nil
	case r.doubt:
		return r.last
	case r.reported():
		return nil
	}
	return r
}

// Same reports whether a and b are one resource of one version, or both absent.
func Same(a, b *Resource) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.key == b.key && !a.doubt && !b.doubt
}

// Sum is a sum modulo 2^128 of the hashes of names and versions. It does not depend
// on order, and moves with one addition when one resource does (SEMANTICS 1.4).
type Sum struct{ hi, lo uint64 }

// String has a fixed width and is never empty: it is the version_info of a
// state-of-the-world response.
func (s Sum) String() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], s.hi)
	binary.BigEndian.PutUint64(b[8:], s.lo)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func keyOf(name, version string) Sum {
	b := make([]byte, 0, 16+len(name)+len(version))
	b = binary.BigEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(version)))
	b = append(b, version...)
	h := sha256.Sum256(b)
	return Sum{binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])}
}
