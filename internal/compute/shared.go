package compute

import (
	"context"
	"errors"
	"sync"

	"fairlead/internal/fleet"
)

// Shared lets those who look the same thing up at the same time share one look-up, with what Flights promises: what was written before
// somebody asked is in what they are told. Of one key one look-up is made at a time; who asks meanwhile shares the next.
// What it gives is shared: nobody changes it. The zero value is ready to use. It is safe for concurrent use.
type Shared[K comparable, V any] struct {
	flights Flights[K, V]

	mu    sync.Mutex // guards begun
	begun map[K]chan struct{}
}

// Do returns what f finds. f goes on when the one who began it has gone, until the deadline that they had: others wait for it. That there is
// no such thing is told to all who share it. Any other error is told to one, and the others look again.
func (s *Shared[K, V]) Do(ctx context.Context, k K, f func(context.Context) (V, error)) (V, error) {
	for {
		led := false
		out, err := s.flights.Do(ctx, k, func(ctx context.Context, begin func()) (V, error) {
			led = true
			ctx, cancel := outlasting(ctx)
			defer cancel()
			end, err := s.enter(ctx, k)
			if err != nil {
				var none V
				return none, err
			}
			defer end()
			begin()
			return f(ctx)
		})
		if err == nil || led || ctx.Err() != nil || errors.Is(err, fleet.ErrNotFound) {
			return out, err
		}
	}
}

// Waiting is how many have asked for a look-up that has not begun.
func (s *Shared[K, V]) Waiting(k K) int { return s.flights.Waiting(k) }

// enter waits until no look-up of the key is under way, and begins one.
func (s *Shared[K, V]) enter(ctx context.Context, k K) (end func(), err error) {
	mine := make(chan struct{})
	for {
		s.mu.Lock()
		before, taken := s.begun[k]
		if !taken {
			if s.begun == nil {
				s.begun = map[K]chan struct{}{}
			}
			s.begun[k] = mine
		}
		s.mu.Unlock()
		if !taken {
			return func() { s.end(k, mine) }, nil
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // it is the caller's
		}
	}
}

func (s *Shared[K, V]) end(k K, mine chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.begun, k)
	close(mine)
}

// outlasting ends at the deadline of ctx alone.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	out := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(out, end)
	}
	return out, func() {}
}
