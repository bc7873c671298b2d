package access

import (
	"context"
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

// Shares bounds how many requests of one tenant are worked on at the same time: the others wait in line, so that a tenant with many clients
// leaves the processors to those that have few. It costs a timer for each request, and keeps what has one under way.
type Shares struct {
	Places int64         // of each tenant
	Hold   time.Duration // for which a request has its place at most
	Brief  time.Duration // for which large computations pause for a request at most

	mu      sync.Mutex // guards tenants, and their requests
	tenants map[fleet.TenantID]*share
}

type share struct {
	places   *semaphore.Weighted
	requests int // that have a place, had one, or wait
}

// NewShares gives each tenant half of the processors.
func NewShares() *Shares {
	return &Shares{Places: int64(max(1, runtime.GOMAXPROCS(0)/2)), Hold: shareHold, Brief: briefly}
}

// Place is a place that a request has, or had.
type Place struct {
	of    *Shares
	id    fleet.TenantID
	share *share
	timer *time.Timer
	Yield func() // gives it to the next request, once; again it does nothing
}

// Enter waits for a place, until ctx ends. Whoever has entered calls leave, once.
func (s *Shares) Enter(ctx context.Context, id fleet.TenantID) (*Place, error) {
	of := s.begin(id)
	if err := of.places.Acquire(ctx, 1); err != nil {
		s.end(id, of)
		return nil, err //nolint:wrapcheck // it is ctx's
	}
	yield := sync.OnceFunc(func() { of.places.Release(1) })
	return &Place{of: s, id: id, share: of, timer: time.AfterFunc(s.Hold, yield), Yield: yield}, nil
}

// Leave ends what Enter began.
func (p *Place) Leave() {
	p.timer.Stop()
	p.Yield()
	p.of.end(p.id, p.share)
}

func (s *Shares) begin(id fleet.TenantID) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.tenants[id]
	if of == nil {
		of = &share{places: semaphore.NewWeighted(s.Places)}
		if s.tenants == nil {
			s.tenants = map[fleet.TenantID]*share{}
		}
		s.tenants[id] = of
	}
	of.requests++
	return of
}

func (s *Shares) end(id fleet.TenantID, of *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.requests--; of.requests == 0 {
		delete(s.tenants, id)
	}
}

// Requests is how many of a tenant have a place, had one, or wait.
func (s *Shares) Requests(id fleet.TenantID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.tenants[id]; of != nil {
		return of.requests
	}
	return 0
}
