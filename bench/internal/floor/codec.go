package floor

import (
	"fmt"
	"strconv"

	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// Both response messages keep the nonce in field 5.
const nonceField protowire.Number = 5

// message is what a stream sends: the encoding of a response, shared by all streams, and a
// nonce of its own.
type message struct {
	body  mem.SliceBuffer
	nonce uint64
}

// Codec passes shared bytes through: grpc-go copies them into the connection's buffer and
// nobody else does.
type Codec struct{}

// Name implements encoding.CodecV2.
func (Codec) Name() string { return protocodec.Name }

// Marshal implements encoding.CodecV2, for a *message.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(*message)
	if !ok {
		return nil, fmt.Errorf("cannot encode %T", v)
	}
	tail := protowire.AppendTag(make([]byte, 0, 24), nonceField, protowire.BytesType)
	tail = protowire.AppendString(tail, strconv.FormatUint(m.nonce, 10))
	return mem.BufferSlice{m.body, mem.SliceBuffer(tail)}, nil
}

// Unmarshal implements encoding.CodecV2, for a *request.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*request)
	if !ok {
		return fmt.Errorf("cannot decode into %T", v)
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	return r.parse(buf.ReadOnlyData())
}
