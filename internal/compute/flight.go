package compute

import (
	"context"
	"sync"
)

// Flights lets those who ask for the same thing at the same time share one computation. Who asks after one has begun
// waits for the next one: what was written before somebody asked is always in what they are told. It is safe for concurrent use.
type Flights[K comparable, V any] struct {
	mu      sync.Mutex // guards waiting, and who waits for what is in it
	waiting map[K]*flight[V]
}

// flight is one computation; out and err are there when done is closed.
type flight[V any] struct {
	done chan struct{}
	out  V
	err  error
	over bool // its leader went away: nothing was computed
	who  int  // wait for it, with its leader
}

// Do returns what f computes. f calls begin when it has its turn: until then others may join. Nobody else is told that the one whose f it is has gone away.
func (s *Flights[K, V]) Do(ctx context.Context, k K, f func(ctx context.Context, begin func()) (V, error)) (V, error) {
	for {
		s.mu.Lock()
		if s.waiting == nil {
			s.waiting = map[K]*flight[V]{}
		}
		fl, joined := s.waiting[k]
		if !joined {
			fl = &flight[V]{done: make(chan struct{})}
			s.waiting[k] = fl
		}
		fl.who++
		s.mu.Unlock()
		if !joined {
			return s.lead(ctx, k, fl, f)
		}
		select {
		case <-fl.done:
			if !fl.over {
				return fl.out, fl.err
			}
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

func (s *Flights[K, V]) lead(ctx context.Context, k K, fl *flight[V], f func(context.Context, func()) (V, error)) (V, error) {
	begin := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiting[k] == fl {
			delete(s.waiting, k)
		}
	}
	fl.over = true // also where f panics
	defer func() { begin(); close(fl.done) }()
	out, err := f(ctx, begin)
	fl.out, fl.err, fl.over = out, err, err != nil && ctx.Err() != nil
	return out, err
}

// Waiting is how many have asked for a computation that has not begun.
func (s *Flights[K, V]) Waiting(k K) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fl := s.waiting[k]; fl != nil {
		return fl.who
	}
	return 0
}
