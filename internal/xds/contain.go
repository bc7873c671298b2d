package xds

import (
	"errors"

	"google.golang.org/grpc"

	"fairlead/internal/lifecycle"
)

// containStream makes of a panic in a handler, or in what comes before it, the end of that
// call alone (T36).
func (s *Server) containStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return panicStatus(lifecycle.Contain(s.log, "a stream", func() error { return next(srv, ss) }, "method", info.FullMethod))
}

// panicStatus keeps the words of a panic from the client.
func panicStatus(err error) error {
	var p *lifecycle.PanicError
	if errors.As(err, &p) {
		return statusOf(err)
	}
	return err
}
