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
	// Revision is the one that brought this version into the fleet, or a later one that may
	// have brought it to some of the nodes: of two that a node was to have one after the
	// other, the later one has the higher revision, or both have the same version.
	Revision fleet.Revision
	TTL      time.Duration // 0: none, or one that has no effect on this type
	EDSName  string        // of a cluster that gets its endpoints over gRPC
	Slow     bool          // of a cluster that resolves names or checks endpoints before it is warm
	VHDS     bool          // of a route that fetches virtual hosts on demand
	Domains  []string      // of a virtual host
	Refs     []fleet.Ref   // what it names; sorted

	key    Sum // of name and version
	frames frames

	// doubt: the client refused a response that carried this name, so that it may hold
	// the old version, the new one or none. had: it holds one of the two for sure. last:
	// the last one that it confirmed.
	doubt, had bool
	// empty: nobody wrote it. It stands for endpoints that there are not.
	empty bool
	last  *Resource
}

// NewResource encodes a row of type t. value holds the bytes of the Any's value: the
// row's body, of a Secret opened.
func NewResource(t fleet.Type, row fleet.Row, value []byte) *Resource {
	r := &Resource{
		Name:     row.Name,
		Version:  row.Version,
		Revision: row.Revision,
		EDSName:  row.Derived.EDSName,
		Slow:     row.Derived.Slow,
		VHDS:     row.Derived.VHDS,
		Domains:  row.Derived.Domains,
		Refs:     row.Derived.Refs,
		key:      keyOf(row.Name, row.Version),
	}
	if t.Expires() {
		r.TTL = row.TTL
	}
	r.encode(t, value)
	return r
}

// At returns the resource as one that a later revision brought: the same bytes, shared.
func (r *Resource) At(rev fleet.Revision) *Resource {
	later := *r
	later.Revision = rev
	return &later
}

// EmptyEndpoint is the ClusterLoadAssignment without endpoints that stands in for one
// that nobody wrote: state of the world has no other way to say "there is none", and
// the cluster would warm for 15 s (PROTOCOL rule 5).
func EmptyEndpoint(name string) *Resource {
	value := protowire.AppendTag(nil, 1, protowire.BytesType) // ClusterLoadAssignment.cluster_name
	value = protowire.AppendString(value, name)
	h := sha256.Sum256(value)
	r := &Resource{Name: name, Version: base64.RawURLEncoding.EncodeToString(h[:15]), empty: true}
	r.key = keyOf(r.Name, r.Version)
	r.encode(fleet.Endpoint, value)
	return r
}

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
func (r *Resource) reported() bool { return r.frames.any == nil && !r.doubt }

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

// settledOn reports whether the client confirmed some version of it, or surely has one.
func (r *Resource) settledOn() bool { return !r.doubt || r.last != nil || r.had }

// leftAlone reports whether the client has a version of the name whose bytes are not to be
// had: one that it only reported.
func (r *Resource) leftAlone() bool {
	return r != nil && r.lastGood() == nil && (r.reported() || r.had)
}

// versionHad is the version that the client reported, "" if it did not.
func (r *Resource) versionHad() string {
	if r == nil {
		return ""
	}
	return r.Version
}

// inDoubt stands in the place of a version that is not known.
const inDoubt = "\x00in doubt"

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
