package xds

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
)

type identityKey struct{}

func identityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// open are the methods that need no credential: a load balancer asks for them. Whatever
// else is called is refused without one.
const open = "/grpc.health.v1.Health/"

// identify finds whom a call speaks for.
func (s *Server) identify(ctx context.Context) (Identity, error) {
	if s.cfg.Anonymous != nil {
		return *s.cfg.Anonymous, nil
	}
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
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

// recheck looks again at whom a call speaks for that has begun: its token is the same.
func (s *Server) recheck(ctx context.Context, was Identity) (Identity, error) {
	if s.cfg.Anonymous != nil {
		return was, nil
	}
	return s.cfg.Authenticator.Recheck(ctx, was)
}

// authenticate tells whom a call speaks for if its headers hold a good credential, nil if it needs none. It runs before
// anything of a body is decoded or asked for: what the client may send meanwhile is the
// stream's first window, which is freed when the call is refused. grpc's tap handle would
// see the headers earlier, but must not wait for a database, and grpc leaves the timer of
// a call's grpc-timeout behind when a tap refuses it.
func (s *Server) authenticate(ss grpc.ServerStream, method string) (*identified, error) {
	c := connOf(ss.Context())
	if c != nil {
		c.called()
	}
	if strings.HasPrefix(method, open) {
		s.slowDown(ss.Context())
		return nil, nil
	}
	id, err := s.identify(ss.Context())
	if err != nil {
		s.say(slog.LevelInfo, addressOf(ss.Context()), "call refused", slog.String("method", method), slog.Any("reason", err))
		s.slowDown(ss.Context())
		return nil, statusOf(ss.Context(), err)
	}
	relayed, err := s.admitRouted(ss.Context(), id, method)
	if err != nil {
		return nil, statusOf(ss.Context(), err) // its credential's other calls do not wait for it: they are the proxy's own
	}
	known := &identified{ServerStream: ss, ctx: context.WithValue(ss.Context(), identityKey{}, id), conn: c, id: id, relayed: relayed}
	if c != nil {
		c.admit()
		if err := c.await(ss.Context(), id.Credential); err != nil {
			return nil, statusOf(ss.Context(), err)
		}
	}
	return known, nil
}

// refuseUnary is for methods that are registered as unary by mistake: grpc decodes their
// requests before any interceptor is asked.
func refuseUnary(_ context.Context, _ any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	return nil, status.Errorf(codes.Unimplemented, "%s is not served", info.FullMethod)
}

// identified is a stream whose context knows whom it speaks for.
type identified struct {
	grpc.ServerStream
	ctx     context.Context //nolint:containedctx // grpc's own way to hand a context to a handler
	conn    *conn           // see connOf
	id      Identity
	relayed bool // see admitRouted
	refused sync.Once
}

func (s *identified) Context() context.Context { return s.ctx }

// RecvMsg looks at the error because gRPC ends a call whose message is too large by itself: its handler
// may see no more than a context that ended.
func (s *identified) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	s.note(err)
	return err //nolint:wrapcheck // it is the wrapped stream's
}

// note makes the credential's next calls wait if err is a refusal, once. Of what was routed the proxy's own calls, on the
// same connection, are not to blame.
func (s *identified) note(err error) {
	if s.conn != nil && blames(err) && !(s.relayed && status.Code(err) == codes.PermissionDenied) {
		s.refused.Do(func() { s.conn.refuse(s.id.Credential) })
	}
}

// blames reports whether a call ends with the error for what its client sent.
func blames(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.PermissionDenied, codes.ResourceExhausted:
		return true
	}
	return false
}
