package xds

import (
	"time"

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
	if a, ok := v.(*answer); ok {
		return a.marshal()
	}
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
	switch v := v.(type) {
	case *request:
		buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
		defer buf.Free()
		v.unmarshal(buf.ReadOnlyData())
		return nil
	case *question:
		v.err = c.question(data, v.message)
		return nil
	}
	return c.question(data, v)
}

// answer is a message that tells when grpc holds it no more: when a message was sent, for grpc,
// all of it may wait for a client that reads nothing.
type answer struct {
	message proto.Message
	gone    chan struct{} // closed when its bytes were written, or dropped
	until   time.Time     // when it must be gone
}

func (a *answer) marshal() (mem.BufferSlice, error) {
	// A smaller buffer is not given back.
	b := make([]byte, 0, max(proto.Size(a.message), 2<<10))
	b, err := proto.MarshalOptions{}.MarshalAppend(b, a.message)
	if err != nil {
		close(a.gone)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(&b, a)}, nil
}

// Get is never called.
func (*answer) Get(n int) *[]byte { b := make([]byte, n); return &b }

// Put is called when nobody has the bytes any more.
func (a *answer) Put(*[]byte) { close(a.gone) }
