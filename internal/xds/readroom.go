package xds

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"fairlead/internal/fleet"
)

const (
	// freePoll is how long a poll is that is read without asking for room.
	freePoll = 4 << 10
	// mostRead is how many bytes polls up to smallPoll may have together while they are read. Those of one tenant have an eighth: who sends slowly has it for long.
	mostRead = 128 << 20
)

// readRoom counts what polls hold that are read. One for which there is no room waits, and nothing is read of it meanwhile: all the proxies of a fleet may come at once.
type readRoom struct {
	all  *semaphore.Weighted
	each int64 // what one tenant may have

	mu sync.Mutex // guards of
	of map[fleet.TenantID]*ownRoom
}

// ownRoom is a tenant's.
type ownRoom struct {
	room  *semaphore.Weighted
	users int // guarded by readRoom.mu
}

func newReadRoom() *readRoom { return newRoom(mostRead, mostRead/8) }

func newRoom(most, each int64) *readRoom {
	return &readRoom{all: semaphore.NewWeighted(most), each: each, of: map[fleet.TenantID]*ownRoom{}}
}

// take waits until there is room, or ctx ends. Who gets no error calls give, once.
func (r *readRoom) take(ctx context.Context, t fleet.TenantID, size int64) (give func(), err error) {
	own := r.join(t)
	if err := own.room.Acquire(ctx, size); err != nil {
		r.part(t, own)
		return nil, errPollsHeld
	}
	if err := r.all.Acquire(ctx, size); err != nil {
		own.room.Release(size)
		r.part(t, own)
		return nil, errPollsHeld
	}
	return func() {
		r.all.Release(size)
		own.room.Release(size)
		r.part(t, own)
	}, nil
}

func (r *readRoom) join(t fleet.TenantID) *ownRoom {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.of[t]
	if own == nil {
		own = &ownRoom{room: semaphore.NewWeighted(r.each)}
		r.of[t] = own
	}
	own.users++
	return own
}

func (r *readRoom) part(t fleet.TenantID, own *ownRoom) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(r.of, t)
	}
}
