package xds

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	"fairlead/internal/lifecycle"
)

// door lets a call through to its handler if it is authenticated, and makes of a panic in the handler, or in what comes
// before it, the end of that call alone (T36). It is the one interceptor, and small: a stream lasts, and
// whether it takes a stack of 8 KiB or of 16 is a matter of what stands below its loop.
func (s *Server) door(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = statusOf(ss.Context(), lifecycle.Contained(s.log, "a stream", v, "method", info.FullMethod))
		}
	}()
	c := connOf(ss.Context())
	c.begin()
	defer c.end()
	known, err := s.authenticate(ss, info.FullMethod)
	switch {
	case err != nil:
		c.arrived()
		s.countRefused(ss.Context(), err)
		return err
	case known == nil:
		return next(srv, ss)
	}
	err = next(srv, known)
	known.note(err)
	s.countRefused(ss.Context(), err)
	return err
}

// panicStatus keeps the words of a panic from the client.
func panicStatus(err error) error {
	var p *lifecycle.PanicError
	if errors.As(err, &p) {
		return statusOf(context.Background(), err)
	}
	return err
}
