package xds

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"fairlead/internal/lifecycle"
)

// containStream and containUnary make of a panic in a handler, or in what comes before it,
// the end of that call alone (T36).
func (s *Server) containStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	return panicStatus(lifecycle.Contain(s.log, "a stream", func() error { return next(srv, ss) }, "method", info.FullMethod))
}

func (s *Server) containUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (out any, err error) {
	err = lifecycle.Contain(s.log, "a call", func() error {
		out, err = next(ctx, req)
		return err
	}, "method", info.FullMethod)
	return out, panicStatus(err)
}

// panicStatus keeps the words of a panic from the client.
func panicStatus(err error) error {
	var p *lifecycle.PanicError
	if errors.As(err, &p) {
		return statusOf(err)
	}
	return err
}
