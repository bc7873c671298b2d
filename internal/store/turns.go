package store

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// errCrowded: so many wait for a turn that one more would hardly get it.
var errCrowded = errors.New("too many wait already")

// turns lets so many callers of each key in at a time; those who wait come in their
// order. It grows with the keys that are in use at the moment.
type turns[K comparable] struct {
	each, waiting int // how many of a key are let in, and how many more may wait

	mu sync.Mutex // guards of
	of map[K]*turn
}

type turn struct {
	places *semaphore.Weighted
	users  int // in and waiting; guarded by turns.mu
}

func newTurns[K comparable](each, waiting int) *turns[K] {
	return &turns[K]{each: each, waiting: waiting, of: map[K]*turn{}}
}

// take waits until ctx ends; whoever gets nil calls leave.
func (q *turns[K]) take(ctx context.Context, k K) (leave func(), err error) {
	t := q.join(k)
	if t == nil {
		return nil, errCrowded
	}
	if err := t.places.Acquire(ctx, 1); err != nil {
		q.part(k, t)
		return nil, err
	}
	return func() { t.places.Release(1); q.part(k, t) }, nil
}

func (q *turns[K]) join(k K) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of[k]
	if t == nil {
		t = &turn{places: semaphore.NewWeighted(int64(q.each))}
		q.of[k] = t
	}
	if t.users >= q.each+q.waiting {
		return nil
	}
	t.users++
	return t
}

func (q *turns[K]) part(k K, t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(q.of, k)
	}
}
