package xds

import (
	"context"
	"math/rand/v2"
	"time"
)

// leaves returns when a stream has to end because of its connection's age, zero if never:
// after grpc has said GOAWAY, which takes up to a tenth longer than the age, and spread,
// so that a server's clients do not all come back at once (PROTOCOL rule 25).
func (s *Server) leaves(ctx context.Context) time.Time {
	age := s.cfg.MaxAge
	c := connOf(ctx)
	if age <= 0 || c == nil {
		return time.Time{}
	}
	return time.Now().Add(max(time.Until(c.born.Add(age+age/10)), leastLife) + spread(s.cfg.AgeGrace))
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
