package snapshot

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
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
	Scopes   bool          // of a listener that takes scoped routes
	ByName   bool          // of a cluster that only who asks for it by its name is to have; no part of the version
	Empty    bool          // nobody wrote it: it says that there is none; see Absent
	Domains  []string      // of a virtual host
	Refs     []fleet.Ref   // what it names; sorted

	key    Sum // of name and version
	id     identity
	frames *frames // nil: its bytes are not known, or there are none
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
		Scopes:   row.Derived.Scopes,
		ByName:   row.Derived.ByName,
		Domains:  row.Derived.Domains,
		Refs:     row.Derived.Refs,
		key:      KeyOf(row.Name, row.Version),
		id:       identify(row.Name, row.Version, row.Revision, kindHeld),
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
	later.id = identify(r.Name, r.Version, rev, kindHeld)
	return &later
}

// Absent is the resource that says that there is none of the name, to clients that go on with what they have
// when they are told that it was removed, or cannot be told: a ClusterLoadAssignment without endpoints, a Runtime
// without entries. Of other types it is nil. Without one state of the world has no way to say "there is none", and
// what asks for it waits for 15 s (PROTOCOL rule 5).
func Absent(t fleet.Type, name string) *Resource {
	if t != fleet.Endpoint && t != fleet.Runtime {
		return nil
	}
	value := protowire.AppendTag(nil, 1, protowire.BytesType) // ClusterLoadAssignment.cluster_name, Runtime.name
	value = protowire.AppendString(value, name)
	h := sha256.Sum256(value)
	r := &Resource{Name: name, Version: base64.RawURLEncoding.EncodeToString(h[:15]), Empty: true}
	r.key, r.id = KeyOf(r.Name, r.Version), identify(r.Name, r.Version, 0, kindHeld)
	r.encode(t, value)
	return r
}

// Reported is a version of which a client says that it holds it, and nothing else is known.
func Reported(name, version string) *Resource {
	return &Resource{Name: name, Version: version, key: KeyOf(name, version), id: identify(name, version, 0, kindReported)}
}

// Tombstone is an entry of Snapshot.Gone.
func Tombstone(name string, at fleet.Revision) *Resource {
	return &Resource{Name: name, Revision: at, key: KeyOf(name, "\x00gone"), id: identify(name, "", at, kindGone)}
}

// Sealed is an entry of Snapshot.Sealed.
func Sealed(name, version string, at fleet.Revision) *Resource {
	return &Resource{Name: name, Version: version, Revision: at, key: KeyOf(name, version), id: identify(name, version, at, kindSealed)}
}

// NameOnly is an entry of a set of names.
func NameOnly(name string) *Resource {
	return &Resource{Name: name, id: identify(name, "", 0, kindName)}
}

// Overdue is an entry of a set of names of one that has waited long enough.
func Overdue(name string) *Resource {
	return &Resource{Name: name, Slow: true, id: identify(name, "", 0, kindOverdue)}
}

// IsOverdue reports whether the entry is one of Overdue.
func (r *Resource) IsOverdue() bool { return r.Slow && r.frames == nil }

// NameOnly is the resource's name as an entry of a set of names, which all share.
func (r *Resource) NameOnly() *Resource {
	if r.frames == nil {
		return NameOnly(r.Name)
	}
	if n := r.frames.name.Load(); n != nil {
		return n
	}
	r.frames.name.CompareAndSwap(nil, NameOnly(r.Name))
	return r.frames.name.Load()
}

// NameID is that of the name alone, as a request is counted.
func (r *Resource) NameID() ID { return r.id.name }

// Names reports whether the resource names the given one.
func (r *Resource) Names(ref fleet.Ref) bool { return slices.Contains(r.Refs, ref) }

// Known reports whether the resource's bytes are known: of what a client only reported they
// are not.
func (r *Resource) Known() bool { return r.frames != nil }

// Key is the part that the resource has in a Sum.
func (r *Resource) Key() Sum { return r.key }

// Encoded is the google.protobuf.Any, nil if it is not known. It is shared and must not be
// written to.
func (r *Resource) Encoded() []byte {
	if r.frames == nil {
		return nil
	}
	return r.frames.any
}

// Harmless reports whether somebody found that the resource holds no secret: it need not be
// looked for again, on any stream.
func (r *Resource) Harmless() bool { return r.frames.harmless.Load() }

// SetHarmless notes that the resource holds no secret.
func (r *Resource) SetHarmless() { r.frames.harmless.Store(true) }

// Same reports whether a and b are one resource of one version, or both absent.
func Same(a, b *Resource) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.key == b.key && (a.key != (Sum{}) || a.id.content == b.id.content)
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

// KeyOf is the part of a name at a version in a Sum.
func KeyOf(name, version string) Sum {
	b := make([]byte, 0, 16+len(name)+len(version))
	b = binary.BigEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(version)))
	b = append(b, version...)
	h := sha256.Sum256(b)
	return Sum{binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])}
}
