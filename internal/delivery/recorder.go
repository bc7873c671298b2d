package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// Sink is where status goes. Every value is absolute, so that a report whose answer
// was lost can be given again.
type Sink interface {
	// Report writes one fleet's status in one transaction: a reader sees all of it or
	// none. It has some hundred rows at most, what is left is in the next one. Status.Settled may be lower than before, after a failover that lost commits.
	// It fails if the fleet's history does not have Status.At: what is said of revisions that are lost must not be taken for those that get their numbers.
	// Of a version and a revision the refusal of the highest offer counts. Resolved ends those of its version that are of its
	// offer or a lower one, and not of a later revision: whichever is told first. It fails if the lease is of another term than the status by now.
	Report(ctx context.Context, s fleet.Status) error
	// Lease says that the server is alive for ttl from now on. Where the last lease had ended
	// by then this one is of another term. The sink judges that: the clock here may have stood
	// still, on a machine that was suspended.
	Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (fleet.Term, error)
	// Release ends the lease at once.
	Release(ctx context.Context, id fleet.ServerID) error
}

// The rhythm of SEMANTICS 6.
const (
	leaseEvery = 2 * time.Second
	leaseTTL   = 6 * time.Second

	firstFlush  = 10 * time.Millisecond  // after a quiet time
	flushEvery  = 250 * time.Millisecond // while things go on
	gatherEvery = 50 * time.Millisecond  // while nodes come and go: they share reports
	lagAfter    = time.Second            // behind for longer: a row of its own
	holdMost    = 10 * time.Second       // the same, of nodes whose refusals are not told yet

	callTimeout = 5 * time.Second // of one call of the sink
	recordWait  = time.Second     // how long a refusal waits for its record
	retryFirst  = 250 * time.Millisecond
	retryMost   = 5 * time.Second
	flushAtOnce = 4 // fleets that are reported at the same time
)

// Config is what a Recorder needs. All but Logger and Metrics must be set.
type Config struct {
	Server fleet.ServerID // drawn anew for every process
	Name   string         // for people: the host's name
	Sink   Sink
	Logger *slog.Logger // nil: slog.Default()

	Metrics *metrics.Delivery // nil: nobody is told
	Traces  *traces.Tracer    // nil: no revision is traced
}

// Recorder records the status of the fleets that a server serves. Its methods are
// safe for concurrent use and never wait for the sink, Stream.Refused, Stream.Announce and
// Stream.Subscribes apart, which wait for a second at most.
type Recorder struct {
	cfg    Config
	log    *slog.Logger
	offset atomic.Int64 // what the database's clock is ahead of ours, in ns
	term   atomic.Int64 // of the lease
	down   atomic.Bool  // the last call of the sink failed
	// renewed is when the last renewal of the lease that was taken was begun, in ns; 0: none was.
	renewed atomic.Int64
	rows    int // most rows of a kind in one report

	kick chan struct{} // capacity 1: the queue has changed

	mu     sync.Mutex // guards what follows
	fleets map[fleet.Key]*fleetStatus
	queue  map[*fleetStatus]time.Time // when a fleet is due
	busy   map[*fleetStatus]struct{}  // fleets whose report is under way
}

// New checks the configuration and starts nothing. A missing part is fleet.ErrInvalid.
func New(cfg Config) (*Recorder, error) {
	if cfg.Sink == nil || cfg.Server == (fleet.ServerID{}) || cfg.Name == "" {
		return nil, fmt.Errorf("delivery recorder needs a sink, a server id and a name: %w", fleet.ErrInvalid)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard().Delivery
	}
	return &Recorder{
		cfg:    cfg,
		log:    cfg.Logger,
		rows:   reportRows,
		kick:   make(chan struct{}, 1),
		fleets: make(map[fleet.Key]*fleetStatus),
		queue:  make(map[*fleetStatus]time.Time),
		busy:   make(map[*fleetStatus]struct{}),
	}, nil
}

// SetClockOffset tells what has to be added to the local clock to get the database's.
// Times in reports are the database's (SEMANTICS 5.6).
func (r *Recorder) SetClockOffset(d time.Duration) { r.offset.Store(int64(d)) }

// dbTime is the database's clock at the local time t.
func (r *Recorder) dbTime(t time.Time) time.Time { return t.Add(time.Duration(r.offset.Load())) }

// Head says where the fleet is, before any node can be sent that; committedAt
// is the database's clock when it was made. Revisions that were passed over are taken
// as made at the same time.
func (r *Recorder) Head(key fleet.Key, at fleet.Position, committedAt time.Time) {
	f := r.lock(key)
	defer f.mu.Unlock()
	f.advance(at, committedAt, time.Now())
}

// Restart says that the fleet's history was cut and goes on there: after a failover
// that lost commits the same numbers mean other content. What nodes confirmed before
// counts no more.
func (r *Recorder) Restart(key fleet.Key, at fleet.Position, committedAt time.Time) {
	f := r.lock(key)
	defer f.mu.Unlock()
	f.restart(at, committedAt, time.Now())
}

// Refused says of nodes of the fleet, whether or not they have streams, that they refuse what
// they refused before. It does not wait for the sink.
func (r *Recorder) Refused(key fleet.Key, rs []fleet.Refusal) {
	if len(rs) == 0 {
		return
	}
	f := r.lock(key)
	defer f.mu.Unlock()
	now := time.Now()
	for _, x := range rs {
		f.outbox.refuse(plain(x.Node, maxNodeText), []fleet.Refusal{x}, f.rec.dbTime(now))
	}
	f.schedule(now)
}

// Resolved says that exceptions of nodes of the fleet have ended, whether or not the
// nodes have streams.
func (r *Recorder) Resolved(key fleet.Key, rs []fleet.Refusal) {
	if len(rs) == 0 {
		return
	}
	f := r.lock(key)
	defer f.mu.Unlock()
	f.outbox.resolve(rs)
	f.wake(time.Now())
}

// Forget lets go of a fleet that has no streams any more, as soon as all that is known
// of it is reported.
func (r *Recorder) Forget(key fleet.Key) {
	r.mu.Lock()
	f := r.fleets[key]
	r.mu.Unlock()
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget = true
	r.dropIfDone(f)
}

// dropIfDone removes a fleet that is to be forgotten and of which all is acked; its
// mutex is held.
func (r *Recorder) dropIfDone(f *fleetStatus) {
	if f.dropped || !f.forget || len(f.roster.levels) > 0 || f.unflushed() {
		return
	}
	f.dropped = true
	f.endJourneys(journeyStopped)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.fleets, f.key)
	delete(r.queue, f)
}

// lock returns the fleet's status with its mutex held, a new one if there is none.
func (r *Recorder) lock(key fleet.Key) *fleetStatus {
	for {
		r.mu.Lock()
		f := r.fleets[key]
		if f == nil {
			f = newFleetStatus(r, key)
			r.fleets[key] = f
		}
		r.mu.Unlock()
		f.mu.Lock()
		if !f.dropped {
			return f
		}
		f.mu.Unlock() // forgotten between the two locks: the next one is new
	}
}

func (r *Recorder) all() []*fleetStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	fs := make([]*fleetStatus, 0, len(r.fleets))
	for _, f := range r.fleets {
		fs = append(fs, f)
	}
	return fs
}

// enqueue makes b due at the given time, or earlier if it is already.
func (r *Recorder) enqueue(f *fleetStatus, at time.Time) {
	r.mu.Lock()
	old, ok := r.queue[f]
	if !ok || at.Before(old) {
		r.queue[f] = at
	}
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default: // it will look anyway
	}
}
