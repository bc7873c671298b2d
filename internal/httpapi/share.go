package httpapi

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"fairlead/internal/fleet"
)

// shareHold is for how long a request has a place at most. One that takes longer waits for a computation or for the database, which have
// shares of their own.
const shareHold = 5 * time.Millisecond

// briefly is for how long large computations pause for a request at most: by then nearly all have their answer.
const briefly = 50 * time.Millisecond

// shares bounds how many requests of one tenant are worked on at the same time: the others wait in line, so that a tenant with many clients
// leaves the processors to those that have few. It costs a timer for each request, and keeps what has one under way.
type shares struct {
	places int64         // of each tenant
	hold   time.Duration // for which a request has its place at most
	brief  time.Duration // for which large computations pause for a request at most

	mu      sync.Mutex // guards tenants, and their requests
	tenants map[fleet.TenantID]*share
}

type share struct {
	places   *semaphore.Weighted
	requests int // that have a place, had one, or wait
}

// newShares gives each tenant half of the processors.
func newShares() *shares {
	return &shares{places: int64(max(1, runtime.GOMAXPROCS(0)/2)), hold: shareHold, brief: briefly}
}

// held is a place that a request has, or had.
type held struct {
	of    *shares
	id    fleet.TenantID
	share *share
	timer *time.Timer
	yield func() // gives it to the next request, once; again it does nothing
}

// enter waits for a place, until ctx ends. Whoever has entered calls leave, once.
func (s *shares) enter(ctx context.Context, id fleet.TenantID) (*held, error) {
	of := s.begin(id)
	if err := of.places.Acquire(ctx, 1); err != nil {
		s.end(id, of)
		return nil, err //nolint:wrapcheck // it is ctx's
	}
	yield := sync.OnceFunc(func() { of.places.Release(1) })
	return &held{of: s, id: id, share: of, timer: time.AfterFunc(s.hold, yield), yield: yield}, nil
}

func (p *held) leave() {
	p.timer.Stop()
	p.yield()
	p.of.end(p.id, p.share)
}

func (s *shares) begin(id fleet.TenantID) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.tenants[id]
	if of == nil {
		of = &share{places: semaphore.NewWeighted(s.places)}
		if s.tenants == nil {
			s.tenants = map[fleet.TenantID]*share{}
		}
		s.tenants[id] = of
	}
	of.requests++
	return of
}

func (s *shares) end(id fleet.TenantID, of *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.requests--; of.requests == 0 {
		delete(s.tenants, id)
	}
}

// giveWay lets the tenant's next request in, and large computations go on: this one waits for something that takes no processor, or computes itself.
func (c *call) giveWay() {
	if c.yield != nil {
		c.yield()
	}
}

// inTurn works on a request when its tenant has a place for it. What stands in its path was looked up before, so nobody waits for that with a place. Operators share one, and what anybody may ask for waits for none.
func (a *API) inTurn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.operation(r).rule.scope == anybody {
			next.ServeHTTP(w, r)
			return
		}
		c := callOf(r.Context())
		if gathers(r, a.operation(r)) {
			if err := a.unread.await(r.Context(), c.principal); err != nil {
				fail(w, r, err)
				return
			}
		}
		place, err := a.shares.enter(r.Context(), c.principal.Tenant)
		if err != nil {
			fail(w, r, err)
			return
		}
		defer place.leave()
		over := a.computing.Brief(a.shares.brief)
		defer over()
		c.yield = func() { over(); place.yield() }
		next.ServeHTTP(a.unread.answers(w, c.principal), r)
	})
}
