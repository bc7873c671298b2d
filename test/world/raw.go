package world

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// Raw is a codec of gRPC that passes a []byte on as it is.
type Raw struct{}

// Name is encoding.CodecV2's.
func (Raw) Name() string { return "raw" }

// Marshal takes a []byte.
func (Raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("raw: %T is no []byte", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal takes a *[]byte.
func (Raw) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("raw: %T is no *[]byte", v)
	}
	*p = data.Materialize()
	return nil
}
