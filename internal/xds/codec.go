package xds

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that everything else uses
	"google.golang.org/grpc/mem"

	"fairlead/internal/fleet"
)

// codec writes responses as bytes that all streams share and reads requests without
// decoding what is the same each time. Any other message goes to grpc's own codec. The
// experimental parts of grpc's API are used in this file alone.
type codec struct{ proto encoding.CodecV2 }

func newCodec() codec { return codec{proto: encoding.GetCodecV2("proto")} }

// Name is "proto": what goes over the wire is ordinary protobuf.
func (codec) Name() string { return "proto" }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	r, ok := v.(*response)
	if !ok {
		return c.proto.Marshal(v)
	}
	out := make(mem.BufferSlice, len(r.parts))
	for i, p := range r.parts {
		out[i] = mem.SliceBuffer(p)
	}
	return out, nil
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if q, ok := v.(*question); ok {
		q.err = c.question(data, q.message)
		return nil
	}
	r, ok := v.(*request)
	if !ok {
		return c.proto.Unmarshal(data, v)
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	if err := r.decode(buf.ReadOnlyData()); err != nil {
		return fmt.Errorf("decode the discovery request: %w", err)
	}
	return nil
}

func (c codec) question(data mem.BufferSlice, m any) error {
	if n := data.Len(); n > maxQuestion {
		return fmt.Errorf("the request has %d bytes, %d is the limit: %w", n, maxQuestion, fleet.ErrLimit)
	}
	if err := c.proto.Unmarshal(data, m); err != nil {
		return fmt.Errorf("decode the request: %w: %w", err, fleet.ErrInvalid)
	}
	return nil
}
