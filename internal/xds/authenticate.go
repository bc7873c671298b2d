package xds

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/fleet"
)

type identityKey struct{}

func identityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// open are the methods that need no credential: a load balancer asks for them. Whatever
// else is registered is refused without one.
var open = map[string]bool{
	"/grpc.health.v1.Health/Check": true,
	"/grpc.health.v1.Health/Watch": true,
}

// identify finds whom a call speaks for.
func (s *Server) identify(ctx context.Context) (Identity, error) {
	if s.cfg.Anonymous != nil {
		return *s.cfg.Anonymous, nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get("authorization")
	switch len(values) {
	case 0:
		return Identity{}, fmt.Errorf("no credential: send a node token as \"authorization: Bearer ...\" (gRPC clients send call_creds only with GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS=true): %w", fleet.ErrUnauthenticated)
	case 1:
	default:
		return Identity{}, fmt.Errorf("more than one authorization value: send one: %w", fleet.ErrUnauthenticated)
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return Identity{}, fmt.Errorf("the authorization value is not \"Bearer <node token>\": %w", fleet.ErrUnauthenticated)
	}
	return s.cfg.Authenticator.Authenticate(ctx, token)
}

func (s *Server) authenticateStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if open[info.FullMethod] {
		return next(srv, ss)
	}
	id, err := s.identify(ss.Context())
	if err != nil {
		s.log.Info("stream refused", "method", info.FullMethod, "remote", remote(ss.Context()), "reason", err)
		return statusOf(err)
	}
	return next(srv, &identified{ServerStream: ss, ctx: context.WithValue(ss.Context(), identityKey{}, id)})
}

func (s *Server) authenticateUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if open[info.FullMethod] {
		return next(ctx, req)
	}
	id, err := s.identify(ctx)
	if err != nil {
		s.log.Info("call refused", "method", info.FullMethod, "remote", remote(ctx), "reason", err)
		return nil, statusOf(err)
	}
	return next(context.WithValue(ctx, identityKey{}, id), req)
}

// identified is a stream whose context knows whom it speaks for.
type identified struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // grpc's own way to hand a context to a handler
}

func (s *identified) Context() context.Context { return s.ctx }
