package xds

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// statusOf turns an error into what the client is told. Envoy logs the text, and shows
// UNAUTHENTICATED and PERMISSION_DENIED at once but UNAVAILABLE only after half a
// minute: so they are for refusals, and UNAVAILABLE for "not now". ctx is the call's: where it has ended, its client has given up.
func statusOf(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	for _, k := range []struct {
		kind error
		code codes.Code
	}{
		{fleet.ErrUnauthenticated, codes.Unauthenticated},
		{fleet.ErrForbidden, codes.PermissionDenied},
		{fleet.ErrNotFound, codes.PermissionDenied},
		{fleet.ErrInvalid, codes.InvalidArgument},
		{fleet.ErrLimit, codes.ResourceExhausted},
		{fleet.ErrUnavailable, codes.Unavailable},
	} {
		if errors.Is(err, k.kind) {
			return status.Error(k.code, fleet.Sentence(err))
		}
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, "internal error: see the server's log")
}

// tooLarge is of a request that would be refused however often it came. It is a fleet.ErrLimit.
type tooLarge struct{ words string }

func tooLargef(format string, args ...any) error { return &tooLarge{fmt.Sprintf(format, args...)} }

func (e *tooLarge) Error() string { return e.words + ": " + fleet.ErrLimit.Error() }

// Unwrap returns fleet.ErrLimit.
func (*tooLarge) Unwrap() error { return fleet.ErrLimit }

// reasons are the statuses that calls are refused with. All others are errors of ours.
var reasons = map[codes.Code]metrics.Reason{
	codes.Unauthenticated: metrics.Unauthenticated, codes.PermissionDenied: metrics.PermissionDenied, codes.InvalidArgument: metrics.InvalidArgument,
	codes.ResourceExhausted: metrics.ResourceExhausted, codes.Unavailable: metrics.Unavailable, codes.DeadlineExceeded: metrics.DeadlineExceeded,
	codes.Unimplemented: metrics.Unimplemented,
}

// countRefused counts a call that ends with an error, and not because its client has gone.
func (s *Server) countRefused(ctx context.Context, err error) {
	code := status.Code(err)
	if code == codes.OK || code == codes.Canceled || ctx.Err() != nil {
		return
	}
	reason, ok := reasons[code]
	if !ok {
		reason = metrics.Internal
	}
	s.cfg.Metrics.Refused(reason)
}
