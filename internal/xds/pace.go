package xds

import (
	"context"
	"sync/atomic"

	"golang.org/x/time/rate"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// paces bound how fast a stream's requests are read. What answers a response waits for nothing: there are as many of those as were
// sent. What asks for names, or gives them up, is read as fast as a proxy can write it: a proxy sends such a request for each host or server
// name that its own clients think of, and an answer that stands behind a thousand of them must not wait. How fast the names are looked up is decided
// where it is known which of them are there (strays); what bounds their reading is how many have to be looked at one by one.
type paces struct {
	protocol
	answers      *atomic.Int64 // that are owed
	names, other *rate.Limiter
	last         [fleet.NumTypes]asked
}

// asked is the last request of a type: in state of the world the next one has all names and a nonce too, whatever it is there for.
type asked struct {
	nonce string
	names snapshot.Count
}

const (
	// namesPace is how much faster what asks for names is read.
	namesPace = 100
	// namesAtOnce is how many names that are looked at count as one more request.
	namesAtOnce = 100
)

func newPaces(l Limits, p protocol, owed *atomic.Int64) *paces {
	return &paces{
		protocol: p,
		answers:  owed,
		names:    rate.NewLimiter(rate.Limit(namesPace*l.Requests), namesPace*l.Burst),
		other:    rate.NewLimiter(rate.Limit(l.Requests), l.Burst),
	}
}

// wait returns when the request may be taken in.
func (p *paces) wait(ctx context.Context, r *request) error {
	answers, asks := p.takes(r)
	if answers {
		if p.answers.Add(-1) >= 0 {
			return nil
		}
		p.answers.Add(1)
	}
	if asks {
		return p.names.WaitN(ctx, min(1+r.fresh/namesAtOnce, p.names.Burst())) //nolint:wrapcheck // it says that the stream is over
	}
	return p.other.Wait(ctx) //nolint:wrapcheck // likewise
}

// takes reports whether the request answers a response: the first one with its nonce does. asks: it says other names than the last one.
func (p *paces) takes(r *request) (answers, asks bool) {
	t, ok := fleet.TypeFromURL(r.typeURL)
	switch {
	case p.singleType:
		t = p.only
	case !ok:
		return false, false // it gets no response
	}
	last := &p.last[t]
	answers = r.nonce != "" && r.nonce != last.nonce
	asks = r.names.N+r.dropped.N > 0
	if !r.delta {
		asks = r.names.Count != last.names
	}
	last.nonce, last.names = r.nonce, r.names.Count
	return answers, asks
}

// maxListed is how many names a list of one request may hold.
const maxListed = 1 << 20

func (l Limits) listed() int { return max(l.Names, maxListed) }
