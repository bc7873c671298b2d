package xds

import (
	"fmt"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// question is a request of a talk, which the codec decodes if it may. It
// keeps why it does not: whatever a codec returns, grpc makes an internal error of it.
type question struct {
	message any
	err     error
}

// maxQuestion is the most bytes of a question: decoded it may take forty times as much.
const maxQuestion = 64 << 10

// question decodes what is small. A matcher that says nothing takes two bytes, and a hundred
// in memory: they are counted before.
func (c codec) question(data mem.BufferSlice, m any) error {
	if r, ok := m.(*loadReport); ok {
		return r.receive(data)
	}
	if n := data.Len(); n > maxQuestion {
		return fmt.Errorf("the request has %d bytes, %d is the limit: %w", n, maxQuestion, fleet.ErrLimit)
	}
	if _, ok := m.(*statusv3.ClientStatusRequest); ok {
		buf := data.MaterializeToBuffer(messages)
		defer buf.Free()
		if err := countMatchers(buf.ReadOnlyData()); err != nil {
			return err
		}
	}
	if err := c.proto.Unmarshal(data, m); err != nil {
		return fmt.Errorf("decode the request: %w: %w", err, fleet.ErrInvalid)
	}
	return nil
}

// fieldNodeMatchers is the number of ClientStatusRequest's node_matchers.
const fieldNodeMatchers = 1

// countMatchers refuses an encoded ClientStatusRequest that has too many matchers.
func countMatchers(b []byte) error {
	n := 0
	err := eachBytes(b, func(num protowire.Number, _ []byte) error {
		if num == fieldNodeMatchers {
			n++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("decode the request: %w: %w", err, fleet.ErrInvalid)
	}
	if n > maxMatchers {
		return tooManyMatchers(n)
	}
	return nil
}
