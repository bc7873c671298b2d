package xds

import (
	"context"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// paces bound how fast a stream's requests are read. What answers a response waits for nothing: there are as many of those as were
// sent. What asks for names, or gives them up, is read faster than the rest: a proxy sends such a request for each host or server name that its own clients think of, and
// an answer that stands behind a thousand of them must not wait. How fast these are looked up is decided where it is known which of them are
// there (strays).
type paces struct {
	answers      *atomic.Int64 // that are owed
	names, other *rate.Limiter
}

// namesPace is how much faster what asks for names is read.
const namesPace = 10

func newPaces(l Limits, owed *atomic.Int64) paces {
	return paces{
		answers: owed,
		names:   rate.NewLimiter(rate.Limit(namesPace*l.Requests), namesPace*l.Burst),
		other:   rate.NewLimiter(rate.Limit(l.Requests), l.Burst),
	}
}

// wait returns when the request may be taken in. In state of the world every answer has all names.
func (p paces) wait(ctx context.Context, r *request) error {
	if r.nonce != "" {
		if p.answers.Add(-1) >= 0 {
			return nil
		}
		p.answers.Add(1)
	}
	if r.delta && r.names.N+r.dropped.N > 0 {
		return p.names.Wait(ctx) //nolint:wrapcheck // it says that the stream is over
	}
	return p.other.Wait(ctx) //nolint:wrapcheck // likewise
}

// maxListed is how many names a list of one request may hold.
const maxListed = 1 << 20

func (l Limits) listed() int { return max(l.Names, maxListed) }
