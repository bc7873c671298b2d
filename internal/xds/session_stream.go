package xds

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// pollStream is the stream of a session, as grpc's would be.
type pollStream struct{ x *session }

var _ grpc.ServerStream = pollStream{}

func (s pollStream) Context() context.Context { return s.x.ctx }

// RecvMsg returns the next request that polls make.
func (s pollStream) RecvMsg(m any) error {
	r, _ := m.(*request) // a stream asks for nothing else
	select {
	case next := <-s.x.requests:
		*r = *next
		return nil
	case <-s.x.ctx.Done():
		return s.x.ctx.Err()
	}
}

// SendMsg hands a response to the polls that wait for it. Nothing of it waits for a network.
func (s pollStream) SendMsg(m any) error {
	r, _ := m.(*response)
	out := &response{of: r.of, id: r.id}
	r.Free()
	s.x.sent(out)
	return nil
}

// SetHeader does nothing, as the other two.
func (pollStream) SetHeader(metadata.MD) error { return nil }

// SendHeader does nothing.
func (pollStream) SendHeader(metadata.MD) error { return nil }

// SetTrailer does nothing.
func (pollStream) SetTrailer(metadata.MD) {}
