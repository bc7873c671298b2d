package load

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/bench/internal/xds"
)

// first sends the first request for k on a stream, with what the client has already.
func (c *client) first(k xds.Kind) {
	t := &c.types[k]
	if !c.run.delta() {
		c.request(k)
		return
	}
	var b []byte
	if t.sub == nil {
		b = appendString(b, 3, "*")
	} else {
		b = append(b, t.sub.wire...)
	}
	revs, names := c.run.catalog.revisions(k), c.run.catalog.names(k)
	var entry []byte
	for name, id := range t.revs {
		if id > 0 {
			entry = appendString(entry[:0], 1, names[name])
			entry = appendString(entry, 2, revs[id-1].version)
			b = appendString(b, 5, entry)
		}
	}
	c.deltaRequest(k, b)
}

// request sends a SotW request for k, which is also the ACK.
func (c *client) request(k xds.Kind) {
	t := &c.types[k]
	var head, names, tail []byte
	if len(t.version) > 0 {
		head = appendString(head, 1, t.version)
	}
	head = c.introduce(head, 2)
	if t.sub != nil {
		names = t.sub.wire
	}
	tail = appendString(tail, 4, k.TypeURL())
	if len(t.nonce) > 0 {
		tail = appendString(tail, 5, t.nonce)
	}
	c.stream.h2.Send(head, names, tail)
}

// deltaRequest sends a delta request for k with the given fields 3 to 6.
func (c *client) deltaRequest(k xds.Kind, fields []byte) {
	head := c.introduce(nil, 1)
	head = appendString(head, 2, k.TypeURL())
	c.stream.h2.Send(head, fields)
}

// introduce adds the node to a stream's first request.
func (c *client) introduce(b []byte, field protowire.Number) []byte {
	if c.stream.introduced {
		return b
	}
	c.stream.introduced = true
	id := appendString(nil, 1, c.id)
	b = protowire.AppendTag(b, field, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(id)+len(c.run.node)))
	return append(append(b, id...), c.run.node...)
}

// commonNode encodes a node but for its id. A node of tens of kB is that of a real Envoy: it
// lists its extensions.
func commonNode(size int) []byte {
	b := appendString(nil, 2, "load")
	b = appendString(b, 6, "xdsbench")
	for i := 0; len(b) < size; i++ {
		e := appendString(nil, 1, fmt.Sprintf("envoy.filters.http.extension_%d", i))
		e = appendString(e, 2, "envoy.filters.http")
		e = appendString(e, 6, fmt.Sprintf("envoy.extensions.filters.http.extension_%d.v3.Extension", i))
		b = appendString(b, 9, e)
	}
	return b
}

// difference encodes the change of a delta subscription.
func (c *client) difference(k xds.Kind, old, set *nameSet) (b []byte) {
	names := c.run.catalog.names(k)
	for _, id := range set.ids {
		if !old.member[id] {
			b = appendString(b, 3, names[id])
		}
	}
	for _, id := range old.ids {
		if !set.member[id] {
			b = appendString(b, 4, names[id])
		}
	}
	return b
}
