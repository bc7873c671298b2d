package xds

import (
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that everything else uses
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// codec writes responses as bytes that all streams share and reads requests without
// decoding what is the same each time. Any other message goes to grpc's own codec, if it is
// small. The experimental parts of grpc's API are used in this file alone.
type codec struct{ proto encoding.CodecV2 }

func newCodec() codec { return codec{proto: encoding.GetCodecV2("proto")} }

// Name is "proto": what goes over the wire is ordinary protobuf.
func (codec) Name() string { return "proto" }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case *response:
		return mem.BufferSlice{mem.SliceBuffer(v.shared), &v.handed}, nil
	case *answer:
		b, err := proto.Marshal(v.message)
		v.SliceBuffer = b
		return mem.BufferSlice{&v.handed}, err //nolint:wrapcheck // grpc wraps it
	}
	return c.proto.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *request:
		v.receive(data)
		return nil
	case *question:
		v.err = c.question(data, v.message)
		return nil
	}
	return c.question(data, v)
}

// messages has buffers of powers of two for requests that are decoded and let go. A buffer is cleared when it is taken: grpc's own pool has
// 1 MiB for each message of more than 32 KiB, which takes longer than to decode it.
var messages = newMessages()

func newMessages() mem.BufferPool {
	pool, err := mem.NewBinaryTieredBufferPool(12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)
	if err != nil {
		panic(err) // the exponents are good
	}
	return pool
}
