package xds

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/stats"
)

type bornKey struct{}

// ages notes when a connection began: a stream's life is measured by its connection's.
type ages struct{}

// TagConn is called once for each connection; its streams' contexts come from ctx.
func (ages) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, bornKey{}, time.Now())
}

// HandleConn has nothing to do.
func (ages) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC has nothing to add.
func (ages) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC has nothing to do.
func (ages) HandleRPC(context.Context, stats.RPCStats) {}

// leaves returns when a stream has to end because of its connection's age, nil if never:
// after grpc has said GOAWAY, which takes up to a tenth longer than the age, and spread,
// so that a server's clients do not all come back at once (PROTOCOL rule 25).
func (s *Server) leaves(ctx context.Context) <-chan time.Time {
	age := s.cfg.MaxAge
	born, ok := ctx.Value(bornKey{}).(time.Time)
	if age <= 0 || !ok {
		return nil
	}
	return time.After(max(time.Until(born.Add(age+age/10)), leastLife) + spread(s.cfg.AgeGrace))
}

// leastLife is how long a stream lives that was opened on a connection which is of age
// already: one that ended without a response would count as failed, and Envoy's backoff
// would grow with each.
const leastLife = time.Second

func spread(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}
