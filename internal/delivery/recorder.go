package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/internal/fleet"
)

// Sink is where status goes. Every value is absolute, so that a report whose answer
// was lost can be given again.
type Sink interface {
	// Report writes one fleet's status in one transaction: a reader sees all of it or
	// none. Status.Settled may be lower than before, after a failover that lost commits.
	// Refusals come before Resolved, which ends those of its version that are not of a
	// later revision.
	Report(ctx context.Context, s fleet.Status) error
	// Lease says that the server is alive for ttl from now on.
	Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) error
	// Release ends the lease at once.
	Release(ctx context.Context, id fleet.ServerID) error
}

// The rhythm of SEMANTICS 6.
const (
	leaseEvery = 2 * time.Second
	leaseTTL   = 6 * time.Second

	firstFlush = 10 * time.Millisecond  // after a quiet time
	flushEvery = 250 * time.Millisecond // while things go on
	lagAfter   = time.Second            // behind for longer: a row of its own

	callTimeout = 5 * time.Second // of one call of the sink
	recordWait  = time.Second     // how long a refusal waits for its record
	retryFirst  = 250 * time.Millisecond
	retryMost   = 5 * time.Second
	flushAtOnce = 4 // fleets that are reported at the same time
)

// Config is what a Recorder needs. All but Logger must be set.
type Config struct {
	Server fleet.ServerID // drawn anew for every process
	Name   string         // for people: the host's name
	Sink   Sink
	Logger *slog.Logger // nil: slog.Default()
}

// Recorder records the status of the fleets that a server serves. Its methods are
// safe for concurrent use and never wait for the sink, Stream.Refused apart.
type Recorder struct {
	cfg    Config
	log    *slog.Logger
	offset atomic.Int64 // what the database's clock is ahead of ours, in ns
	down   atomic.Bool  // the last call of the sink failed

	kick chan struct{} // capacity 1: the queue has changed

	mu    sync.Mutex // guards books, queue and busy
	books map[fleet.Key]*book
	queue map[*book]time.Time // when a book is due
	busy  map[*book]struct{}  // books whose report is under way
}

// New checks the configuration and starts nothing. A missing part is fleet.ErrInvalid.
func New(cfg Config) (*Recorder, error) {
	if cfg.Sink == nil || cfg.Server == (fleet.ServerID{}) || cfg.Name == "" {
		return nil, fmt.Errorf("delivery recorder needs a sink, a server id and a name: %w", fleet.ErrInvalid)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Recorder{
		cfg:   cfg,
		log:   cfg.Logger,
		kick:  make(chan struct{}, 1),
		books: make(map[fleet.Key]*book),
		queue: make(map[*book]time.Time),
		busy:  make(map[*book]struct{}),
	}, nil
}

// SetClockOffset tells what has to be added to the local clock to get the database's.
// Times in reports are the database's (SEMANTICS 5.6).
func (r *Recorder) SetClockOffset(d time.Duration) { r.offset.Store(int64(d)) }

// dbTime is the database's clock at the local time t.
func (r *Recorder) dbTime(t time.Time) time.Time { return t.Add(time.Duration(r.offset.Load())) }

// Head says which revision the fleet is at, before any node can be sent it; committedAt
// is the database's clock when it was made. Revisions that were passed over are taken
// as made at the same time.
func (r *Recorder) Head(key fleet.Key, rev fleet.Revision, committedAt time.Time) {
	b := r.lock(key)
	defer b.mu.Unlock()
	b.advance(rev, committedAt, time.Now())
}

// Restart says that the fleet's history was cut and goes on at rev: after a failover
// that lost commits the same numbers mean other content. What nodes confirmed before
// counts no more.
func (r *Recorder) Restart(key fleet.Key, rev fleet.Revision, committedAt time.Time) {
	b := r.lock(key)
	defer b.mu.Unlock()
	b.restart(rev, committedAt, time.Now())
}

// Resolved says that exceptions of nodes of the fleet have ended, whether or not the
// nodes have streams.
func (r *Recorder) Resolved(key fleet.Key, rs []fleet.Resolution) {
	if len(rs) == 0 {
		return
	}
	b := r.lock(key)
	defer b.mu.Unlock()
	b.resolve(rs)
	b.wake(time.Now())
}

// Forget lets go of a fleet that has no streams any more, as soon as all that is known
// of it is reported.
func (r *Recorder) Forget(key fleet.Key) {
	r.mu.Lock()
	b := r.books[key]
	r.mu.Unlock()
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget = true
	r.dropIfDone(b)
}

// dropIfDone removes a book that is to be forgotten and has nothing left to tell; its
// mutex is held.
func (r *Recorder) dropIfDone(b *book) {
	if b.dropped || !b.forget || b.live() > 0 || b.untold() {
		return
	}
	b.dropped = true
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.books, b.key)
	delete(r.queue, b)
}

// lock returns the fleet's book with its mutex held, a new one if there is none.
func (r *Recorder) lock(key fleet.Key) *book {
	for {
		r.mu.Lock()
		b := r.books[key]
		if b == nil {
			b = newBook(r, key)
			r.books[key] = b
		}
		r.mu.Unlock()
		b.mu.Lock()
		if !b.dropped {
			return b
		}
		b.mu.Unlock() // forgotten between the two locks: the next one is new
	}
}

func (r *Recorder) allBooks() []*book {
	r.mu.Lock()
	defer r.mu.Unlock()
	bs := make([]*book, 0, len(r.books))
	for _, b := range r.books {
		bs = append(bs, b)
	}
	return bs
}

// enqueue makes b due at the given time, or earlier if it is already.
func (r *Recorder) enqueue(b *book, at time.Time) {
	r.mu.Lock()
	old, ok := r.queue[b]
	if !ok || at.Before(old) {
		r.queue[b] = at
	}
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default: // it will look anyway
	}
}
