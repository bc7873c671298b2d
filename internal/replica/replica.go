package replica

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// Feed is what a replica needs of the database.
type Feed interface {
	// CatchUp says how to come from what is known to the present, for the fleets that
	// moved. For the zero position that is everything, or Gone.
	CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error)
	// Moved names the fleets whose present position is another one, deleted ones too.
	Moved(ctx context.Context, known []fleet.Known) ([]fleet.Key, error)
	// FindNodeCredential looks in all fleets; fleet.ErrNotFound if there is none.
	FindNodeCredential(ctx context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error)
	// LastStreams tells what nodes of one fleet left behind, in their order: of the first one
	// at least, of all unless that is too much at once. A node that the fleet has not seen is
	// no error.
	LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error)
	// ResourcesAt tells how what changed after a revision was at it; what there was not then is
	// deleted. fleet.ErrNotFound or fleet.ErrLimit if that is not known any more.
	ResourcesAt(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error)
	// ChangesUpTo tells what each of the newest revisions up to one changed, in any order, so many of them at most; the oldest may not be told whole.
	ChangesUpTo(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error)
}

// Opener opens sealed bodies of Secrets.
type Opener interface {
	Open(key fleet.Key, name, version string, sealed []byte) ([]byte, error)
}

// The rhythm, and what is asked of the database at the same time.
const (
	defaultPoll = 2 * time.Second
	defaultIdle = 10 * time.Minute

	attachWait  = 5 * time.Second  // for a fleet's first load, besides the time that others take
	findTimeout = 5 * time.Second  // for a credential
	callTimeout = 15 * time.Second // for a catch-up
	findsAtOnce = 2                // credentials that no held fleet has; one more from addresses in doubt
	stormFrom   = 8                // fleets that moved in one poll: the others are spread
	stormSpread = 2 * time.Second
	retryFirst  = 100 * time.Millisecond
	retryMost   = 5 * time.Second
	// staleAfter is how long credentials are believed that nobody could confirm.
	staleAfter = 24 * time.Hour
)

// Config is what a Replica needs.
type Config struct {
	Feed     Feed
	Opener   Opener
	Recorder *delivery.Recorder
	Poll     time.Duration // between two looks at all heads, give or take a fifth; 0: 2 s
	// IdleAfter is how long a fleet is kept without streams; 0: 10 minutes.
	IdleAfter time.Duration
	// StreamsPerCredential, StreamsPerTenant and Streams, of the whole process, are how
	// many streams may live or wait to begin at the same time; 0: 20,000, and half of the
	// process's for one tenant and for one credential, so that nobody shuts the others out.
	// A port that asks for no credential has none of its own to count.
	StreamsPerCredential, StreamsPerTenant, Streams int

	// NewNodes is how many node ids that its fleet has never seen a credential may bring at
	// once; 0: 20,000, as many as a server has streams. One more may come each 100 ms.
	NewNodes int

	// Moving tells whether another database has the tenant that this one knows the credential of, or is about to; nil: none can.
	Moving func(context.Context, fleet.CredentialID) (bool, error)
	// Elsewhere is of a server of one database: why a token with this hash, which the database does not know, is not refused, as of a tenant that has moved, ErrHere where
	// that has come since, else nil. nil: nobody tells, or there are several databases, and who asks all of them tells it.
	Elsewhere func(ctx context.Context, id fleet.CredentialID, sent [32]byte) (why, err error)
	// Counts are of the streams of all databases; nil: of this Replica's alone.
	Counts *StreamCounts

	Logger  *slog.Logger  // nil: slog.Default()
	Metrics *metrics.Held // nil: nobody is told

	Traces *traces.Tracer // nil: no revision is traced
}

// Replica serves fleets: it is the xds.Authenticator and the xds.Source of a server.
// Its methods are safe for concurrent use.
type Replica struct {
	cfg    Config
	log    *slog.Logger
	ready  atomic.Bool
	away   atomic.Bool // the database did not answer the last poll
	clock  clock
	pollNo chan struct{} // capacity 1: poll now
	// The ways to the database: first loads of fleets, readings of those that are held, and
	// what is asked about nodes.
	loads, reads, lastStreams *lane

	streams *StreamCounts
	served  atomic.Int64 // streams of this Replica, of those
	gone    goneFleets
	lookups *auth.Lookups // of node tokens
	finds   finds

	turnedAway *deniedClients
	uses       *credentialUses

	mu     sync.Mutex // guards all below, and the users of every owner; taken after an owner's
	start  func(*owner)
	fleets map[fleet.Key]*owner
	byID   map[fleet.ID][]*owner
	creds  map[fleet.CredentialID]*owner // of loaded fleets
}

// New checks the configuration and starts nothing. A missing part is fleet.ErrInvalid.
func New(cfg Config) (*Replica, error) {
	if cfg.Feed == nil || cfg.Opener == nil || cfg.Recorder == nil {
		return nil, fmt.Errorf("replica needs a feed, an opener and a recorder: %w", fleet.ErrInvalid)
	}
	if cfg.Poll <= 0 {
		cfg.Poll = defaultPoll
	}
	if cfg.IdleAfter <= 0 {
		cfg.IdleAfter = defaultIdle
	}
	if cfg.NewNodes <= 0 {
		cfg.NewNodes = defaultNewNodes
	}
	if cfg.Counts == nil {
		cfg.Counts = NewStreamCounts(cfg.Streams, cfg.StreamsPerTenant, cfg.StreamsPerCredential)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = metrics.Discard().Held
	}
	slow := newSlowLane()
	return &Replica{
		cfg:         cfg,
		streams:     cfg.Counts,
		log:         cfg.Logger,
		pollNo:      make(chan struct{}, 1),
		loads:       newLane(slow),
		reads:       newLane(slow),
		lookups:     auth.NewLookups(findsAtOnce, 1),
		turnedAway:  newDeniedClients(),
		uses:        newCredentialUses(),
		lastStreams: newLane(slow),
		fleets:      make(map[fleet.Key]*owner),
		byID:        make(map[fleet.ID][]*owner),
		creds:       make(map[fleet.CredentialID]*owner),
	}, nil
}

// Run reads what changes until ctx ends; then it returns nil, and streams keep what
// they have. Before Run, and after it, no fleet can be loaded. It is called once.
func (r *Replica) Run(ctx context.Context) error {
	var owners sync.WaitGroup
	r.setStart(func(o *owner) { owners.Go(func() { o.run(ctx) }) })
	_ = lifecycle.PersistThrough(ctx, r.log, "the poll of the heads", func(ctx context.Context) error {
		r.pollHeads(ctx)
		return nil
	})
	r.setStart(nil)
	owners.Wait()
	return nil
}

func (r *Replica) setStart(f func(*owner)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.start = f
}

// Ready reports whether the heads were read once since the start. It stays true when
// the database goes away: what is held is served on.
func (r *Replica) Ready() bool { return r.ready.Load() }

// Answers reports whether the database has answered the last poll.
func (r *Replica) Answers() bool { return r.Ready() && !r.away.Load() }

// Wake says that the fleet may have changed, or that any may have. It never blocks.
func (r *Replica) Wake(f fleet.ID, all bool) {
	if all {
		signal(r.pollNo)
		return
	}
	r.gone.forget(f)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.byID[f] {
		o.ring(byNotify)
	}
}

// signal sends without blocking: whoever gets it looks at everything.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // already marked
	}
}

// use returns the fleet's owner, a new one if there is none, and counts the caller as
// a user until leave.
func (r *Replica) use(key fleet.Key) (*owner, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.fleets[key]
	if o == nil {
		if r.gone.has(key) {
			return nil, errGone
		}
		if r.start == nil {
			return nil, fmt.Errorf("this server is starting or stopping: try again: %w", fleet.ErrUnavailable)
		}
		o = newOwner(r, key)
		r.fleets[key] = o
		r.byID[key.Fleet] = append(r.byID[key.Fleet], o)
		r.start(o)
	}
	o.users++
	return o, nil
}

func (r *Replica) leave(o *owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.users--
	o.idleSince = time.Now()
}

// dropIfIdle removes a fleet that has had no users for long enough; else it says how
// long to wait before asking again.
func (r *Replica) dropIfIdle(o *owner) (dropped bool, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.users > 0 {
		return false, r.cfg.IdleAfter
	}
	if idle := time.Since(o.idleSince); idle < r.cfg.IdleAfter {
		return false, r.cfg.IdleAfter - idle
	}
	r.dropLocked(o)
	return true, 0
}

func (r *Replica) drop(o *owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLocked(o)
}

func (r *Replica) dropLocked(o *owner) {
	if r.fleets[o.key] != o {
		return
	}
	delete(r.fleets, o.key)
	if rest := slices.DeleteFunc(r.byID[o.key.Fleet], func(x *owner) bool { return x == o }); len(rest) > 0 {
		r.byID[o.key.Fleet] = rest
	} else {
		delete(r.byID, o.key.Fleet)
	}
	r.unindexLocked(o, o.indexed)
	r.cfg.Recorder.Forget(o.key) // with the lock: a new owner of the fleet comes after it
}

// index makes the fleet's credentials findable, in the place of its old ones.
func (r *Replica) index(o *owner, old, new map[fleet.CredentialID]fleet.Credential) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unindexLocked(o, old)
	for id := range new {
		r.creds[id] = o
	}
}

func (r *Replica) unindexLocked(o *owner, creds map[fleet.CredentialID]fleet.Credential) {
	for id := range creds {
		if r.creds[id] == o {
			delete(r.creds, id)
		}
	}
}
