package snapshot

import (
	"encoding/binary"
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// ID identifies content within this process. IDs of members add up to that of their set, in
// whatever order they are counted. Its hashes are keyed: nobody can choose content whose
// IDs collide.
type ID struct{ a, b uint64 }

// The seeds are drawn once per process.
var seed, seedB = maphash.MakeSeed(), maphash.MakeSeed()

func hashOf(name string) uint64 { return maphash.String(seed, name) }

// IDOf is that of some bytes: of a name, or of a name and a version as they are encoded in
// a request.
func IDOf(b []byte) ID { return ID{maphash.Bytes(seed, b), maphash.Bytes(seedB, b)} }

// With identifies what i does together with a resource, nil for none.
func (i ID) With(r *Resource) ID {
	if r == nil {
		return i
	}
	var b [32]byte
	for n, x := range [...]uint64{i.a, i.b, r.id.content.a, r.id.content.b} {
		binary.BigEndian.PutUint64(b[8*n:], x)
	}
	return IDOf(b[:])
}

func (i ID) plus(o ID) ID  { return ID{i.a + o.a, i.b + o.b} }
func (i ID) minus(o ID) ID { return ID{i.a - o.a, i.b - o.b} }

// Count is how many things were counted, and the sum of their IDs.
type Count struct {
	ID ID
	N  int
}

// Plus counts one more.
func (c Count) Plus(id ID) Count { return Count{c.ID.plus(id), c.N + 1} }

// Minus counts one less.
func (c Count) Minus(id ID) Count { return Count{c.ID.minus(id), c.N - 1} }

// And counts the things of both.
func (c Count) And(o Count) Count { return Count{c.ID.plus(o.ID), c.N + o.N} }

// identity are the IDs of a resource.
type identity struct {
	name    ID
	entry   ID // of name and version, as a request reports them
	content ID // of all that is said here of the name
}

// identify works out the IDs. kind tells apart what has one name and version.
func identify(name, version string, rev fleet.Revision, kind byte) identity {
	b := make([]byte, 0, 24+len(name)+len(version))
	b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), name)
	n := len(b) - len(name)
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), version)
	id := identity{name: IDOf(b[n : n+len(name)]), entry: IDOf(b)}
	b = binary.BigEndian.AppendUint64(append(b, kind), uint64(rev)) //nolint:gosec // any bits will do
	id.content = IDOf(b)
	return id
}

// What one name and version may stand for.
const (
	kindHeld     = 'h' // a resource with its bytes
	kindReported = 'r' // one of which nothing else is known
	kindGone     = 'g'
	kindName     = 'n' // a name alone
	kindOverdue  = 'o'
	kindSealed   = 's'
)
