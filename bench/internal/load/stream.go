package load

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/bench/internal/h2"
	"fairlead/bench/internal/xds"
)

// stream is a gRPC stream and the response that it is receiving.
type stream struct {
	client     *client
	h2         *h2.Stream
	split      splitter
	introduced bool // the node was sent
	answered   bool // by a response
	failed     error

	kind    xds.Kind
	version []byte
	nonce   []byte
	revs    []*revision // of a wildcard response in SotW
	all     setKey
	removed []string
	rekeyed bool // names of children may have changed
	epoch   uint64
}

// Data implements h2.Sink.
func (s *stream) Data(p []byte) error {
	if err := s.split.write(p, s); err != nil {
		return err
	}
	return s.failed
}

// field implements fields.
func (s *stream) field(num protowire.Number, val []byte) {
	switch num {
	case 1: // version_info, system_version_info
		s.version = append(s.version[:0], val...)
	case 2:
		s.resource(val)
	case 4:
		k, ok := xds.KindOf(val)
		if !ok {
			s.failed = fmt.Errorf("a response of type %q", val)
			return
		}
		s.kind = k
	case 5:
		s.nonce = append(s.nonce[:0], val...)
	case 6:
		if s.client.run.delta() {
			s.removed = append(s.removed, string(val))
		}
	}
}

func (s *stream) resource(val []byte) {
	c := s.client
	c.run.resources.Add(1)
	rev := c.run.catalog.revision(val, c.run.delta())
	if rev == nil {
		return
	}
	s.kind = rev.kind
	s.epoch = max(s.epoch, rev.epoch)
	if c.run.delta() || c.named(rev.kind) {
		s.put(rev)
		return
	}
	s.revs = append(s.revs, rev)
	s.all.add(rev.id)
}

// put makes rev the current revision of its resource.
func (s *stream) put(rev *revision) {
	c, t := s.client, &s.client.types[s.kind]
	if n := int(rev.name) + 1; n > len(t.revs) {
		t.revs = append(t.revs, make([]int32, n-len(t.revs))...)
	}
	old := t.revs[rev.name]
	t.revs[rev.name] = rev.id + 1
	if old == 0 {
		t.known++
		if t.sub != nil && t.sub.member[rev.name] {
			t.missing--
		}
		s.rekeyed = s.rekeyed || len(rev.children) > 0
		return
	}
	if old != rev.id+1 && !slices.Equal(c.run.catalog.revisions(s.kind)[old-1].children, rev.children) {
		s.rekeyed = true
	}
}

func (s *stream) remove(name string) {
	t := &s.client.types[s.kind]
	id := s.client.run.catalog.nameID(s.kind, name)
	if int(id) >= len(t.revs) || t.revs[id] == 0 {
		return
	}
	t.revs[id] = 0
	t.known--
	s.rekeyed = true
	if t.sub != nil && t.sub.member[id] {
		t.missing++
	}
}

// end implements fields: it applies and acknowledges the response.
func (s *stream) end() {
	c, k := s.client, s.kind
	t := &c.types[k]
	if !c.run.delta() && !c.named(k) && s.all != t.all {
		clear(t.revs)
		t.all, t.known, s.rekeyed = s.all, 0, true
		for _, rev := range s.revs {
			s.put(rev)
		}
	}
	for _, name := range s.removed {
		s.remove(name)
	}
	t.got = true
	t.version = append(t.version[:0], s.version...)
	t.nonce = append(t.nonce[:0], s.nonce...)
	c.run.messages.Add(1)
	s.answered = true
	if c.run.delta() {
		c.deltaRequest(k, appendString(nil, 6, t.nonce))
	} else {
		c.request(k)
	}
	if child := k + 1; s.rekeyed && child < c.kinds() {
		if parent, ok := child.Parent(); ok && parent == k {
			c.subscribe(child)
		}
	}
	c.learn(s.epoch)
	s.version, s.nonce, s.removed = s.version[:0], s.nonce[:0], nil
	s.revs, s.all, s.rekeyed, s.epoch = nil, setKey{}, false, 0
}
