package e2e

import (
	"fmt"
	"unique"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// Field numbers of the xDS messages that simulated nodes write and read.
const (
	requestNode      protowire.Number = 1
	requestType      protowire.Number = 2
	requestSubscribe protowire.Number = 3
	requestInitial   protowire.Number = 5
	requestNonce     protowire.Number = 6
	requestError     protowire.Number = 7

	responseResource protowire.Number = 2
	responseType     protowire.Number = 4
	responseNonce    protowire.Number = 5
	responseRemoved  protowire.Number = 6

	resourceVersion protowire.Number = 1
	resourceName    protowire.Number = 3
)

// handle is a name or a version: the nodes of a swarm hold the same ones.
type handle = unique.Handle[string]

// versioned is a resource that a node has, at a version.
type versioned struct{ name, version handle }

// delta is what a simulated node looks at of a delta response; the resources themselves are not decoded.
type delta struct {
	typ       fleet.Type
	nonce     string
	resources []versioned
	removed   []handle
}

// swarmCodec sends requests that are encoded already ([]byte), and reads responses (*delta).
type swarmCodec struct{}

// Name is "proto": what goes over the wire is ordinary protobuf.
func (swarmCodec) Name() string { return "proto" }

func (swarmCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (swarmCodec) Unmarshal(data mem.BufferSlice, v any) error {
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	return v.(*delta).unmarshal(buf.ReadOnlyData())
}

func (d *delta) unmarshal(b []byte) error {
	d.nonce, d.resources, d.removed = "", d.resources[:0], d.removed[:0]
	return fields(b, func(n protowire.Number, v []byte) error {
		switch n {
		case responseType:
			for _, t := range fleet.Types() {
				if t.URL() == string(v) {
					d.typ = t
				}
			}
		case responseNonce:
			d.nonce = string(v)
		case responseRemoved:
			d.removed = append(d.removed, unique.Make(string(v)))
		case responseResource:
			var r versioned
			err := fields(v, func(n protowire.Number, v []byte) error {
				switch n {
				case resourceName:
					r.name = unique.Make(string(v))
				case resourceVersion:
					r.version = unique.Make(string(v))
				}
				return nil
			})
			d.resources = append(d.resources, r)
			return err
		}
		return nil
	})
}

// fields calls do for each field of a message that has a length; others are passed by.
func fields(b []byte, do func(n protowire.Number, v []byte) error) error {
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			return fmt.Errorf("a tag: %w", protowire.ParseError(size))
		}
		b = b[size:]
		if typ != protowire.BytesType {
			if size = protowire.ConsumeFieldValue(n, typ, b); size < 0 {
				return fmt.Errorf("a field: %w", protowire.ParseError(size))
			}
			b = b[size:]
			continue
		}
		v, size := protowire.ConsumeBytes(b)
		if size < 0 {
			return fmt.Errorf("a field: %w", protowire.ParseError(size))
		}
		if err := do(n, v); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// firstRequest opens a type on a stream: with the node's id if it is the stream's first, with the
// names (none: all) and with what the node has already.
func firstRequest(node string, t fleet.Type, names []string, has []versioned) (b []byte) {
	if node != "" {
		n := appendText(nil, 1, node)      // id
		n = appendText(n, 2, "swarm")      // cluster
		n = appendText(n, 6, "envoy")      // user_agent_name
		b = appendBytes(b, requestNode, n) // everything else of a node is optional
	}
	b = appendText(b, requestType, t.URL())
	for _, name := range names {
		b = appendText(b, requestSubscribe, name)
	}
	for _, h := range has {
		e := appendText(appendText(nil, 1, h.name.Value()), 2, h.version.Value())
		b = appendBytes(b, requestInitial, e)
	}
	return b
}

// answerTo is the ACK of a response, or the NACK if there are words.
func answerTo(d *delta, words string) (b []byte) {
	b = appendText(make([]byte, 0, 128), requestType, d.typ.URL())
	b = appendText(b, requestNonce, d.nonce)
	if words != "" {
		s := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3) // INVALID_ARGUMENT
		b = appendBytes(b, requestError, appendText(s, 2, words))
	}
	return b
}

func appendText(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

func appendBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}
