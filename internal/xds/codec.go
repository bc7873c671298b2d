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
