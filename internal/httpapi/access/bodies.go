package access

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"fairlead/internal/fleet"
)

const (
	// freeBody is how long a body is that is read without asking for room.
	freeBody = 16 << 10
	// mostBodies is how many bytes of bodies a process holds, from before they are read until their requests are answered. Those of one tenant have an
	// eighth: who sends slowly has it for long.
	mostBodies = 256 << 20
	// bodyPatience is how long a request waits for room.
	bodyPatience = 10 * time.Second
)

// ErrBodies tells that there is no room for a body.
var ErrBodies = errors.New("the bodies of the tenant's requests that are under way are as many bytes as this server holds, or those of all tenants are: send fewer at the same time, and none slowly")

// Bodies counts the bodies that a process holds. One for which there is no room waits, and nothing is read of it meanwhile. It keeps what has one under way.
type Bodies struct {
	Tenant   int64 // the most of one tenant, in bytes
	Patience time.Duration

	all *semaphore.Weighted

	mu sync.Mutex // guards of, and the numbers in it
	of map[fleet.TenantID]*bodiesOf
}

type bodiesOf struct {
	room     *semaphore.Weighted
	requests int // that have room, or wait
}

// NewBodies has room for all.
func NewBodies() *Bodies {
	return &Bodies{Tenant: mostBodies / 8, Patience: bodyPatience, all: semaphore.NewWeighted(mostBodies), of: map[fleet.TenantID]*bodiesOf{}}
}

// Enter waits until there is room for so many bytes, or fails with ErrBodies, or as ctx does. waits is called before it waits. Who gets no error calls leave, once.
func (b *Bodies) Enter(ctx context.Context, id fleet.TenantID, size int64, waits func()) (leave func(), err error) {
	if size <= freeBody {
		return func() {}, nil
	}
	own := b.begin(id)
	if own.room.TryAcquire(size) {
		if b.all.TryAcquire(size) {
			return b.leave(id, own, size), nil
		}
		own.room.Release(size)
	}
	waits()
	within, cancel := context.WithTimeout(ctx, b.Patience)
	defer cancel()
	if err = own.room.Acquire(within, size); err == nil {
		if err = b.all.Acquire(within, size); err == nil {
			return b.leave(id, own, size), nil
		}
		own.room.Release(size)
	}
	b.end(id, own)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, ErrBodies
}

func (b *Bodies) leave(id fleet.TenantID, own *bodiesOf, size int64) func() {
	return func() {
		b.all.Release(size)
		own.room.Release(size)
		b.end(id, own)
	}
}

func (b *Bodies) begin(id fleet.TenantID) *bodiesOf {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.of[id]
	if own == nil {
		own = &bodiesOf{room: semaphore.NewWeighted(b.Tenant)}
		b.of[id] = own
	}
	own.requests++
	return own
}

func (b *Bodies) end(id fleet.TenantID, own *bodiesOf) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own.requests--; own.requests == 0 {
		delete(b.of, id)
	}
}

// Requests is how many of a tenant have room, or wait for it.
func (b *Bodies) Requests(id fleet.TenantID) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own := b.of[id]; own != nil {
		return own.requests
	}
	return 0
}
