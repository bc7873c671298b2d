package load

import (
	"hash/maphash"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/bench/internal/xds"
)

// catalog interns what the clients' views have in common, so that a resource
// is parsed once for all of them and costs each client four bytes. Entries are
// found by a 64 bit hash and never go away.
type catalog struct {
	seed maphash.Seed

	mu       sync.RWMutex
	contents map[uint64]*revision // by the encoded resource
	kinds    [xds.Kinds]struct {
		nameIDs map[uint64]int32
		names   []string
		revs    []*revision
		sets    map[setKey]*nameSet
	}
}

// revision is one content of a resource.
type revision struct {
	kind     xds.Kind
	id       int32 // within the kind
	name     int32
	version  string // delta only
	children []int32
	epoch    uint64 // of the marker in it
}

// nameSet is a set of resource names to subscribe to.
type nameSet struct {
	ids    []int32
	member map[int32]bool
	wire   []byte // as field 3 of either request message
}

// setKey identifies a set whatever the order it is listed in.
type setKey struct {
	sum   uint64
	count int
}

func (k *setKey) add(id int32) {
	x := (uint64(id) + 1) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	k.sum += x * 0xbf58476d1ce4e5b9
	k.count++
}

func newCatalog() *catalog {
	c := &catalog{seed: maphash.MakeSeed(), contents: make(map[uint64]*revision)}
	for k := range c.kinds {
		c.kinds[k].nameIDs = make(map[uint64]int32)
		c.kinds[k].sets = make(map[setKey]*nameSet)
	}
	return c
}

// revision returns what the resource encoded in b holds, or nil if it is of an
// unknown kind.
func (c *catalog) revision(b []byte, delta bool) *revision {
	h := maphash.Bytes(c.seed, b)
	c.mu.RLock()
	rev, ok := c.contents[h]
	c.mu.RUnlock()
	if ok {
		return rev
	}
	var r resource
	known := delta && r.parseWrapped(b) || !delta && r.parseAny(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if rev, ok := c.contents[h]; ok {
		return rev
	}
	if known {
		k := &c.kinds[r.kind]
		rev = &revision{
			kind:    r.kind,
			id:      int32(len(k.revs)),
			name:    c.intern(r.kind, r.name),
			version: string(r.version),
		}
		rev.epoch = xds.ScanMarkers(b)
		for _, name := range r.children {
			rev.children = append(rev.children, c.intern(r.kind+1, name))
		}
		k.revs = append(k.revs, rev)
	}
	c.contents[h] = rev
	return rev
}

// intern needs c.mu.
func (c *catalog) intern(kind xds.Kind, name []byte) int32 {
	k := &c.kinds[kind]
	h := maphash.Bytes(c.seed, name)
	id, ok := k.nameIDs[h]
	if !ok {
		id = int32(len(k.names))
		k.nameIDs[h] = id
		k.names = append(k.names, string(name))
	}
	return id
}

func (c *catalog) nameID(kind xds.Kind, name string) int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.intern(kind, []byte(name))
}

// revisions resolves ids of kind.
func (c *catalog) revisions(kind xds.Kind) []*revision {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds[kind].revs
}

func (c *catalog) names(kind xds.Kind) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds[kind].names
}

// set returns the set with the given key, which ids lists.
func (c *catalog) set(kind xds.Kind, key setKey, ids []int32) *nameSet {
	c.mu.RLock()
	s := c.kinds[kind].sets[key]
	c.mu.RUnlock()
	if s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.kinds[kind].sets[key]; s != nil {
		return s
	}
	s = &nameSet{member: make(map[int32]bool, len(ids))}
	for _, id := range ids {
		s.ids = append(s.ids, id)
		s.member[id] = true
		s.wire = appendString(s.wire, 3, c.kinds[kind].names[id])
	}
	c.kinds[kind].sets[key] = s
	return s
}

func appendString[S string | []byte](b []byte, num protowire.Number, s S) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(s)))
	return append(b, s...)
}
